import type { PgBoss } from 'pg-boss'
import { type EncryptionKeys, seal } from '#src/crypto/encryption.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { addJob } from '#src/queue/jobs.ts'
import { type IdentityKey, tokenBinding } from './store.ts'

/**
 * Deletes every grant of the user and enqueues jobs that revoke its tokens at the provider, in the
 * caller's transaction. Other sessions of the user do not matter: refresh tokens are revoked on
 * logout (specification, Logout). Nothing here waits for a provider or for a concurrent refresh,
 * which finds the grant deleted and calls `retireLateToken`.
 * @param only limits the call to the grant of this identity, before the identity is deleted
 */
export async function retireGrants(
  connection: Queryable,
  queue: PgBoss,
  owner: { userId: number; tenantId: string | null },
  only: IdentityKey | null = null,
): Promise<void> {
  const { userId, tenantId } = owner
  const { provider = null, subject = null } = only ?? {}
  const retired = await connection.sql<{ id: string }>`
    WITH gone AS (
      DELETE FROM provider_grants g USING oauth_identities i
      WHERE i.user_id = ${userId} AND g.provider = i.provider
        AND g.provider_user_id = i.provider_user_id
        AND (${provider}::text IS NULL
          OR (g.provider = ${provider} AND g.provider_user_id = ${subject}))
      RETURNING g.*
    )
    INSERT INTO token_revocations
      (provider, provider_user_id, user_id, tenant_id, token, kind, status)
    SELECT provider, provider_user_id, ${userId}, ${tenantId}::uuid,
           coalesce(refresh_token, access_token),
           CASE WHEN refresh_token IS NULL THEN 'access_token' ELSE 'refresh_token' END, 'revoking'
    FROM gone RETURNING id`
  // A separate statement, so that it sees tokens of a refresh that was committed in between.
  const earlier = await connection.sql<{ id: string }>`
    UPDATE token_revocations SET status = 'revoking', tenant_id = ${tenantId}::uuid
    WHERE user_id = ${userId} AND status IN ('superseded', 'failed')
      AND (${provider}::text IS NULL OR (provider = ${provider} AND provider_user_id = ${subject}))
    RETURNING id`
  const ids = [...retired, ...earlier].map(({ id }) => id)
  await sendRevocations(connection, queue, ids)
}

/**
 * Stores a refresh token whose grant changed during the refresh. After a sign-out it is revoked;
 * after a new sign-in it is stored as superseded, to be revoked at the next sign-out.
 */
export async function retireLateToken(
  connection: Queryable,
  queue: PgBoss,
  keys: EncryptionKeys,
  key: IdentityKey & { userId: number },
  refreshToken: string,
): Promise<void> {
  const { provider, subject, userId } = key
  const [row] = await connection.sql<{ id: string | null }>`
    SELECT retire_late_token(${provider}, ${subject}, ${userId},
      ${seal(keys, refreshToken, tokenBinding(key, 'refresh_token'))}) AS id`
  const id = row?.id ?? null
  if (id !== null) await sendRevocations(connection, queue, [id])
}

/** Enqueues the job that revokes each of these tokens at its provider. */
export async function sendRevocations(
  connection: Queryable,
  queue: PgBoss,
  revocationIds: readonly string[],
): Promise<void> {
  for (const revocationId of revocationIds) {
    await addJob(queue, connection, 'revoke-grant', { revocationId })
  }
}
