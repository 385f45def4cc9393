import type pg from 'pg'

/**
 * Tells whether anything that a verification without a scope reads has changed: roles, tables, columns, views,
 * functions, policies, triggers, privileges, settings, and the record of migrations and releases. Reading it costs a
 * twentieth of the verification.
 *
 * A row of the catalogue that is changed is written again and gets another `xmin`. VACUUM and ANALYZE
 * change `pg_class` in place. Roles are compared by content, because `xmin` of their table is not readable.
 * @param client of any role that may read the record
 */
export async function readFingerprint(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ fingerprint: string }>(fingerprint)
  return rows[0]?.fingerprint ?? ''
}

/** Catalogues by a key of their rows, and which rows matter. */
const catalogues = [
  ['pg_namespace', 'oid', 'true'],
  ['pg_class', 'oid', inPublic('relnamespace')],
  [
    'pg_proc',
    'oid',
    `pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`,
  ],
  ['pg_attribute', 'attrelid, attnum', ofPublic('attrelid')],
  ['pg_rewrite', 'oid', ofPublic('ev_class')],
  ['pg_trigger', 'oid', ofPublic('tgrelid')],
  ['pg_policy', 'oid', 'true'],
  ['pg_extension', 'oid', 'true'],
  ['pg_depend', 'classid, objid, refclassid, refobjid', `deptype = 'e'`],
  ['_prisma_migrations', 'id', 'true'],
  ['schema_releases', 'id', 'true'],
  ['schema_objects', 'kind, name', 'true'],
] as const

/** Few rows, of this role and those that it is a member of. */
const contents = [
  ['pg_roles', ofRole('oid')],
  ['pg_auth_members', ofRole('roleid')],
  [
    'pg_db_role_setting',
    `(setrole = 0 OR ${ofRole('setrole')}) AND setdatabase IN (
       0, (SELECT oid FROM pg_database WHERE datname = current_database()))`,
  ],
] as const

function ofRole(column: string): string {
  return `pg_has_role(current_user, ${column}, 'MEMBER')`
}

function inPublic(column: string): string {
  return `${column} = 'public'::regnamespace`
}

function ofPublic(column: string): string {
  return `${column} IN (SELECT oid FROM pg_class WHERE ${inPublic('relnamespace')})`
}

/** From wherever they come: the configuration of the server, too. */
const settings = `'app.scope', 'session_replication_role', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'`

const fingerprint = `SELECT md5(concat_ws(' ', current_user, ${[
  `(SELECT string_agg(coalesce(current_setting(name, true), ''), ' ' ORDER BY name)
    FROM unnest(ARRAY[${settings}]) name)`,
  ...catalogues.map(
    ([name, key, condition]) =>
      `(SELECT md5(string_agg(concat_ws(' ', ${key}, xmin), ',' ORDER BY ${key}))
        FROM ${name} WHERE ${condition})`,
  ),
  ...contents.map(
    ([name, condition]) =>
      `(SELECT md5(string_agg(row::text, ',' ORDER BY row::text)) FROM ${name} AS row
        WHERE ${condition})`,
  ),
].join(', ')})) AS fingerprint`
