import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import { batchLines } from './line-batches.ts'

// Credentials are never logged on purpose; members with these names are redacted as a safeguard.
const secretMembers = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'nonce',
  'codeVerifier',
  'code_verifier',
  'client_secret',
  'clientSecrets',
  'password',
  'secret',
  'secrets',
  'token',
  'access_token',
  'refresh_token',
  'id_token',
  'id_token_hint',
  'logout_token',
  'webhook-signature',
  'connectionString',
])
const redactedDepth = 4

/**
 * One JSON object per line. Requests are logged as method, route,
 * status and duration; errors as type, message and stack, without their causes.
 */
export function createLogger(
  level: string,
  destination: DestinationStream = batchLines(1),
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      // pino's `redact` option would cost 15 µs for each child logger.
      formatters: { level: (label) => ({ level: label }), log: (entry) => redactMembers(entry) },
      serializers: { err: describeError },
    },
    destination,
  )
}

function redactMembers(entry: object, depth = redactedDepth): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [member, value] of Object.entries(entry)) {
    shown[member] = secretMembers.has(member) ? '[redacted]' : redactWithin(value, depth - 1)
  }
  return shown
}

/** Errors are left to their serializer, and dates and buffers to their toJSON. */
function redactWithin(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value
  if (Array.isArray(value)) return value.map((item) => redactWithin(item, depth - 1))
  return value instanceof Error || 'toJSON' in value ? value : redactMembers(value, depth)
}

/** True also for the plain objects that pg-boss reports instead of errors. */
function isErrorLike(error: unknown): error is Error {
  if (error instanceof Error) return true
  return typeof error === 'object' && error !== null && 'message' in error && 'stack' in error
}

function describeError(error: unknown): object {
  if (!isErrorLike(error)) return { type: typeof error }
  const code = 'code' in error && typeof error.code === 'string' ? { errorCode: error.code } : {}
  const { name: type, message, stack } = error
  const own = 'thrownIn' in error ? { thrownIn: error.thrownIn } : {}
  return { type, message, ...own, ...code, stack }
}

/** The logger of jobs; entries hold ids and outcomes. */
export type JobLog = Record<'info' | 'warn' | 'error', (facts: object, message: string) => void>
