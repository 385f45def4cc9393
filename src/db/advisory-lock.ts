import { Prisma } from './generated/client.ts'
import type { Queryable } from './system-database.ts'

/**
 * Advisory locks with a number of their own: one holder in the whole database. The next three numbers are
 * taken: by the SQL functions prune_dead and assign_customer, and by one variant of the schema.
 */
export const lockIds = { migrate: 7_165_230_418 } as const

/** Advisory locks with one holder for each key. */
export type LockName =
  | 'api-tokens'
  | 'app-tokens'
  | 'billing-fetch'
  | 'endpoint-replays'
  | 'event-types'
  | 'folders'
  | 'invitations'
  | 'plan-limits'
  | 'portal-sessions'
  | 'provider-grant'
  | 'service-tokens'
  | 'store-grant'
  | 'turn-fetch'
  | 'webhook-endpoints'

/** Waits for the lock `name` of `key`. The transaction holds it until its end. */
export async function lockUntilCommit(
  { sql }: Queryable,
  name: LockName,
  ...key: readonly string[]
): Promise<void> {
  await sql(lockStatement(name, ...key))
}

/** The same as a statement. */
export function lockStatement(name: LockName, ...key: readonly string[]): Prisma.Sql {
  const text = JSON.stringify([name, ...key])
  return Prisma.sql`SELECT pg_advisory_xact_lock(hashtextextended(${text}, 0))`
}
