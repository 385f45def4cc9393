/** Every HTTP error of the program: code, status, title. Sent as problem+json (RFC 9457). */
export const errorTable = {
  malformed: { status: 400, title: 'The request is malformed' },
  unauthenticated: { status: 401, title: 'Sign in to continue' },
  'invalid-token': { status: 401, title: 'The token is not valid' },
  forbidden: { status: 403, title: 'Not allowed' },
  'session-required': { status: 403, title: 'API tokens are not accepted here' },
  'reauthentication-required': { status: 403, title: 'Confirm your identity' },
  'cross-origin': { status: 403, title: 'Requests from other sites are not accepted' },
  'prefetch-refused': { status: 403, title: 'Sign-in cannot be prefetched' },
  'sign-in-refused': { status: 400, title: 'The sign-in was refused' },
  'logout-refused': { status: 400, title: 'The logout was refused' },
  'not-found': { status: 404, title: 'Not found' },
  'last-sign-in-method': { status: 409, title: 'Cannot remove your only sign-in method' },
  'last-admin': { status: 409, title: 'Cannot remove the last admin' },
  'confirmation-mismatch': { status: 409, title: 'The confirmation does not match' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  conflict: { status: 409, title: 'Conflict with the current state' },
  'quota-exceeded': { status: 409, title: 'The storage of your tenant is full' },
  'too-large': { status: 413, title: 'The request body is too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof errorTable

/** The `type` of a problem (RFC 9457). */
export function problemType(code: ErrorCode): string {
  return `urn:gatehouse:problem:${code}`
}

/** Why a sign-in at a provider failed, and what it was for. The error page explains both. */
export type SignInFailure = {
  purpose: 'sign-in' | 'link' | 'reauthenticate'
  reason: string
  /** Path that another try returns to; null for the configured one. */
  returnTo?: string | null
}

/** How a person goes on whose form was refused because they have to sign in first. */
export type Resumption = {
  /** Path of the page with the form. */
  returnTo: string
  /** The page will show what they typed. */
  isTextKept: boolean
}

type ProblemOptions = {
  detail?: string
  retryAfterSeconds?: number
  reason?: string
  signIn?: SignInFailure
  resumption?: Resumption
}

/** An HTTP error by its code. `detail` is sent to the caller, so it must hold nothing confidential. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined
  readonly retryAfterSeconds: number | undefined
  /** Which rate limit or policy rule refused the request; a metric label, so one of a few words. */
  readonly reason: string
  readonly signIn: SignInFailure | undefined
  readonly resumption: Resumption | undefined

  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    super(options.detail ?? errorTable[code].title)
    this.name = 'Problem'
    this.code = code
    this.detail = options.detail
    this.retryAfterSeconds = options.retryAfterSeconds
    this.reason = options.reason ?? ''
    this.signIn = options.signIn
    this.resumption = options.resumption
  }
}
