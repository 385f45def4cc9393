/** What is known of a failed attempt. */
export type FailedAttempt = {
  statusCode: number | null
  /** As `SendResult` has it. */
  cause: string | null
  startedAt: Date
  /** When the endpoint's secret was last rotated, and when an attempt last succeeded. */
  secretRotatedAt: Date | null
  lastSuccessAt: Date | null
}

/**
 * Why an attempt failed and what to do about it, in a sentence or two. What blocked, refused and
 * unreachable have in common is all a customer is told of them.
 */
export function explainFailure(_attempt: FailedAttempt, _reader: 'customer' | 'operator'): string {
  return 'The endpoint could not be reached.'
}
