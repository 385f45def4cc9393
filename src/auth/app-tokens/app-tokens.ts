import { type AuditEntry, type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createdPosition, newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { isRecordedOperator, operatorNotRecorded } from '../operators/operators.ts'

/** The fields of an app token that an operator sets. */
export type AppTokenFacts = {
  name: string
  /** Of `appPermissions` in src/access/policy.ts. */
  permissions: readonly string[]
  /** In the future, at most `maxDays` ahead; null for `defaultDays`. */
  expiresAt: Date | null
}

/** An app token as operators see it. Times are RFC 3339 in UTC. */
export type AppToken = {
  id: string
  name: string
  permissions: string[]
  /** The operator who created it; null from the command line, or after their account was deleted. */
  createdBy: number | null
  createdAt: string
  expiresAt: string
  /** When it got its present secret, if that is not its first. */
  secretRotatedAt: string | null
  lastUsedAt: string | null
}

/** The token itself is returned only when it is created or rotated. */
export type AppTokenWithSecret = AppToken & { token: string }

/** An operator in a session, or without a user: the owner of the database on the command line. */
export type Operator = { readonly userId: number | null; readonly clientInfo: ClientInfo }

export const defaultDays = 90
export const maxDays = 366

/** App tokens of an installation, those that have expired included. */
export const maxAppTokens = 50

export const appTokenList = { name: 'app-tokens', forms: newestFirstForms }

// Not the hash.
const columns = Prisma.sql`
  id, name, permissions, created_by AS "createdBy", created_at AS "createdAt",
  expires_at AS "expiresAt", secret_rotated_at AS "secretRotatedAt", last_used_at AS "lastUsedAt"`

type AppTokenRow = Pick<AppToken, 'id' | 'name' | 'permissions'> & {
  createdBy: string | null
  createdAt: Date
  expiresAt: Date
  secretRotatedAt: Date | null
  lastUsedAt: Date | null
}

/** The app tokens, newest first. Expired ones are listed until the cleanup. */
export async function listAppTokens({ sql }: Queryable, page: Page) {
  const rows = await sql<AppTokenRow & { position: string }>`
    SELECT ${columns}, ${createdPosition} FROM app_tokens WHERE ${newestFirst(page)}`
  return pageOf(rows, page, appTokenList.name, ({ position, id }) => [position, id], toAppToken)
}

/** An app token; null if it is missing. */
export async function findAppToken({ sql }: Queryable, id: string): Promise<AppToken | null> {
  const [row] = await sql<AppTokenRow>`SELECT ${columns} FROM app_tokens WHERE id = ${id}::uuid`
  return row === undefined ? null : toAppToken(row)
}

/** The same, locked until the transaction ends. The lock waits for the writes of the app that are under way. */
export async function lockAppToken(tx: Queryable, id: string): Promise<AppToken | null> {
  await tx.sql`SELECT 1 FROM app_tokens WHERE id = ${id}::uuid FOR UPDATE`
  return findAppToken(tx, id)
}

/**
 * Creates an app token.
 * @throws Problem `forbidden` for an operator whom no worker has recorded yet, `malformed` if `expiresAt`
 *   is not within `maxDays`, `conflict` if there are `maxAppTokens` already
 */
export async function createAppToken(
  tx: Queryable,
  by: Operator,
  { name, permissions, expiresAt }: AppTokenFacts,
  now: Date,
): Promise<AppTokenWithSecret> {
  if (by.userId !== null && !(await isRecordedOperator(tx))) throw operatorNotRecorded()
  requireExpiry(expiresAt, now)
  // Without the lock, two requests at once could both see room for one more.
  await lockUntilCommit(tx, 'app-tokens')
  const [stored] = await tx.sql<{ tokens: number }>`SELECT count(*)::int AS tokens FROM app_tokens`
  if ((stored?.tokens ?? 0) >= maxAppTokens) {
    const detail = `There are ${maxAppTokens} app tokens, which is the most. Delete one first.`
    throw new Problem('conflict', { detail })
  }
  const secret = randomApiToken('app')
  const [created] = await tx.sql<AppTokenRow>`
    INSERT INTO app_tokens (hash, name, permissions, created_by, created_at, expires_at)
    VALUES (${hashOf(secret)}, ${name}, ${[...permissions]}, ${by.userId}, ${now},
            ${expiresAt ?? daysAfter(now, defaultDays)})
    RETURNING ${columns}`
  if (created === undefined) throw new Error('The app token was not stored.')
  await record(tx, by, 'app-token-create', reasonOf(by), created.id)
  return { ...toAppToken(created), token: secret }
}

/**
 * Changes the given fields. The next request of the app has the new permissions; a write that is under
 * way ends first.
 * @returns null if the token is missing
 * @throws Problem `malformed` if `expiresAt` is not within `maxDays`
 */
export async function changeAppToken(
  tx: Queryable,
  by: Operator,
  id: string,
  { name, permissions, expiresAt }: { [Field in keyof AppTokenFacts]?: AppTokenFacts[Field] },
  now: Date,
): Promise<AppToken | null> {
  requireExpiry(expiresAt ?? null, now)
  if ((await lockAppToken(tx, id)) === null) return null
  await tx.sql`
    UPDATE app_tokens SET name = coalesce(${name ?? null}, name),
      permissions = coalesce(${permissions ? [...permissions] : null}::text[], permissions),
      expires_at = coalesce(${expiresAt ?? null}::timestamptz, expires_at)
    WHERE id = ${id}::uuid`
  const changed = Object.entries({ name, permissions, expiresAt })
  const reason = changed.flatMap(([field, value]) => (value == null ? [] : [field])).join()
  await record(tx, by, 'app-token-change', reason, id)
  return findAppToken(tx, id)
}

/**
 * Gives the token a new secret; the previous one ends at once, after the writes that are under way.
 * The second of two concurrent rotations is refused, so that no operator is shown a secret that has ended.
 * @returns null if the token is missing
 * @throws Problem `conflict` if another request has rotated it since this one began
 */
export async function rotateAppToken(
  tx: Queryable,
  by: Operator,
  id: string,
): Promise<AppTokenWithSecret | null> {
  const secret = randomApiToken('app')
  const rotated = await tx.sql`
    UPDATE app_tokens SET hash = ${hashOf(secret)}, secret_rotated_at = clock_timestamp()
    WHERE id = ${id}::uuid AND coalesce(secret_rotated_at < now(), true) RETURNING id`
  const token = await findAppToken(tx, id)
  if (token === null) return null
  if (rotated.length === 0) {
    const detail = 'Another request has just rotated the secret, and has shown the new one.'
    throw new Problem('conflict', { detail })
  }
  await record(tx, by, 'app-token-rotate', reasonOf(by), id)
  return { ...token, token: secret }
}

/** Deletes a token; its next request is refused. False if it is missing. */
export async function deleteAppToken(tx: Queryable, by: Operator, id: string): Promise<boolean> {
  const deleted = await tx.sql`DELETE FROM app_tokens WHERE id = ${id}::uuid RETURNING id`
  if (deleted.length === 0) return false
  await record(tx, by, 'app-token-delete', reasonOf(by), id)
  return true
}

function reasonOf({ userId }: Operator): string {
  return userId === null ? 'command' : 'own-request'
}

function record(
  tx: Queryable,
  { userId, clientInfo }: Operator,
  action: AuditEntry['action'],
  reason: string,
  target: string,
): Promise<void> {
  return recordAudit(tx, { action, outcome: 'done', reason, userId, target }, clientInfo)
}

function hashOf(secret: string): Buffer {
  return Buffer.from(sha256(sha256(secret)))
}

function daysAfter(now: Date, days: number): Date {
  return new Date(now.getTime() + days * 86_400_000)
}

/** Null is the default. @throws Problem if the time is not within the next `maxDays` days */
function requireExpiry(expiresAt: Date | null, now: Date): void {
  if (expiresAt === null || (expiresAt > now && expiresAt <= daysAfter(now, maxDays))) return
  const detail = `expiresAt must be in the future, at most ${maxDays} days ahead.`
  throw new Problem('malformed', { detail })
}

function toAppToken(row: AppTokenRow): AppToken {
  return {
    id: row.id,
    name: row.name,
    permissions: row.permissions,
    createdBy: row.createdBy === null ? null : Number(row.createdBy),
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    secretRotatedAt: row.secretRotatedAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  }
}
