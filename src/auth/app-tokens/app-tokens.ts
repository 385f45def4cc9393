import { type AuditEntry, type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { lastFourOf, randomApiToken } from '#src/crypto/api-token.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createdPosition, newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { isRecordedOperator, operatorNotRecorded } from '../operators/operators.ts'
import {
  alreadyRotated,
  changedFields,
  daysAfter,
  defaultDays,
  hashOf,
  type ProgramToken,
  type ProgramTokenChange,
  type ProgramTokenFacts,
  type ProgramTokenRow,
  type ProgramTokenWithSecret,
  requireExpiry,
  toProgramToken,
} from '../program-tokens/program-tokens.ts'

/** An operator in a session, or without a user: the owner of the database on the command line. */
export type Operator = { readonly userId: number | null; readonly clientInfo: ClientInfo }

/** App tokens that an installation can have, including expired ones. */
export const maxAppTokens = 50

export const appTokenList = { name: 'app-tokens', forms: newestFirstForms }

// Not the hash.
const columns = Prisma.sql`
  id, name, last_four AS "lastFour", permissions, created_by AS "createdBy", created_at AS "createdAt",
  expires_at AS "expiresAt", secret_rotated_at AS "secretRotatedAt", last_used_at AS "lastUsedAt"`

/** The app tokens, newest first. Expired ones are listed until the cleanup. */
export async function listAppTokens({ sql }: Queryable, page: Page) {
  const rows = await sql<ProgramTokenRow & { position: string }>`
    SELECT ${columns}, ${createdPosition} FROM app_tokens WHERE ${newestFirst(page)}`
  return pageOf(rows, page, appTokenList.name, ({ position, id }) => [position, id], toAppToken)
}

/** An app token; null if it is missing. */
export async function findAppToken({ sql }: Queryable, id: string): Promise<ProgramToken | null> {
  const [row] = await sql<ProgramTokenRow>`SELECT ${columns} FROM app_tokens WHERE id = ${id}::uuid`
  return row === undefined ? null : toAppToken(row)
}

function toAppToken(row: ProgramTokenRow): ProgramToken {
  return toProgramToken('app', row)
}

/** As findAppToken; locks the token until the transaction ends. The lock waits for unfinished writes with it. */
export async function lockAppToken(tx: Queryable, id: string): Promise<ProgramToken | null> {
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
  { name, permissions, expiresAt }: ProgramTokenFacts,
  now: Date,
): Promise<ProgramTokenWithSecret> {
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
  const [created] = await tx.sql<ProgramTokenRow>`
    INSERT INTO app_tokens (hash, last_four, name, permissions, created_by, created_at, expires_at)
    VALUES (${hashOf(secret)}, ${lastFourOf(secret)}, ${name}, ${[...permissions]}, ${by.userId}, ${now},
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
  change: ProgramTokenChange,
  now: Date,
): Promise<ProgramToken | null> {
  const { name, permissions, expiresAt } = change
  requireExpiry(expiresAt ?? null, now)
  if ((await lockAppToken(tx, id)) === null) return null
  await tx.sql`
    UPDATE app_tokens SET name = coalesce(${name ?? null}, name),
      permissions = coalesce(${permissions ? [...permissions] : null}::text[], permissions),
      expires_at = coalesce(${expiresAt ?? null}::timestamptz, expires_at)
    WHERE id = ${id}::uuid`
  await record(tx, by, 'app-token-change', changedFields(change), id)
  return findAppToken(tx, id)
}

/**
 * Gives the token a new secret; the previous one ends at once, after the writes that are under way.
 * @returns null if the token is missing
 * @throws Problem `conflict` if another request has rotated it since this one began
 */
export async function rotateAppToken(
  tx: Queryable,
  by: Operator,
  id: string,
): Promise<ProgramTokenWithSecret | null> {
  // What was written with the previous secret began before this time, which ends its links and sessions: an
  // UPDATE that waits for the row would have read the clock before.
  if ((await lockAppToken(tx, id)) === null) return null
  const secret = randomApiToken('app')
  const rotated = await tx.sql`
    UPDATE app_tokens SET hash = ${hashOf(secret)}, last_four = ${lastFourOf(secret)},
      secret_rotated_at = clock_timestamp()
    WHERE id = ${id}::uuid AND coalesce(secret_rotated_at < now(), true) RETURNING id`
  const token = await findAppToken(tx, id)
  if (token === null) return null
  if (rotated.length === 0) throw alreadyRotated()
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
