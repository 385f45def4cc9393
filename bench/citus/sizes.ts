import { distributedTables, referenceTables } from '#src/schema/citus/placement.ts'
import { type Contender, citusName } from './servers.ts'

export type Size = {
  tenants: number
  server: string
  /** Bytes of tables with their indexes, or of their shards. */
  reference: number
  distributed: number
  others: number
}

const query = `
  WITH sized AS (
    SELECT regexp_replace(c.relname, '_[0-9]+$', '') AS name, pg_total_relation_size(c.oid) AS bytes
    FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)
  )
  SELECT coalesce(sum(bytes) FILTER (WHERE name = ANY ($1)), 0)::float8 AS reference,
    coalesce(sum(bytes) FILTER (WHERE name = ANY ($2)), 0)::float8 AS distributed,
    coalesce(sum(bytes) FILTER (WHERE name <> ALL ($1 || $2)), 0)::float8 AS others
  FROM sized`

/** The sizes of the tables on each server. */
export async function readSizes({ name, servers }: Contender, tenants: number): Promise<Size[]> {
  const sizes: Size[] = []
  for (const [n, { admin }] of servers.entries()) {
    // Otherwise Citus hides shards from pg_class. A server without it takes any such setting.
    await admin.query('SET citus.override_table_visibility = off')
    const { rows } = await admin.query<Omit<Size, 'tenants' | 'server'>>(query, [
      referenceTables,
      distributedTables,
    ])
    const server = name === citusName ? (n === 0 ? 'coordinator' : `node ${n}`) : name
    for (const row of rows) sizes.push({ tenants, server, ...row })
  }
  return sizes
}
