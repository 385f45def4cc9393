import type { World } from './world.ts'

/** A digest of the rows of each table in the world's two tenants. */
export type Trace = Readonly<Record<string, string>>

// Sessions and tokens of the actors, and the audit log, change with every request.
const ofRequests = ['sessions', 'audit_log']
const tokensThatAsk = 'an actor'

export async function traceOf({ test, home, elsewhere }: World): Promise<Trace> {
  const { admin } = test.database
  const { rows: tables } = await admin.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'tenant_id' AND table_name <> ALL ($1)`,
    [ofRequests],
  )
  const digests = tables.map(async ({ name }) => {
    const { rows } = await admin.query<{ digest: string }>(
      `SELECT coalesce(md5(string_agg(row, ',' ORDER BY row)), 'empty') AS digest
       FROM (SELECT (to_jsonb(x) - 'last_used_at')::text AS row FROM ${name} x
             WHERE tenant_id = ANY ($1) AND to_jsonb(x)->>'name' IS DISTINCT FROM $2) rows`,
      [[home, elsewhere], tokensThatAsk],
    )
    return [name, rows[0]?.digest ?? ''] as const
  })
  return Object.fromEntries(await Promise.all(digests))
}
