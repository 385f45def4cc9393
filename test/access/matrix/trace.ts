import type { TestDatabase } from '#test/support/database/database.ts'

/**
 * One digest of all tables, the queue's jobs included: the number of their rows, and the rows without the
 * time of the last use.
 * @param since rows that were written before this transaction, and not changed since, are only counted;
 *   where a time of use is written at any moment, all rows are in the digest
 */
export async function digestOf({ admin }: TestDatabase, since = '0'): Promise<string> {
  const { rows: tables } = await admin.query<{ name: string; used: boolean }>(
    `SELECT oid::regclass::text AS name, EXISTS (
       SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname IN ('last_used_at', 'last_seen_at')
     ) AS used
     FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  )
  const row = `(to_jsonb(x) - 'last_used_at' - 'last_seen_at')::text`
  const parts = [...tables, { name: 'pgboss.job', used: false }].map(
    ({ name, used }) => `
      SELECT concat_ws(' ', '${name}', count(*), md5(string_agg(${row}, ',' ORDER BY ${row})
        FILTER (WHERE x.xmin::text::bigint >= ${used ? '0' : since}))) AS digest
      FROM ${name} x`,
  )
  // PostgreSQL may read large tables in parallel, in any order.
  const { rows } = await admin.query<{ digest: string }>(`${parts.join(' UNION ALL ')} ORDER BY 1`)
  return rows.map(({ digest }) => digest).join('\n')
}

/** The id of a transaction that begins now. */
export async function currentTransaction({ admin }: TestDatabase): Promise<string> {
  const { rows } = await admin.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id')
  return rows[0]?.id ?? ''
}
