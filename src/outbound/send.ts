import type { Clock } from '#src/clock.ts'

export type SendRequest = {
  /** As kept; read and judged again at each attempt. */
  url: string
  headers: Readonly<Record<string, string>>
  /** The exact bytes, as text. */
  body: string
}

export type SendResult = {
  /** Of the final answer; null when there was none. */
  statusCode: number | null
  /** The first 2 KiB of the answer as text without NUL; null when there was no answer. */
  responseExcerpt: string | null
  startedAt: Date
  durationMs: number
  /** In words for the customer; null when a whole answer came, whatever its status. */
  error: string | null
  /** A stable code, then `: ` and detail, for the operator; null with `error`. */
  cause: string | null
}

export type Sender = {
  /** One attempt. Never rejects. */
  send(request: SendRequest): Promise<SendResult>
  /** Ends idle connections at once and attempts under way with them. */
  close(): Promise<void>
}

export type SenderOptions = {
  /** Exact `host:port` pairs of `OUTBOUND_ALLOW`. */
  allow: readonly string[]
  /** From connect to last byte. */
  timeoutMs: number
  /** Every address of a name, IPv4 and IPv6; rejects when that cannot be found out. */
  resolve?: (name: string) => Promise<readonly string[]>
  clock?: Clock
}

/** The one client that calls customers' URLs. */
export function createSender(_options: SenderOptions): Sender {
  throw new Error('not yet')
}
