import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import { build as pretty } from 'pino-pretty'

// What opens a door is never logged; should an object with such a member be, it is cut out here.
const secretMembers = [
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
]
const redactedPaths = secretMembers.flatMap((member) => [
  `["${member}"]`,
  `*["${member}"]`,
  `*.*["${member}"]`,
])

/**
 * One JSON object per line; pretty on a terminal. Requests are logged as method, path without
 * query, status and duration; errors as type, message and stack, never with their causes.
 */
export function createLogger(
  level: string,
  destination: DestinationStream = process.stdout.isTTY
    ? pretty({ ignore: 'pid,hostname' })
    : pino.destination(1),
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths, censor: '[redacted]' },
      serializers: { err: describeError },
    },
    destination,
  )
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = 'code' in error && typeof error.code === 'string' ? { errorCode: error.code } : {}
  return { type: error.name, message: error.message, ...code, stack: error.stack }
}
