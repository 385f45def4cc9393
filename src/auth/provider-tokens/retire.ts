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
  const values = [owner.userId, owner.tenantId, only?.provider ?? null, only?.subject ?? null]
  const retired = await connection.query<{ id: string }>({
    text: `
      WITH gone AS (
        DELETE FROM provider_grants g USING oauth_identities i
        WHERE i.user_id = $1 AND g.provider = i.provider AND g.provider_user_id = i.provider_user_id
          AND ($3::text IS NULL OR (g.provider = $3 AND g.provider_user_id = $4))
        RETURNING g.*
      )
      INSERT INTO token_revocations
        (provider, provider_user_id, user_id, tenant_id, token, kind, status)
      SELECT provider, provider_user_id, $1, $2::uuid, coalesce(refresh_token, access_token),
             CASE WHEN refresh_token IS NULL THEN 'access_token' ELSE 'refresh_token' END, 'revoking'
      FROM gone RETURNING id`,
    values,
  })
  // A separate statement, so that it sees tokens of a refresh that was committed in between.
  const earlier = await connection.query<{ id: string }>({
    text: `
      UPDATE token_revocations SET status = 'revoking', tenant_id = $2::uuid
      WHERE user_id = $1 AND status IN ('superseded', 'failed')
        AND ($3::text IS NULL OR (provider = $3 AND provider_user_id = $4))
      RETURNING id`,
    values,
  })
  const ids = [...retired.rows, ...earlier.rows].map(({ id }) => id)
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
  const { rows } = await connection.query<{ id: string | null }>({
    text: 'SELECT retire_late_token($1, $2, $3, $4) AS id',
    values: [
      provider,
      subject,
      userId,
      seal(keys, refreshToken, tokenBinding(key, 'refresh_token')),
    ],
  })
  const id = rows[0]?.id ?? null
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
