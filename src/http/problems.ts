type ErrorEntry = {
  status: number
  title: string
  /** What the error says about the request. */
  meaning: string
  /** Why it happens. */
  cause: string
  /** What to do about it. */
  remedy: string
}

/**
 * Every HTTP error of the program. Status and title are sent as problem+json (RFC 9457); the other
 * texts are shown at `/docs/errors/CODE`. Code spans are in backticks.
 */
export const errorTable = {
  malformed: {
    status: 400,
    title: 'The request is malformed',
    meaning:
      'A part of the request is missing or has a value that is not accepted. Nothing was changed.',
    cause:
      'A field, path parameter or query parameter breaks the rule of its schema, the body is not JSON, or a cursor belongs to another list.',
    remedy: 'Correct what `errors` and `detail` name, then send the request again.',
  },
  unauthenticated: {
    status: 401,
    title: 'Sign in to continue',
    meaning: 'The request has no session, or its session has ended.',
    cause: 'There is no cookie and no token, or the session was ended, expired or replaced.',
    remedy: 'Sign in, or send an API token as `Authorization: Bearer gth_…`.',
  },
  'invalid-token': {
    status: 401,
    title: 'The token is not valid',
    meaning: 'The API token of the request is not accepted.',
    cause:
      'It has expired, was revoked or rotated, belongs to a membership or tenant that has ended, or is not one of ours.',
    remedy:
      'Create a new token on the account page. For a service token, ask an admin of the tenant.',
  },
  'portal-session-ended': {
    status: 401,
    title: 'This page has been closed',
    meaning: 'There is no session of the portal, or it has ended.',
    cause:
      'A session of the portal ends an hour after its link was opened, or when the app or the tenant ends it. A link works once, within five minutes. Or the browser does not accept the cookie of the portal.',
    remedy: 'Open the portal again from the app, which makes a new link.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    meaning: 'You are known, but you may not do this.',
    cause:
      'Your role lacks the permission, the token is limited to other permissions, a service token was not given it, or a rule such as office hours forbids it.',
    remedy:
      'Ask an admin of the tenant for the permission. The page Permissions shows what each role may do.',
  },
  'session-required': {
    status: 403,
    title: 'API tokens are not accepted here',
    meaning: 'This needs a person who has signed in.',
    cause: 'The request came with an API token.',
    remedy: 'Sign in with a browser and send the session cookie.',
  },
  'person-required': {
    status: 403,
    title: 'Service tokens are not accepted here',
    meaning: 'This is for people: a service token cannot do it, whatever its permissions are.',
    cause:
      'The request came with a service token, and concerns what belongs to a person, such as accounts, members and what a person owns, or is a page.',
    remedy: 'Use a session, or an API token of a member.',
  },
  'plan-required': {
    status: 403,
    title: 'You need another plan',
    meaning: 'Your role allows this, and your plan does not.',
    cause:
      'You have no plan, another one, or it has ended. `detail` names the plans that allow it, and the feature that they have.',
    remedy:
      'Open `/app/account#plan` to see your plan and to get another one, then send the request again. It takes effect when the payment has arrived.',
  },
  'limit-reached': {
    status: 403,
    title: 'Your plan has no room for more',
    meaning: 'Nothing was created: there are as many as your plan is for.',
    cause:
      'Your plan has a limit for what you create. `detail` names it, and the plans that are for more. What is stored stays, also after a change to a smaller plan.',
    remedy:
      'Delete some, or open `/app/account#plan` to get another plan, then send the request again. `GET /me` shows what is used.',
  },
  'reauthentication-required': {
    status: 403,
    title: 'Confirm your identity',
    meaning: 'This needs a sign-in of the last five minutes.',
    cause: 'The last sign-in, or the last confirmation of it, is older.',
    remedy: 'Open `/auth/login?reauthenticate=true`, then send the request again.',
  },
  'cross-origin': {
    status: 403,
    title: 'Requests from other sites are not accepted',
    meaning: 'The request came with a cookie from a page of another site.',
    cause: '`Sec-Fetch-Site` or `Origin` names another site.',
    remedy:
      'Send the request from our own pages or from an origin in `APP_ORIGINS`, or use an API token instead of the cookie, from an origin in `CORS_ORIGINS`.',
  },
  'prefetch-refused': {
    status: 403,
    title: 'Sign-in cannot be prefetched',
    meaning: 'The browser tried to load a sign-in page in advance.',
    cause: 'The request has `Sec-Purpose: prefetch`.',
    remedy: 'Open the page.',
  },
  'sign-in-refused': {
    status: 400,
    title: 'The sign-in was refused',
    meaning: 'The identity provider’s response was not accepted. Nothing was changed.',
    cause: 'The sign-in was cancelled, took too long, or its response failed a check.',
    remedy: 'Sign in again. If it keeps failing, contact support with the request ID.',
  },
  'logout-refused': {
    status: 400,
    title: 'The logout was refused',
    meaning: 'No session was ended.',
    cause: 'The logout token of the provider failed a check.',
    remedy:
      'For operators: look at the reason in the audit log and at the configuration of the provider.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    meaning:
      'There is no such path or object, or you have no access to it. The response is the same in all cases.',
    cause:
      'The id is wrong, the object was deleted, it belongs to another user or tenant, or the path does not exist.',
    remedy: 'Check the path, the id and your active tenant.',
  },
  'last-sign-in-method': {
    status: 409,
    title: 'Cannot remove your only sign-in method',
    meaning: 'An account keeps at least one way to sign in.',
    cause: 'The identity is the only one of the account.',
    remedy: 'Add another sign-in method first.',
  },
  'last-admin': {
    status: 409,
    title: 'Cannot remove the last admin',
    meaning: 'A tenant with members keeps at least one admin.',
    cause: 'The change would leave the tenant without an admin.',
    remedy: 'Make another member an admin first, or delete the tenant.',
  },
  'too-many-tenants': {
    status: 409,
    title: 'Too many tenants',
    meaning: 'A person is a member of a hundred tenants at most when they create another.',
    cause: 'You are a member of a hundred tenants or more.',
    remedy: 'Leave or delete one first.',
  },
  'confirmation-mismatch': {
    status: 409,
    title: 'The confirmation does not match',
    meaning: 'Nothing was deleted.',
    cause: 'The text sent to confirm a deletion is not exactly the name.',
    remedy: 'Send the name exactly as it is shown.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists, but not for this method.',
    cause: 'The method is not one of those in the `Allow` header.',
    remedy: 'Use a method that `Allow` lists.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The Idempotency-Key belongs to another request',
    meaning: 'Nothing was done.',
    cause:
      'Within the last 24 hours you sent the same key with another path, another body, or in another tenant.',
    remedy: 'Send a new key with each new request, and the same key only with the same request.',
  },
  'precondition-failed': {
    status: 412,
    title: 'The object has changed',
    meaning: 'Nothing was changed.',
    cause:
      'Somebody has changed the object since you read it, so its ETag is not the one in `If-Match`.',
    remedy: 'Read the object again, and decide whether your change still makes sense.',
  },
  conflict: {
    status: 409,
    title: 'Conflict with the current state',
    meaning:
      'The request is well-formed, but the present state does not allow it. Nothing was changed.',
    cause:
      '`detail` names the state, such as a limit that is reached or an object that exists already.',
    remedy: 'Read the object again, then decide whether the request still makes sense.',
  },
  'already-exists': {
    status: 409,
    title: 'There is one with these values already',
    meaning: 'Nothing was changed. `errors` names the fields.',
    cause: 'These values may occur once, in your tenant or among what is your own.',
    remedy: 'Send other values, or change the one that has them.',
  },
  'quota-exceeded': {
    status: 409,
    title: 'The storage of your tenant is full',
    meaning: 'Nothing was stored.',
    cause: 'The tenant stores as many rows or bytes as it may.',
    remedy:
      'Delete what is no longer needed, or ask the operator for a higher limit. `GET /usage` shows what is stored.',
  },
  'too-large': {
    status: 413,
    title: 'The request body is too large',
    meaning: 'The body was not read to its end.',
    cause: 'It has more bytes than the limit of the path.',
    remedy: 'Send less data in one request.',
  },
  'uri-too-long': {
    status: 414,
    title: 'The path is too long',
    meaning: 'The request was not read.',
    cause: 'A part of the path between two slashes has more than 3,060 characters.',
    remedy: 'Check the id in the path.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The body was not read.',
    cause: 'Its `Content-Type` is missing or is not one that the path accepts.',
    remedy: 'Send JSON with `Content-Type: application/json`.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    meaning: 'The request was not processed.',
    cause:
      'More requests were sent than the limit allows (`RateLimit-Policy` names the limit, `RateLimit` what is left of it), or a share of your tenant, app token or person is in use: a tenant has two thirds of the connections to the database, beyond which its requests wait for up to five seconds, and a session or token has one list at a time. `detail` names the limit.',
    remedy: 'Wait as many seconds as `Retry-After` says, then send the request again.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong',
    meaning: 'The error is on our side and has been logged.',
    cause: 'A fault of the program.',
    remedy: 'Try again. If it keeps happening, contact support with the request ID in `instance`.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    meaning: 'The request was not processed.',
    cause:
      'A service that it needs, such as the database or the identity provider, does not respond, or the program is overloaded or stopping.',
    remedy: 'Wait as many seconds as `Retry-After` says, then send the request again.',
  },
} as const satisfies Record<string, ErrorEntry>

/** What a problem is called; each code has a status and its words on the page `/docs/errors`. */
export type ErrorCode = keyof typeof errorTable

/** Every code but that of a refusal by a limit, which needs a detail. */
export type PlainErrorCode = Exclude<ErrorCode, 'too-many-requests'>

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code)
}

export const errorCodes: readonly ErrorCode[] = Object.keys(errorTable).filter(isErrorCode)

/**
 * The `type` of a problem (RFC 9457): the path of the page that explains it. It is the same in every
 * installation, so clients can compare it.
 */
export function problemType<Code extends ErrorCode>(code: Code): `/docs/errors/${Code}` {
  return `/docs/errors/${code}`
}

/** Why a sign-in at a provider failed, and what it was for. The error page explains both. */
export type SignInFailure = {
  purpose: 'sign-in' | 'link' | 'reauthenticate'
  reason: string
  /** Path that another try returns to; null for the configured one. */
  returnTo?: string | null
}

/** How a person goes on whose form was refused. */
export type Resumption = {
  /** Path of the page with the form. */
  returnTo: string
  /** The page will show what they typed. */
  isTextKept: boolean
}

/** The part of the request that has a refused value. */
export type Place = 'path' | 'query' | 'body' | 'header'

/** A refused value of the request. The texts are ours and never repeat the value. */
export type FieldError = {
  in: Place
  /** JSON pointer (RFC 6901) within the path parameters, the query, the headers or the body; '' is all of it. */
  pointer: string
  detail: string
}

type ProblemOptions = {
  detail?: string
  retryAfterSeconds?: number
  reason?: string
  signIn?: SignInFailure
  /** The refused values of the request, if no schema of a route refused them. */
  fields?: readonly FieldError[]
}

/** A refusal by a limit says which one it is, and how long to wait. */
type RefusalByLimit = ProblemOptions & { detail: string; retryAfterSeconds: number }

/** An HTTP error by its code. `detail` is sent to the caller, so it must hold nothing confidential. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined
  readonly retryAfterSeconds: number | undefined
  /** Which rate limit or policy rule refused the request; a metric label, so one of a few words. */
  readonly reason: string
  readonly signIn: SignInFailure | undefined
  readonly fields: readonly FieldError[]

  constructor(code: 'too-many-requests', options: RefusalByLimit)
  constructor(code: PlainErrorCode, options?: ProblemOptions)
  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    const { title } = errorTable[code]
    super(options.detail ?? (options.reason ? `${title}: ${options.reason}` : title))
    this.name = 'Problem'
    this.code = code
    this.detail = options.detail
    this.retryAfterSeconds = options.retryAfterSeconds
    this.reason = options.reason ?? ''
    this.signIn = options.signIn
    this.fields = options.fields ?? []
  }
}
