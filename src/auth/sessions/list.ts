import type { PgBoss } from 'pg-boss'
import type { Caller, OwnerScope, SessionCaller } from '#src/access/caller.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { retireGrants } from '#src/auth/provider-tokens/retire.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createdPosition, newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'

export const sessionList = { name: 'sessions', forms: newestFirstForms }

type SessionOwner = Pick<SessionCaller, 'userId' | 'sessionId'>

type SessionRow = {
  id: string
  user_agent: string | null
  ip: string | null
  created_at: Date
  last_seen_at: Date
  position: string
}

/** The user's live sessions, newest first. */
export async function listSessions(tx: Tx, owner: SessionOwner, idleSeconds: number, page: Page) {
  const rows = await tx.sql<SessionRow>`
    ${live(owner, idleSeconds)} AND ${newestFirst(page)}`
  return pageOf(
    rows,
    page,
    sessionList.name,
    (row) => [row.position, row.id],
    (row) => toSession(row, owner),
  )
}

/** A live session of the user; null if it does not exist, has ended or belongs to another user. */
export async function findOwnSession(tx: Tx, owner: SessionOwner, idleSeconds: number, id: string) {
  const [row] = await tx.sql<SessionRow>`${live(owner, idleSeconds)} AND id = ${id}::uuid`
  return row === undefined ? null : toSession(row, owner)
}

/** Whether the provider said when the user of this session authenticated. */
export async function isAuthenticationTimeKnown(
  tx: Tx,
  { userId, sessionId }: Pick<Caller, 'userId' | 'sessionId'>,
): Promise<boolean> {
  if (sessionId === null) return true
  const where = { id: sessionId, userId, authenticatedAt: { not: null } }
  return (await tx.session.count({ where })) === 1
}

/** @param idleSeconds a session that was not used for this long has ended */
function live({ userId }: OwnerScope, idleSeconds: number): Prisma.Sql {
  return Prisma.sql`
    SELECT id, user_agent, ip, created_at, last_seen_at,
           ${createdPosition}
    FROM sessions
    WHERE user_id = ${userId} AND expires_at > now()
      AND last_seen_at > now() - make_interval(secs => ${idleSeconds})`
}

function toSession(row: SessionRow, owner: SessionOwner) {
  return {
    id: row.id,
    current: row.id === owner.sessionId,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    userAgent: row.user_agent,
    ip: row.ip,
  }
}

/**
 * Ends a session of the caller. Their current one is a sign-out, which also revokes provider tokens.
 * @returns false if it does not exist or belongs to another user
 */
export async function endOwnSession(
  connection: Tx,
  queue: PgBoss,
  caller: SessionOwner & { tenantId: string | null },
  id: string,
  clientInfo: ClientInfo,
): Promise<boolean> {
  const rows = await connection.deleteCredentials<EndedRow>(
    Prisma.sql`sessions`,
    Prisma.sql`id = ${id}::uuid AND user_id = ${caller.userId}`,
    Prisma.sql`id, tenant_id`,
  )
  if (id === caller.sessionId) await retireGrants(connection, queue, caller)
  await recordEndedSessions(connection, caller.userId, rows, 'own-request', clientInfo)
  return rows.length === 1
}

/**
 * Ends every session of the caller except the current one.
 * @returns the number of ended sessions
 */
export async function endOtherSessions(
  connection: Tx,
  caller: SessionOwner,
  clientInfo: ClientInfo,
): Promise<number> {
  const rows = await connection.deleteCredentials<EndedRow>(
    Prisma.sql`sessions`,
    Prisma.sql`user_id = ${caller.userId} AND id <> ${caller.sessionId}::uuid`,
    Prisma.sql`id, tenant_id`,
  )
  await recordEndedSessions(connection, caller.userId, rows, 'others-ended', clientInfo)
  return rows.length
}

type EndedRow = { id: string; tenant_id: string | null }

/** Writes one audit entry per ended session, in the transaction that ended them. */
export async function recordEndedSessions(
  connection: Queryable,
  userId: number,
  ended: readonly EndedRow[],
  reason: 'own-request' | 'others-ended' | 'identity-unlinked',
  clientInfo: ClientInfo,
): Promise<void> {
  for (const { id: target, tenant_id: tenantId } of ended) {
    const entry = { action: 'session-end', outcome: 'done', reason } as const
    await recordAudit(connection, { ...entry, userId, tenantId, target }, clientInfo)
  }
}
