import type { Queryable } from '#src/db/system-database.ts'

/** Why workers do nothing: the database is a copy, or an operator said so; and since when. */
export type Quarantine = { readonly since: Date; readonly reason: 'copied' | 'by-hand' }

/**
 * Whether workers must do nothing, and why. With `record` the first call on a database notes which one
 * it is, and a call on a copy of it begins the quarantine; without, nothing is written. A copy is
 * recognised by PostgreSQL's system identifier and the database's number in it, so a dump, a template
 * and a logical replica are recognised; a base backup and a snapshot of a disk are not, because a
 * failover looks the same.
 */
export async function findQuarantine(
  connection: Queryable,
  { record }: { record: boolean },
): Promise<Quarantine | null> {
  const [row] = await connection.sql<{ since: Date | null; reason: Quarantine['reason'] }>`
    SELECT quarantined_at AS since, reason FROM installation_state(${record})`
  return row?.since ? { since: row.since, reason: row.reason } : null
}

/** Ends the quarantine; from now on this database is the one whose jobs are done. */
export async function adoptInstallation(connection: Queryable): Promise<void> {
  await connection.sql`SELECT adopt_installation()`
}

/** Begins a quarantine by hand; one that exists is kept as it is. */
export async function quarantineInstallation(connection: Queryable): Promise<void> {
  await connection.sql`SELECT quarantine_installation()`
}
