import { setTimeout } from 'node:timers/promises'

/**
 * SQLSTATEs (PostgreSQL, appendix A) after which the same request can succeed later. Two characters
 * stand for a class.
 */
const retryableStates: ReadonlySet<string> = new Set([
  '08', // connection exception
  '25006', // read-only transaction: the server became a standby
  '25P03', // idle in transaction too long
  '25P04', // transaction too long
  '40001', // serialization failure
  '40003', // statement completion unknown
  '40P01', // deadlock
  '53', // insufficient resources
  '55006', // object in use
  '55P03', // lock not available
  '57', // operator intervention: cancelled, shutting down, starting
  '58000', // system error
  '58030', // I/O error
])

// Codes of Node's sockets and of Prisma that mean the same.
const unavailableCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
  'P2034',
  'P2037',
])
const unavailableMessages = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error',
  'LISTEN/NOTIFY connection ended', // of pg-boss
  // A migration added a column between the plan of a statement and that of a function in it.
  'structure of query does not match function result type',
  // Prisma has codes for these, but reports raw queries with P2010 and only the message.
  'Server has closed the connection',
  "Can't reach database server",
  'Too many database connections opened',
  'Operation has timed out',
]

const triesAtStart = 5

/**
 * Asks the database what a process needs once, when it starts. On a busy machine a connection opens too
 * late for the first who asks, and the pool keeps it for the next.
 * @param ask may run several times
 * @throws what `ask` throws at its last try, and at once what a later try could not change
 */
export async function askPersistently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask()
    } catch (error) {
      if (tries === triesAtStart || !isDatabaseUnavailable(error)) throw error
    }
  }
}

/** True if the database was unavailable, or asks to try again: the request can be retried (503). */
export function isDatabaseUnavailable(error: unknown): boolean {
  return causesOf(error).some(
    ({ codes, message }) =>
      codes.some((code) => unavailableCodes.has(code) || isRetryableState(code)) ||
      unavailableMessages.some((text) => message.includes(text)),
  )
}

const stateForm = /^[0-9A-Z]{5}$/

function isRetryableState(code: string): boolean {
  return (
    stateForm.test(code) && (retryableStates.has(code) || retryableStates.has(code.slice(0, 2)))
  )
}

/** True if the server takes no writes: the connection leads to a former primary. */
export function isReadOnlyServer(error: unknown): boolean {
  return hasCode(error, (code) => code === '25006')
}

/** True if a statement did not get a lock in the time that it may wait. */
export function isLockTimeout(error: unknown): boolean {
  return hasCode(error, (code) => code === '55P03')
}

/** True if a statement was refused because an earlier one of its transaction had failed. */
export function isAfterFailure(error: unknown): boolean {
  return hasCode(error, (code) => code === '25P02')
}

/**
 * The SQLSTATE if PostgreSQL refused a value, such as a text with NUL or a time out of range: class
 * 22, data exception. Null for any other error.
 */
export function refusedValueState(error: unknown): string | null {
  const codes = causesOf(error).flatMap((cause) => cause.codes)
  return codes.find((code) => /^22[0-9A-Z]{3}$/.test(code)) ?? null
}

export function isRefusedValue(error: unknown): boolean {
  return refusedValueState(error) !== null
}

// 22: data exception. 54: program limit exceeded, such as a key that is too long for its index.
const permanentStates = /^(22[0-9A-Z]{3}|54[0-9A-Z]{3}|23502|23514)$/

/**
 * True if PostgreSQL will refuse the same statement every time, because of a value in it: one that
 * has no such form, breaks a rule of its column, or exceeds a limit.
 */
export function isRefusedForGood(error: unknown): boolean {
  return hasCode(error, (code) => permanentStates.test(code))
}

/** True for a foreign-key violation: the referenced row is missing, or the row is still referenced. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasCode(error, (code) => code === '23503' || code === 'P2003')
}

/** True if a transaction was decided on facts that are no longer true: it has written nothing. */
export function haveFactsChanged(error: unknown): boolean {
  return hasCode(error, (code) => code === 'GH001')
}

/** True if the database does not know the user of the session as an operator (operator_user_id). */
export function isUnrecordedOperator(error: unknown): boolean {
  return hasCode(error, (code) => code === 'GH002')
}

/** Which budget of the tenant, or share of a member, a write would exceed; null for any other error. */
export function exceededQuota(error: unknown): ExceededQuota | null {
  const codes = Object.keys(quotaOfCode) as (keyof typeof quotaOfCode)[]
  const code = codes.find((one) => hasCode(error, (found) => found === one))
  return code === undefined ? null : quotaOfCode[code]
}

const quotaOfCode = {
  QU001: 'resources',
  QU002: 'events',
  QU003: 'event-share',
  QU004: 'resource-share',
} as const

export type ExceededQuota = (typeof quotaOfCode)[keyof typeof quotaOfCode]

/** True if PostgreSQL cancelled a statement, such as one that took longer than it may. */
export function isCancelled(error: unknown): boolean {
  return hasCode(error, (code) => code === '57014')
}

/** True for a duplicate key. */
export function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, (code) => code === '23505')
}

/** A key that a statement would have broken. */
export type ViolatedConstraint = {
  readonly name: string
  /** True if the row that others refer to was changed, not one that refers to it. */
  readonly isOfTarget: boolean
  /** True if another row has the key already. */
  readonly isUnique: boolean
}

const constraintCodes = ['23001', '23503', '23505']

/** The key that a statement would have broken; null for any other error. */
export function violatedConstraint(error: unknown): ViolatedConstraint | null {
  if (!hasCode(error, (code) => constraintCodes.includes(code))) return null
  // Messages are in the language of the server; the names in them are quoted in all of them.
  const quoted = causesOf(error)
    .map(({ message }) => [...message.matchAll(/"([a-z0-9_]+)"/g)].map(([, name = '']) => name))
    .find(({ length }) => length > 0)
  if (quoted === undefined) return null
  // `… on table "projects" violates … "tasks_project_id_fkey" on table "tasks"`, or `… on table "tasks" violates …`.
  const name = quoted.find((one) => /_(fkey|key|pkey|idx)$/.test(one))
  return name === undefined
    ? null
    : { name, isOfTarget: quoted.length > 2, isUnique: isUniqueViolation(error) }
}

/** True if row-level security refuses a new state of a row by the policy of this name. */
export function isRefusedByPolicy(error: unknown, policy: string): boolean {
  return (
    hasCode(error, (code) => code === '42501') &&
    causesOf(error).some(({ message }) => message.includes(`"${policy}"`))
  )
}

const rolledBackCodes: readonly string[] = ['40001', '40P01', 'P2034']

/**
 * True if PostgreSQL has rolled the transaction back to let another one continue: run again, it can
 * succeed.
 */
export function isRolledBackForAnother(error: unknown): boolean {
  return hasCode(error, (code) => rolledBackCodes.includes(code))
}

/** Without a pause the next run could lock its first row before the other transaction wakes up. */
const pausesMs = [50, 250]

/**
 * Runs `work`; again after a failure that `mayPass` the next time: once, or after a pause up to twice if
 * PostgreSQL rolled it back for another transaction.
 */
export async function tryAgain<T>(
  work: () => Promise<T>,
  mayPass: (error: unknown) => boolean,
): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await work()
    } catch (error) {
      if (!mayPass(error)) throw error
      if (!isRolledBackForAnother(error)) break
      await setTimeout(pauseMs)
    }
  }
  return work()
}

function hasCode(error: unknown, matches: (code: string) => boolean): boolean {
  return causesOf(error).some(({ codes }) => codes.some(matches))
}

type Cause = { readonly codes: readonly string[]; readonly message: string }

// An error can have itself as its cause.
const maxCauseDepth = 8

/**
 * An error and its causes; none for a value that is not an error. Prisma keeps the error of
 * PostgreSQL in `cause` or in `meta.driverAdapterError`, with the SQLSTATE as `code` or
 * `originalCode`.
 */
function causesOf(error: unknown): readonly Cause[] {
  return error instanceof Error ? collectCauses(error, maxCauseDepth) : []
}

function collectCauses(error: unknown, depth: number): Cause[] {
  if (depth === 0 || typeof error !== 'object' || error === null) return []
  const { code, originalCode, message, cause, meta } = error as Record<string, unknown>
  const codes = [code, originalCode].filter((value) => typeof value === 'string')
  const text = typeof message === 'string' ? message : ''
  const adapterError =
    typeof meta === 'object' && meta !== null && 'driverAdapterError' in meta
      ? meta.driverAdapterError
      : null
  return [
    { codes, message: text },
    ...collectCauses(cause, depth - 1),
    ...collectCauses(adapterError, depth - 1),
  ]
}
