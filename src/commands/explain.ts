import { ConfigError } from '#src/config/config.ts'
import { isDatabaseUnavailable } from '#src/http/problems.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { UsageError } from './command.ts'

const connection =
  'Check DATABASE_URL, DATABASE_WORKER_URL and DATABASE_OWNER_URL, and that PostgreSQL is running.'
const migrate = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'

/** A mistake of the caller or an operator, with its remedy; anything else with its stack. */
export function explain(error: unknown): string {
  if (error instanceof UsageError || error instanceof ConfigError) return error.message
  if (error instanceof OperatorError) return `${error.message} ${error.remedy}`
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const reason = error.message || code
  if (isDatabaseUnavailable(error) || isRefusedLogin(code)) {
    return `The database cannot be reached: ${reason}. ${connection}`
  }
  if (isForeignSchema(code)) return `The database is not as it has to be: ${reason}. ${migrate}`
  return error.stack ?? error.message
}

/** Class 28 of PostgreSQL, or a database that does not exist. */
function isRefusedLogin(code: string): boolean {
  return /^28[0-9A-Z]{3}$/.test(code) || code === '3D000'
}

/** A missing table, column, function or schema, or rights that were not given. */
function isForeignSchema(code: string): boolean {
  return ['42P01', '42703', '42883', '3F000', '42501'].includes(code)
}
