import type { PgBoss } from 'pg-boss'
import type { SessionCaller } from '#src/access/caller.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { retireGrants } from '#src/auth/provider-tokens/retire.ts'
import { equalBytes, hmacSha256, randomToken } from '#src/crypto/hash.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'

/**
 * Ends the session, enqueues the revocation of the user's provider tokens and writes the audit
 * entry; waits for no provider. The session is deleted by the id of its row, so a concurrent tenant
 * switch, which changes its cookie id, does not keep it alive.
 * @param connection entered without locks: the DELETE itself finds out whether the session is live
 * @returns the provider of the sign-in, where the browser may still be signed in
 */
export async function signOut(
  connection: Tx,
  queue: PgBoss,
  caller: Pick<SessionCaller, 'userId' | 'tenantId' | 'sessionId'>,
  clientInfo: ClientInfo,
): Promise<string | null> {
  const { userId, tenantId, sessionId } = caller
  const [ended] = await connection.deleteCredentials<{ provider: string | null }>(
    Prisma.sql`sessions`,
    Prisma.sql`id = ${sessionId}::uuid AND user_id = ${userId}`,
    Prisma.sql`provider`,
  )
  if (ended === undefined) return null
  await retireGrants(connection, queue, { userId, tenantId })
  await recordAudit(
    connection,
    { action: 'sign-out', outcome: 'done', reason: 'own-request', userId, tenantId },
    clientInfo,
  )
  return ended.provider
}

/**
 * The `state` of an RP-initiated logout: the provider's name, signed, so that a forged link to the
 * signed-out page is detected. It is not stored, because the session has ended by then.
 */
export function logoutState(secret: string, provider: string): string {
  const content = `${provider}.${randomToken()}`
  return `${content}.${signatureOf(secret, content).toString('base64url')}`
}

/** The provider of a `logoutState`; null for any other text. */
export function readLogoutState(secrets: readonly string[], state: string): string | null {
  const [, content = '', provider = '', signature = ''] =
    /^(([a-z][a-z0-9_]*)\.[\w-]{43})\.([\w-]{43})$/.exec(state) ?? []
  const given = Buffer.from(signature, 'base64url')
  const isSigned = secrets.some((secret) => equalBytes(signatureOf(secret, content), given))
  return isSigned ? provider : null
}

/** The prefix separates these signatures from session cookies, which the same secrets sign. */
function signatureOf(secret: string, content: string): Buffer {
  return hmacSha256(secret, 'provider-logout:', content)
}
