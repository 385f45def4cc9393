/**
 * What results and texts of statements depend on. A role, a database and a server may have other values, and
 * texts are compared that another connection has recorded, so every connection of the program has these.
 *
 * PostgreSQL lets any role set them. Whether a database accepts writes, how long work may take and where tables are
 * stored stays with its operator.
 */
const settings = {
  // Names: the program qualifies only those in functions. A temporary table hides no other.
  search_path: 'public, pg_temp',
  quote_all_identifiers: 'off',
  // Texts of times, numbers and bytes.
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  // What a statement means.
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  array_nulls: 'on',
  row_security: 'on',
  check_function_bodies: 'on',
  gin_fuzzy_search_limit: '0',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
} as const

/**
 * Further settings of `migrate`: its work takes as long as it takes, and one of its connections waits while
 * another works.
 */
export const withoutLimits = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
} as const

/** Compiling a plan can take seconds, much longer than any statement of this program. */
const withoutJit = { jit: 'off' }

const all = Object.entries({ ...settings, ...withoutJit })

/** Behind a pooler: the same for one transaction. */
export const settingsOfTransaction = `SELECT ${all
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ')}`

/** Begins a transaction that may write, at the isolation that the program is written for. */
export const beginWrite = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/**
 * The URL and startup options of a connection. Options of the URL itself come first, so those of the program win.
 * @param further options of this connection
 */
export function withSettings(url: string, further: Readonly<Record<string, string>> = {}) {
  const parsed = URL.parse(url)
  const own = parsed?.searchParams.get('options') ?? ''
  parsed?.searchParams.delete('options')
  const options = [...all, ...Object.entries(further)].map(optionOf)
  return {
    // As it was, unless the driver would prefer the options of the URL.
    connectionString: own === '' || parsed === null ? url : parsed.href,
    options: [...(own === '' ? [] : [own]), ...options].join(' '),
  }
}

function optionOf([name, value]: readonly [string, string]): string {
  return `-c ${name}=${value.replaceAll(' ', String.raw`\ `)}`
}
