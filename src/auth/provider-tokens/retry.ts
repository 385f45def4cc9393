import type { PgBoss } from 'pg-boss'
import { noClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { sendRevocations } from './retire.ts'

const statementTimeoutMs = statementTimeoutsMs.cleanup
const batchSize = 500
const retrySeconds = 86_400
// By then the sessions of older sign-ins and most refresh tokens have expired.
const maxDays = 30

/**
 * Tries again, once a day, to revoke tokens whose revocation failed: the provider may be configured
 * or available again. After 30 days it deletes them, with an audit entry, so that no token stays for
 * ever. One batch of each.
 */
export async function retryRevocations(
  systemDb: SystemDatabase,
  queue: PgBoss,
): Promise<{ retried: number; expired: number }> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const expired = await expire(connection)
    const rows = await connection.sql<{ id: string }>`
      SELECT id FROM retry_revocations(${retrySeconds}, ${batchSize}) AS id`
    await sendRevocations(
      connection,
      queue,
      rows.map(({ id }) => id),
    )
    return { retried: rows.length, expired }
  })
}

type Expired = { provider: string; user_id: string; tenant_id: string | null; status: string }

/** @returns the number of deleted tokens */
async function expire(connection: Queryable): Promise<number> {
  const rows = await connection.sql<Expired>`
    SELECT provider, user_id, tenant_id, status FROM expire_revocations(${maxDays}, ${batchSize})`
  for (const { provider, user_id, tenant_id: tenantId, status } of rows) {
    // A superseded token was to be revoked at a sign-out that did not come.
    const end =
      status === 'superseded'
        ? ({ outcome: 'done', reason: 'superseded-expired' } as const)
        : ({ outcome: 'failed', reason: 'revocation-expired' } as const)
    const entry = { action: 'revoke-tokens', ...end, provider, tenantId } as const
    await recordAudit(connection, { ...entry, userId: Number(user_id) }, noClientInfo)
  }
  return rows.length
}
