import pg from 'pg'
import { logins } from '#dev/testing/logins.ts'
import type { TestDatabase } from './database.ts'
import { untilTrue } from './until.ts'

/** A value that changes what a connection finds, computes or prints, unless the connection sets its own. */
export const hostileSettings: Readonly<Record<string, string>> = {
  array_nulls: 'off',
  backslash_quote: 'off',
  bytea_output: 'escape',
  check_function_bodies: 'off',
  client_encoding: 'LATIN1',
  client_min_messages: 'debug1',
  createrole_self_grant: 'set, inherit',
  DateStyle: 'SQL, DMY',
  default_text_search_config: 'pg_catalog.german',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  escape_string_warning: 'off',
  extra_float_digits: '-15',
  gin_fuzzy_search_limit: '1',
  gin_pending_list_limit: '64',
  icu_validation_level: 'error',
  IntervalStyle: 'sql_standard',
  lc_messages: 'POSIX',
  lc_monetary: 'POSIX',
  lc_numeric: 'POSIX',
  lc_time: 'POSIX',
  lo_compat_privileges: 'on',
  quote_all_identifiers: 'on',
  row_security: 'off',
  search_path: 'pg_catalog',
  standard_conforming_strings: 'off',
  synchronize_seqscans: 'off',
  TimeZone: 'America/New_York',
  timezone_abbreviations: 'Australia',
  transform_null_equals: 'on',
  xmlbinary: 'hex',
  xmloption: 'document',
}

/** Limits that a direct connection sets; behind a pooler those of the role apply. In milliseconds. */
const hostileLimits: Readonly<Record<string, string>> = {
  idle_in_transaction_session_timeout: '1',
  lock_timeout: '1',
  statement_timeout: '1',
}

/** Settings that the program leaves as they are, each with the reason. */
export const otherSettings: Readonly<Record<string, string>> = {
  allow_alter_system: 'whether the configuration may be changed by a statement',
  default_table_access_method: 'how tables are stored; PostgreSQL itself has one method',
  default_tablespace: 'where tables are stored',
  default_toast_compression: 'how values are stored',
  default_transaction_read_only: 'closes a database to writes; the verification names it',
  dynamic_library_path: 'which files a superuser may load',
  event_triggers: 'the program has none',
  extension_control_path: 'which files a superuser may load',
  idle_session_timeout: 'pools open another connection; migrate has none',
  jit_provider: 'the program compiles no plans',
  local_preload_libraries: 'which files are loaded',
  restrict_nonsystem_relation_kind: 'refuses views; early releases of PostgreSQL 15 do not have it',
  session_preload_libraries: 'which files are loaded',
  session_replication_role: 'only a superuser may set it; the verification names it',
  shared_preload_libraries: 'which files are loaded',
  temp_tablespaces: 'where temporary files are stored',
  transaction_deferrable: 'of one transaction',
  transaction_isolation: 'of one transaction',
  transaction_read_only: 'of one transaction',
  transaction_timeout: 'a limit of the operator, which PostgreSQL 15 does not have',
  vacuum_failsafe_age: 'when rows are frozen',
  vacuum_freeze_min_age: 'when rows are frozen',
  vacuum_freeze_table_age: 'when rows are frozen',
  vacuum_multixact_failsafe_age: 'when rows are frozen',
  vacuum_multixact_freeze_min_age: 'when rows are frozen',
  vacuum_multixact_freeze_table_age: 'when rows are frozen',
}

/** What a direct connection must not depend on. */
export const hostile: Readonly<Record<string, string>> = { ...hostileSettings, ...hostileLimits }

/** Every setting of the running server that must be in one of the tables above. */
export const clientSettings = `SELECT name, boot_val AS "default" FROM pg_settings
  WHERE (category LIKE 'Client Connection Defaults%' OR category LIKE 'Version and Platform%')
    AND context <> 'internal' ORDER BY name COLLATE "C"`

/** @param object what has the settings, such as `ALTER ROLE somebody` */
export function settingStatements(
  object: string,
  values: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(values).map(([name, value]) => `${object} SET ${name} = '${value}'`)
}

/**
 * Keeps the superuser of a server, as which tests look, as it is: settings of a role come before those of a database
 * and a server. Must be called before these are hostile.
 */
export async function calmSuperuser(superuserUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(clientSettings)
  for (const { name } of rows.filter(({ name }) => Object.hasOwn(hostile, name))) {
    await client.query(`ALTER ROLE CURRENT_USER SET ${name} FROM CURRENT`)
  }
  await client.end()
}

/** For a database of a shared server: every role of the program has the hostile settings in it. */
export async function makeHostile({ admin, url }: TestDatabase): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const objects = Object.values(logins).map(
    (login) => `ALTER ROLE ${login.name} IN DATABASE ${name}`,
  )
  for (const statement of objects.flatMap((object) => settingStatements(object, hostile))) {
    await admin.query(statement)
  }
}

/** Gives a whole server the hostile settings that it knows; only its superuser keeps the defaults. */
export async function makeServerHostile(superuserUrl: string): Promise<void> {
  await calmSuperuser(superuserUrl)
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(clientSettings)
  const known = rows.filter(({ name }) => Object.hasOwn(hostile, name))
  const values = Object.fromEntries(known.map(({ name }) => [name, hostile[name] ?? '']))
  await applySettings(client, settingStatements('ALTER SYSTEM', values))
  await client.end()
}

/** Runs the statements; resolves once the server has read its configuration again. */
export async function applySettings(
  client: pg.ClientBase,
  statements: readonly string[],
): Promise<void> {
  const loaded = async () => {
    const { rows } = await client.query<{ at: Date }>('SELECT pg_conf_load_time() AS at')
    return rows[0]?.at.getTime() ?? 0
  }
  for (const statement of statements) await client.query(statement)
  const before = await loaded()
  await client.query('SELECT pg_reload_conf()')
  // This connection reads it after the process that starts new ones.
  await untilTrue(async () => (await loaded()) > before)
}
