import { ConfigError } from '#src/config/config.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

const checkConnection =
  'Check DATABASE_URL, DATABASE_WORKER_URL and DATABASE_OWNER_URL, and that PostgreSQL, and PgBouncer where they lead to it, is running.'
const runMigrate = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'

/** One line with a remedy if the operator can fix the error, otherwise its stack. */
export function errorMessage(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (error instanceof OperatorError) return `${error.message} ${error.remedy}`
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const reason = error.message || code
  if (isDatabaseUnavailable(error) || isLoginRefused(code)) {
    return `The database cannot be reached: ${reason}. ${checkConnection}`
  }
  if (isSchemaMismatch(code)) {
    return `The database schema does not match this release: ${reason}. ${runMigrate}`
  }
  return error.stack ?? error.message
}

/** SQLSTATE class 28 (invalid authorization), or a database that does not exist. */
function isLoginRefused(code: string): boolean {
  return /^28[0-9A-Z]{3}$/.test(code) || code === '3D000'
}

/** A table, column, function, schema or privilege is missing. */
function isSchemaMismatch(code: string): boolean {
  return ['42P01', '42703', '42883', '3F000', '42501'].includes(code)
}
