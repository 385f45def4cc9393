import type { PgBoss } from 'pg-boss'
import type { OwnerScope, SessionCaller } from '#src/access/caller.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { retireGrants } from '#src/auth/provider-tokens/retire.ts'
import { recordEndedSessions } from '#src/auth/sessions/list.ts'
import type { Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { isReadInReverse, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { lockUser } from './users.ts'

export const identityList = { name: 'identities', forms: [/^[a-z][a-z0-9_]*$/, /^[ -~]{1,255}$/] }

/** The identities of the user, ordered by provider. */
export async function listIdentities(tx: Tx, owner: OwnerScope, page: Page) {
  const [provider, subject] = page.after ?? []
  const [beyond, direction] = isReadInReverse(page)
    ? (['lt', 'desc'] as const)
    : (['gt', 'asc'] as const)
  const rest =
    provider === undefined || subject === undefined
      ? {}
      : {
          OR: [
            { provider: { [beyond]: provider } },
            { provider, providerUserId: { [beyond]: subject } },
          ],
        }
  const rows = await tx.oauthIdentity.findMany({
    where: { userId: owner.userId, ...rest },
    orderBy: [{ provider: direction }, { providerUserId: direction }],
    take: page.limit + 1,
  })
  return pageOf(
    rows,
    page,
    identityList.name,
    (row) => [row.provider, row.providerUserId],
    (row) => ({
      provider: row.provider,
      subject: row.providerUserId,
      issuer: row.issuer,
      createdAt: row.createdAt.toISOString(),
    }),
  )
}

/**
 * Unlinks an identity from the caller, enqueues the revocation of its provider tokens and ends the
 * caller's other sessions that were signed in through its provider. The user's row is locked first,
 * so that concurrent requests cannot unlink the last identity.
 * @returns `last` if there is no other identity; `missing` also for an identity of another user
 */
export async function unlinkIdentity(
  connection: Queryable,
  queue: PgBoss,
  caller: Pick<SessionCaller, 'userId' | 'tenantId' | 'sessionId'>,
  key: { provider: string; subject: string },
  clientInfo: ClientInfo,
): Promise<'unlinked' | 'missing' | 'last'> {
  const { userId, tenantId } = caller
  const { provider } = key
  await lockUser(connection)
  const identities = await countIdentities(connection, userId, key)
  if (!identities.key) return 'missing'
  const entry = { action: 'unlink', provider, userId, tenantId } as const
  if (identities.all === 1) {
    const refused = { ...entry, outcome: 'refused', reason: 'last-sign-in-method' } as const
    await recordAudit(connection, refused, clientInfo)
    return 'last'
  }
  await retireGrants(connection, queue, { userId, tenantId }, key)
  await connection.sql`
    DELETE FROM oauth_identities
    WHERE provider = ${provider} AND provider_user_id = ${key.subject} AND user_id = ${userId}`
  await recordAudit(connection, { ...entry, outcome: 'done', reason: 'own-request' }, clientInfo)
  const rows = await connection.sql<{ id: string; tenant_id: string | null }>`
    DELETE FROM sessions WHERE user_id = ${userId} AND provider = ${provider} AND id <>
      ${caller.sessionId}
    RETURNING id, tenant_id`
  await recordEndedSessions(connection, userId, rows, 'identity-unlinked', clientInfo)
  return 'unlinked'
}

/** The number of the user's identities, and whether `key` is one of them. */
async function countIdentities(
  connection: Queryable,
  userId: number,
  key: { provider: string; subject: string },
): Promise<{ all: number; key: boolean }> {
  const [row] = await connection.sql<{ all: number; key: boolean }>`
    SELECT count(*)::int AS all,
           coalesce(bool_or(provider = ${key.provider} AND provider_user_id = ${key.subject}),
             false) AS key
    FROM oauth_identities WHERE user_id = ${userId}`
  return row ?? { all: 0, key: false }
}
