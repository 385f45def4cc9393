import type { Postponement } from '#src/observability/metrics.ts'

/**
 * Stable codes for why an attempt had no complete response. `stopped` and `internal` are in attempts
 * that earlier releases recorded; today these throw a `PostponedError`.
 */
export type CauseCode =
  | 'blocked'
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'tls-name'
  | 'tls-expired'
  | 'tls-not-yet-valid'
  | 'tls-self-signed'
  | 'tls-untrusted'
  | 'tls'
  | 'closed'
  | 'headers-too-large'
  | 'broken-answer'
  | 'stopped'
  | 'internal'

/** An attempt ended without a complete response. */
export class AttemptError extends Error {
  readonly code: CauseCode

  constructor(code: CauseCode, detail: string) {
    super(detail)
    this.name = 'AttemptError'
    this.code = code
  }
}

/**
 * No attempt was made, or its outcome says nothing about the endpoint. Nothing may be recorded: the
 * attempt is made later.
 */
export class PostponedError extends Error {
  readonly reason: Postponement

  constructor(reason: Postponement, detail: string) {
    super(detail)
    this.name = 'PostponedError'
    this.reason = reason
  }
}

export function timeoutError(timeoutMs: number, stage: string): AttemptError {
  return new AttemptError('timeout', `after ${(timeoutMs / 1_000).toFixed(1)} s, ${stage}`)
}

const maxDetail = 300
const controls = /\p{Cc}+/gu

const codes: Readonly<Record<string, CauseCode>> = {
  ECONNREFUSED: 'refused',
  EACCES: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EAFNOSUPPORT: 'unreachable',
  EPERM: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'unreachable',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  UND_ERR_SOCKET: 'closed',
  UND_ERR_HEADERS_OVERFLOW: 'headers-too-large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'broken-answer',
  HTTPParserError: 'broken-answer',
  ERR_ASSERTION: 'broken-answer', // undici's parser asserts on some malformed responses
}

const ownCodes: Readonly<Record<string, Postponement>> = {
  EMFILE: 'resources',
  ENFILE: 'resources',
  ENOBUFS: 'resources',
  ENOMEM: 'resources',
  UND_ERR_CLOSED: 'stopped',
  UND_ERR_DESTROYED: 'stopped',
}

const tlsCodes: Readonly<Record<string, CauseCode>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls-name',
  CERT_HAS_EXPIRED: 'tls-expired',
  CERT_NOT_YET_VALID: 'tls-not-yet-valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls-self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls-untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls-untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls-untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls-untrusted',
}

/**
 * Translates an error of a socket or of undici.
 * @param unknown the code of an error that is not known; by default the fault is ours
 */
export function attemptError(error: unknown, unknown?: CauseCode): AttemptError | PostponedError {
  if (error instanceof AttemptError || error instanceof PostponedError) return error
  const code = codeOf(error)
  const detail = detailOf(error, code)
  const own = ownCodes[code]
  if (own !== undefined) return new PostponedError(own, detail)
  const known = codes[code] ?? unknown
  if (known === undefined) return new PostponedError('internal', detail)
  return new AttemptError(known, detail)
}

/** Translates an error of DNS: it is about the name, unless we cannot ask any name server. */
export function lookupError(error: unknown): AttemptError | PostponedError {
  const code = codeOf(error)
  const detail = error instanceof Error ? error.message : String(error)
  const own = code === 'ECONNREFUSED' ? 'name-servers' : ownCodes[code]
  return own === undefined ? new AttemptError('dns', detail) : new PostponedError(own, detail)
}

/** Translates an error of a TLS handshake. An unknown one is `tls`. */
export function handshakeError(error: unknown): AttemptError {
  const code = codeOf(error)
  return new AttemptError(tlsCodes[code] ?? 'tls', detailOf(error, code))
}

/** Errors of undici's parser have a name but no code. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** The message may contain text of the peer, such as names in its certificate: short, one line. */
function detailOf(error: unknown, code: string): string {
  // OpenSSL's message is a line of its source code, and an AggregateError has an empty message.
  const isOpaque = code.startsWith('ERR_SSL_') || !(error instanceof Error) || error.message === ''
  const detail = isOpaque ? code : error.message
  return detail.replace(controls, ' ').slice(0, maxDetail)
}
