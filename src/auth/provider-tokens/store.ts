import type { GrantEnd, TokenKind, TokenSet } from '#src/auth/oidc/tokens/token-endpoint.ts'
import { type Binding, type EncryptionKeys, seal } from '#src/crypto/encryption.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { EncryptedColumns } from '#src/operations/key-rotation.ts'

/** A row of provider_grants with encrypted tokens. */
export type Grant = {
  userId: number
  accessToken: Buffer
  refreshToken: Buffer | null
  scope: string
  expiresAt: Date | null
  generation: number
  status: 'active' | 'needs-sign-in'
  refreshAttempt: string | null
  /**
   * The access token is valid for another minute, or for half its lifetime if that is shorter, by
   * database time.
   */
  fresh: boolean
}

// An access token is refreshed this long before it expires, because the API call takes time too.
const marginSeconds = 60

export async function findGrant(systemDb: Queryable, key: IdentityKey): Promise<Grant | null> {
  const [row] = await systemDb.sql<GrantRow>`
    SELECT * FROM find_grant(${key.provider}, ${key.subject}, ${marginSeconds})`
  if (row === undefined) return null
  return {
    userId: Number(row.user_id),
    accessToken: row.access_token,
    refreshToken: row.refresh_token,
    scope: row.scope,
    expiresAt: row.expires_at,
    generation: row.generation,
    status: row.status,
    refreshAttempt: row.refresh_attempt,
    fresh: row.fresh,
  }
}

type GrantRow = {
  user_id: string
  access_token: Buffer
  refresh_token: Buffer | null
  scope: string
  expires_at: Date | null
  generation: number
  status: Grant['status']
  refresh_attempt: string | null
  fresh: boolean
}

/**
 * Stores the tokens of a new authorization in the transaction of its sign-in. It replaces the
 * former grant and its scope. Without a new refresh token the former one stays unless it may have
 * been used: some providers issue one at the first consent only. A replaced refresh token is stored
 * as superseded until sign-out, because revoking it now would revoke the new one at some providers.
 */
export async function storeGrant(
  connection: Queryable,
  keys: EncryptionKeys,
  key: IdentityKey & { userId: number },
  tokens: TokenSet & { scope: string },
): Promise<void> {
  const { accessToken, refreshToken, scope, expiresIn } = sealTokens(keys, key, tokens)
  // Without the lock one of two concurrent sign-ins could overwrite the other's refresh token.
  await lockUntilCommit(connection, 'store-grant', key.provider, key.subject)
  await connection.sql`
    WITH former AS (
      SELECT refresh_token FROM provider_grants
      WHERE provider = ${key.provider} AND provider_user_id = ${key.subject}
        AND refresh_token IS NOT NULL AND NOT (
          ${refreshToken === null}::boolean AND status = 'active' AND refresh_attempt IS NULL)
      FOR UPDATE
    )
    INSERT INTO token_revocations (provider, provider_user_id, user_id, token, kind, status)
    SELECT ${key.provider}, ${key.subject}, ${key.userId}, refresh_token, 'refresh_token',
      'superseded' FROM former`
  await connection.sql`
    INSERT INTO provider_grants AS g
      (provider, provider_user_id, access_token, refresh_token, scope, issued_at, expires_at)
    VALUES (${key.provider}, ${key.subject}, ${accessToken}, ${refreshToken}, ${scope}, now(),
      now() + make_interval(secs => ${expiresIn}))
    ON CONFLICT (provider, provider_user_id) DO UPDATE SET
      access_token = excluded.access_token,
      refresh_token = CASE
        WHEN excluded.refresh_token IS NULL AND g.status = 'active' AND g.refresh_attempt IS NULL
        THEN g.refresh_token ELSE excluded.refresh_token END,
      scope = excluded.scope, issued_at = excluded.issued_at, expires_at = excluded.expires_at,
      generation = g.generation + 1,
      status = 'active', refresh_attempt = NULL, created_at = now(), updated_at = now()`
}

/**
 * Records that a refresh starts, before its token is sent; a transaction of its own.
 * @returns false if the grant has changed since it was read
 */
export async function markRefreshStarted(
  systemDb: Queryable,
  key: IdentityKey,
  generation: number,
  attempt: string,
): Promise<boolean> {
  const [row] = await systemDb.sql<{ marked: boolean }>`
    SELECT mark_refresh(${key.provider}, ${key.subject}, ${generation}, ${attempt}) AS marked`
  return row?.marked === true
}

/** Records that the provider did not use the refresh token. */
export async function clearRefreshStarted(systemDb: Queryable, key: IdentityKey, attempt: string) {
  await systemDb.sql`SELECT clear_refresh(${key.provider}, ${key.subject}, ${attempt})`
}

/**
 * Marks the grant as `needs-sign-in`. A refresh token that may have been used is kept only to be
 * revoked; one that the provider rejected is deleted.
 * @returns false if the grant has changed since the attempt started
 */
export async function endGrant(
  connection: Queryable,
  key: IdentityKey,
  attempt: string,
  reason: GrantEnd,
): Promise<boolean> {
  const [row] = await connection.sql<{ ended: boolean }>`
    SELECT end_refresh(${key.provider}, ${key.subject}, ${attempt},
      ${reason === 'refresh-rejected'}) AS ended`
  return row?.ended === true
}

/**
 * Stores the tokens of a refresh; a new refresh token replaces the old one in the same statement.
 * @returns false if the grant was replaced or deleted during the refresh
 */
export async function storeRefreshed(
  connection: Queryable,
  keys: EncryptionKeys,
  key: IdentityKey,
  attempt: string,
  tokens: TokenSet & { scope: string },
): Promise<boolean> {
  const { accessToken, refreshToken, scope, expiresIn } = sealTokens(keys, key, tokens)
  const [row] = await connection.sql<{ stored: boolean }>`
    SELECT store_refreshed(${key.provider}, ${key.subject}, ${attempt}, ${accessToken},
      ${refreshToken}, ${scope}, ${expiresIn}) AS stored`
  return row?.stored === true
}

function sealTokens(
  keys: EncryptionKeys,
  key: IdentityKey,
  tokens: TokenSet & { scope: string },
): { accessToken: Buffer; refreshToken: Buffer | null; scope: string; expiresIn: number | null } {
  const { accessToken, refreshToken, scope, expiresIn } = tokens
  return {
    accessToken: seal(keys, accessToken, tokenBinding(key, 'access_token')),
    refreshToken:
      refreshToken === null ? null : seal(keys, refreshToken, tokenBinding(key, 'refresh_token')),
    scope,
    expiresIn,
  }
}

export type IdentityKey = { provider: string; subject: string }

/** Binds an encrypted token to its identity and kind. */
export function tokenBinding({ provider, subject }: IdentityKey, kind: TokenKind): Binding {
  return ['provider-token', provider, subject, kind]
}

/** The columns with provider tokens, for key rotation. */
export const encryptedTokenColumns: readonly EncryptedColumns[] = [
  {
    table: 'provider_grants',
    key: ['provider', 'provider_user_id'],
    columns: ['access_token', 'refresh_token'],
    facts: [],
    binding: (row, column) => tokenBinding(ownerOf(row), kindOf(column)),
  },
  {
    table: 'token_revocations',
    key: ['id'],
    columns: ['token'],
    facts: ['provider', 'provider_user_id', 'kind'],
    binding: (row) => tokenBinding(ownerOf(row), kindOf(row.kind)),
  },
]

function ownerOf(row: Readonly<Record<string, unknown>>): IdentityKey {
  return { provider: String(row.provider), subject: String(row.provider_user_id) }
}

function kindOf(text: unknown): TokenKind {
  return text === 'access_token' ? 'access_token' : 'refresh_token'
}
