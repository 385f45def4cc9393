export type SendRequest = {
  /** Whose share of an address and a host it uses; null for the operator, who has all of it. */
  tenantId: string | null
  /** As stored. Parsed and checked again at each attempt. */
  url: string
  headers: Readonly<Record<string, string>>
  /** The exact bytes, as text. */
  body: string
  /** Sends the second half of the body so much later, as a slow connection does. */
  pauseMs?: number
}

export type SendResult = {
  /** Status of the final response; null if there was none. */
  statusCode: number | null
  /** The first 2 KiB of the response as text without NUL; null if there was none. */
  responseExcerpt: string | null
  startedAt: Date
  durationMs: number
  /** As the `Retry-After` of the response says; null without a valid one. */
  retryAfterSeconds: number | null
  /** For the customer; null if a complete response arrived, whatever its status. */
  error: string | null
  /** For the operator: a stable code, `: ` and detail; null if `error` is null. */
  cause: string | null
  /** Expiry of the receiver's certificate in the latest handshake; null without TLS. */
  certificateExpiresAt: Date | null
}

/** Makes requests to customers' URLs; `createSender` (client.ts), in workers only. */
export type Sender = {
  /**
   * Makes one attempt. Success is a status of 200 to 299 and no error.
   * @throws PostponedError, and nothing else, if the attempt has to be made later
   */
  send(request: SendRequest): Promise<SendResult>
  /** Fails the attempts in progress, so wait for them first. */
  close(): Promise<void>
}

/** Headers of every attempt besides id, timestamp and signature. */
export const ownHeaders = {
  'content-type': 'application/json',
  'user-agent': 'Gatehouse-Webhooks',
  'accept-encoding': 'identity', // A response that is compressed anyway is stored as it is.
}

/** Success is a complete response with a 2xx status. */
export function succeeded({
  statusCode,
  error,
}: Pick<SendResult, 'statusCode' | 'error'>): boolean {
  return error === null && statusCode !== null && statusCode >= 200 && statusCode < 300
}
