/** Every refusal the program answers as problem+json: code, status, title. */
export const errorTable = {
  malformed: { status: 400, title: 'The request is malformed' },
  unauthenticated: { status: 401, title: 'Sign in first' },
  'invalid-token': { status: 401, title: 'The token is not valid' },
  forbidden: { status: 403, title: 'Not allowed' },
  'session-required': { status: 403, title: 'Tokens are not accepted here' },
  'reauthentication-required': { status: 403, title: 'Confirm that it is you' },
  'cross-origin': { status: 403, title: 'Requests from other sites are not accepted' },
  'prefetch-refused': { status: 403, title: 'Sign-in is not prefetched' },
  'sign-in-refused': { status: 400, title: 'The sign-in was refused' },
  'logout-refused': { status: 400, title: 'The logout was refused' },
  'not-found': { status: 404, title: 'Not found' },
  'last-sign-in-method': { status: 409, title: 'This is your only way to sign in' },
  'last-admin': { status: 409, title: 'A tenant keeps an admin' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  conflict: { status: 409, title: 'Not possible as things stand' },
  'too-large': { status: 413, title: 'The body is too large' },
  'unsupported-media-type': { status: 415, title: 'This media type is not accepted' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof errorTable

/** What somebody was at the provider for, and why it came to nothing: chooses the words of a page. */
export type SignInFailure = { purpose: 'sign-in' | 'link' | 'reauthenticate'; reason: string }

type RefusalOptions = {
  detail?: string
  retryAfterSeconds?: number
  reason?: string
  signIn?: SignInFailure
}

/** A refusal by its code; `detail` is shown to the caller, so it says nothing that is not theirs. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined
  readonly retryAfterSeconds: number | undefined
  /** For whoever runs the service, one of a few words: which limit it was, which rule. */
  readonly reason: string
  readonly signIn: SignInFailure | undefined

  constructor(code: ErrorCode, options: RefusalOptions = {}) {
    super(options.detail ?? errorTable[code].title)
    this.name = 'Problem'
    this.code = code
    this.detail = options.detail
    this.retryAfterSeconds = options.retryAfterSeconds
    this.reason = options.reason ?? ''
    this.signIn = options.signIn
  }
}

// Classes 08 (connection), 53 (resources) and 57 (operator intervention) of PostgreSQL, the codes
// of Node's sockets, and Prisma's own words for them.
const unavailableSqlState = /^(08|53|57)[0-9A-Z]{3}$/
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  '55P03', // lock timeout
  '25P03', // idle in transaction
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
  'P2037',
])
const unavailableMessages = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error',
  // Prisma has codes for these, except where the query was written by hand (P2010).
  'Server has closed the connection',
  "Can't reach database server",
  'Too many database connections opened',
  'Operation has timed out',
]

// An error may name itself as its cause.
const deepestCause = 8

/** Whether the database, not the request, is what failed: worth a 503 and another try. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof Error && hasUnavailableCause(error, deepestCause)
}

/** Prisma keeps what PostgreSQL said in the causes: `cause`, or `meta.driverAdapterError`. */
function hasUnavailableCause(error: unknown, depth: number): boolean {
  if (depth === 0 || typeof error !== 'object' || error === null) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (unavailableCodes.has(code) || unavailableSqlState.test(code)) return true
  const text = 'message' in error && typeof error.message === 'string' ? error.message : ''
  if (unavailableMessages.some((message) => text.includes(message))) return true
  const meta = 'meta' in error ? error.meta : null
  const reported = typeof meta === 'object' && meta !== null && 'driverAdapterError' in meta
  return (
    ('cause' in error && hasUnavailableCause(error.cause, depth - 1)) ||
    (reported && hasUnavailableCause(meta.driverAdapterError, depth - 1))
  )
}
