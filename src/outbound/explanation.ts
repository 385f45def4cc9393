import type { CauseCode } from './failure.ts'

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

/** Blocked, refused and unreachable are the same to a customer: it would map our network. */
const hidden = 'it could not be reached'

const customerWords: Readonly<Record<CauseCode, string>> = {
  blocked: hidden,
  dns: hidden,
  refused: hidden,
  unreachable: hidden,
  internal: hidden,
  timeout: 'it timed out',
  'tls-name': 'its certificate is for another name',
  'tls-expired': 'its certificate has expired',
  'tls-self-signed': 'its certificate is self-signed',
  'tls-untrusted': 'its certificate comes from nobody we trust, or an intermediate one is missing',
  tls: 'no TLS connection could be made',
  closed: 'the connection was closed before the answer was complete',
  'headers-too-large': 'the headers of the answer are too large',
  'broken-answer': 'the answer is not valid HTTP',
  stopped: 'the attempt was interrupted',
}

/** What a customer is told of a cause, in a few words. */
export function customerError(code: CauseCode, detail: string): string {
  const words = customerWords[code]
  return code === 'timeout' ? `${words} ${detail}` : words
}

/**
 * Why an attempt failed and what to do about it, in a sentence or two. What blocked, refused and
 * unreachable have in common is all a customer is told of them.
 */
export function explainFailure(_attempt: FailedAttempt, _reader: 'customer' | 'operator'): string {
  return 'The endpoint could not be reached.'
}
