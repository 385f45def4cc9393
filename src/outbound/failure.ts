/** Stable words for why an attempt brought no whole answer. */
export type CauseCode =
  | 'blocked'
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'tls-name'
  | 'tls-expired'
  | 'tls-self-signed'
  | 'tls-untrusted'
  | 'tls'
  | 'closed'
  | 'headers-too-large'
  | 'broken-answer'
  | 'stopped'
  | 'internal'

/** An attempt came to an end before a whole answer did. */
export class AttemptError extends Error {
  readonly code: CauseCode

  constructor(code: CauseCode, detail: string) {
    super(detail)
    this.name = 'AttemptError'
    this.code = code
  }
}

/** The one end of an attempt that has a number in it. */
export function lateError(timeoutMs: number, stage: string): AttemptError {
  return new AttemptError('timeout', `after ${(timeoutMs / 1_000).toFixed(1)} s, ${stage}`)
}

const maxDetail = 300
const controls = /\p{Cc}+/gu

const codes: Readonly<Record<string, CauseCode>> = {
  ECONNREFUSED: 'refused',
  EADDRNOTAVAIL: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'unreachable',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  UND_ERR_SOCKET: 'closed',
  UND_ERR_CLOSED: 'stopped',
  UND_ERR_DESTROYED: 'stopped',
  UND_ERR_HEADERS_OVERFLOW: 'headers-too-large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'broken-answer',
}

const tlsCodes: Readonly<Record<string, CauseCode>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls-name',
  CERT_HAS_EXPIRED: 'tls-expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls-self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls-untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls-untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls-untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls-untrusted',
}

/** What a socket or undici says of a failed exchange, in our words. */
export function attemptError(error: unknown): AttemptError {
  if (error instanceof AttemptError) return error
  const code = codeOf(error)
  const known = code.startsWith('HPE_') ? 'broken-answer' : codes[code]
  return new AttemptError(known ?? 'internal', detailOf(error, code))
}

/** The same of a failed handshake, where every fault not known better is one of TLS. */
export function handshakeError(error: unknown): AttemptError {
  if (error instanceof AttemptError) return error
  const code = codeOf(error)
  return new AttemptError(tlsCodes[code] ?? 'tls', detailOf(error, code))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Names in a certificate are the peer's words: kept short and on one line. */
function detailOf(error: unknown, code: string): string {
  const message = error instanceof Error && error.message !== '' ? error.message : 'no reason given'
  const detail = code === '' || message.includes(code) ? message : `${code} ${message}`
  return detail.replace(controls, ' ').slice(0, maxDetail)
}
