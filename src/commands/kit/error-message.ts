import { ApiError } from '#clients/typescript/src/api-error.ts'
import { ConfigError } from '#src/config/config.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { programFolder } from '#src/runtime/assets.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

const checkConnection =
  'Check DATABASE_URL, DATABASE_WORKER_URL and DATABASE_OWNER_URL, and that PostgreSQL, and PgBouncer where they lead to it, is running.'
const runMigrate = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'

/** For files of the program and its folders; a command names the remedy for a file that it is given. */
const fileRemedies: Readonly<Record<string, string>> = {
  ENOENT: 'Restore it: `git status` lists the missing files of a checkout.',
  ERR_MODULE_NOT_FOUND:
    'Run `npm ci`, or restore the file: `git status` lists the missing files of a checkout.',
  EACCES: 'Give this user access to it.',
  EPERM: 'Give this user access to it.',
  ENOSPC: 'Free space on its disk.',
}

/** One line with a remedy if the operator can fix the error, otherwise its stack. */
export function errorMessage(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (error instanceof OperatorError) return `${error.message} ${error.remedy}`
  if (error instanceof ApiError) return refusal(error)
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const reason = error.message || code
  const ofFile = 'path' in error || code === 'ERR_MODULE_NOT_FOUND' ? fileRemedies[code] : ''
  if (ofFile) return `${reason}. ${isOfApp(reason) ? ofAppFile : ofFile}`
  if (code === 'FST_ERR_DUPLICATED_ROUTE') return `${reason}. ${otherAddress}`
  if (isDatabaseUnavailable(error) || isLoginRefused(code)) {
    return `The database cannot be reached: ${reason}. ${checkConnection}`
  }
  if (isSchemaMismatch(code)) {
    return `The database schema does not match this release: ${reason}. ${runMigrate}`
  }
  return error.stack ?? error.message
}

const ofAppFile = 'Create the file or install the package, or correct the import.'
const otherAddress =
  'Give the resource whose table is called so another plural, or the route another address.'

/** Whether a module is missing that a file outside of this program imports. */
function isOfApp(reason: string): boolean {
  const [, importer] = / imported from (.*)$/.exec(reason) ?? []
  return importer !== undefined && !importer.startsWith(programFolder)
}

const refusalRemedies: Readonly<Record<number, string>> = {
  401: 'Is GATEHOUSE_TOKEN a token of this instance that has not expired?',
  403: 'Use a token of a person or service that may do this.',
  404: 'Is the id right, and the token of the same tenant?',
  429: 'Try again later.',
  503: 'Try again later.',
}

/** The API's own reason, else a remedy. */
export function refusal({ status, problem }: ApiError): string {
  const remedy = problem?.detail ?? refusalRemedies[status] ?? ''
  return `${status} ${problem?.title ?? 'Unexpected response'}. ${remedy}`
}

/** SQLSTATE class 28 (invalid authorization), or a database that does not exist. */
function isLoginRefused(code: string): boolean {
  return /^28[0-9A-Z]{3}$/.test(code) || code === '3D000'
}

/** A table, column, function, schema or privilege is missing. */
function isSchemaMismatch(code: string): boolean {
  return ['42P01', '42703', '42883', '3F000', '42501'].includes(code)
}

/** Why a call of `fetch` failed. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  return cause.message || code
}
