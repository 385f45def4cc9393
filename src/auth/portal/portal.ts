import type { Portal, TenantApp, TenantScope } from '#src/access/caller.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { type PortalRow, toPortal } from '#src/auth/sessions/enter.ts'
import { hashOf } from '#src/auth/tokens/store.ts'
import { randomToken, sha256 } from '#src/crypto/hash.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Entry, Tx } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'

// beside-your-app.md, section 3
const linkSeconds = 300
/** As open_portal_link in prisma/functions/credentials.sql has it. */
export const portalSeconds = 3_600
/** Links and sessions of an app token in one tenant that can be live at once: a further link ends the oldest. */
export const maxPortalSessions = 100
/** Links that an app token can make for one tenant within a minute. */
export const maxLinksPerMinute = 60

export type PortalLink = {
  /** Names the link, and the session that it opens. */
  readonly id: string
  readonly secret: string
  readonly expiresAt: string
}

/**
 * Makes a link to the webhook pages of the tenant that the app names. Only its hash is stored.
 * @throws Problem `too-many-requests` after `maxLinksPerMinute`
 */
export async function createPortalLink(
  tx: Queryable,
  { serviceId, tenantId }: Pick<TenantApp, 'serviceId' | 'tenantId'>,
  clientInfo: ClientInfo,
): Promise<PortalLink> {
  // Without the lock, requests at once could exceed both limits.
  await lockUntilCommit(tx, 'portal-sessions', tenantId)
  const [recent] = await tx.sql<{ links: number }>`
    SELECT count(*)::int AS links FROM portal_sessions
    WHERE tenant_id = ${tenantId}::uuid AND app_token_id = ${serviceId}::uuid
      AND created_at > now() - interval '1 minute'`
  if ((recent?.links ?? 0) >= maxLinksPerMinute) {
    const detail = `An app token makes at most ${maxLinksPerMinute} links for a tenant within a minute.`
    throw new Problem('too-many-requests', {
      detail,
      retryAfterSeconds: 60,
      reason: 'portal-links',
    })
  }
  await tx.sql`
    DELETE FROM portal_sessions WHERE id IN (
      SELECT id FROM portal_sessions
      WHERE tenant_id = ${tenantId}::uuid AND app_token_id = ${serviceId}::uuid AND expires_at > now()
      ORDER BY opened_at IS NULL AND created_at < now() - interval '1 minute', created_at DESC, id OFFSET ${maxPortalSessions - 1})`
  const secret = randomToken()
  const [made] = await tx.sql<{ id: string; expiresAt: Date }>`
    INSERT INTO portal_sessions (hash, tenant_id, app_token_id, expires_at)
    VALUES (${hashOf(secret)}, ${tenantId}::uuid, ${serviceId}::uuid,
            now() + make_interval(secs => ${linkSeconds}))
    RETURNING id, expires_at AS "expiresAt"`
  if (made === undefined) throw new Error('The link was not stored.')
  await record(tx, { tenantId, target: made.id, action: 'portal-link-create' }, clientInfo)
  return { id: made.id, secret, expiresAt: made.expiresAt.toISOString() }
}

/** Ends a link of the tenant, or the session that it has opened. @returns false if it is missing */
export async function endPortalLink(
  tx: Tx,
  { tenantId }: TenantScope,
  target: string,
  clientInfo: ClientInfo,
): Promise<boolean> {
  const where = Prisma.sql`tenant_id = ${tenantId}::uuid AND id = ${target}::uuid`
  const ended = await tx.deleteCredentials(Prisma.sql`portal_sessions`, where, Prisma.sql`id`)
  if (ended.length === 0) return false
  await record(tx, { tenantId, target, action: 'portal-link-delete' }, clientInfo)
  return true
}

/**
 * Refuses a link that cannot be opened, for a read: anybody can make links up, and a write of each would
 * take connections from those who are signed in. Whether it still can be is decided when it is opened.
 */
export function findLinkEntry(link: string): Entry<void> {
  return {
    replacesScope: true,
    statement: () => Prisma.sql`SELECT * FROM find_portal_link(${sha256(link)})`,
    admit([row]) {
      if (row === undefined) throw new Problem('portal-session-ended')
    },
  }
}

/**
 * Opens a link: the transaction uses it up, makes the session and enters as that session. The facts are
 * null for a link that is missing, expired, or was opened before.
 * @param previous SHA-256 of the session that the browser had, which it replaces; null without one
 */
export function openLinkEntry(
  link: string,
  session: string,
  previous: Uint8Array | null,
): Entry<Portal | null> {
  return {
    statement: () =>
      Prisma.sql`SELECT * FROM open_portal_link(${sha256(link)}, ${sha256(session)}, ${previous})`,
    admit([row]) {
      return row === undefined ? null : toPortal(row as PortalRow)
    },
  }
}

/** Records that somebody opened a link of the app, in the transaction that opened it. */
export function recordOpening(
  tx: Queryable,
  { tenantId, portalSessionId: target }: Portal,
  clientInfo: ClientInfo,
): Promise<void> {
  return record(tx, { tenantId, target, action: 'portal-link-open' }, clientInfo)
}

function record(
  tx: Queryable,
  entry: {
    tenantId: string
    target: string
    action: `portal-link-${'create' | 'open' | 'delete'}`
  },
  clientInfo: ClientInfo,
): Promise<void> {
  return recordAudit(tx, { ...entry, outcome: 'done', reason: 'own-request' }, clientInfo)
}
