import { type AuditEntry, type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { hintOf, lastFourOf, randomApiToken, type TokenKind } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { type LockName, lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Tx } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createdPosition, newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'

/** What a token may do, `resource:action`; null only for an API token: all that its owner may. */
type Permissions = readonly string[] | null

/** The fields of a token that a person sets. */
export type TokenFacts<May extends Permissions = readonly string[]> = {
  name: string
  permissions: May
  /** In the future, at most `maxDays` ahead; null for `defaultDays`. */
  expiresAt: Date | null
}

export type TokenChange = { [Field in keyof TokenFacts]?: TokenFacts[Field] }

/** A token as the people who manage it see it. Times are RFC 3339 in UTC. */
export type Token<May extends Permissions = readonly string[]> = {
  id: string
  name: string
  /** Its prefix and last four characters. */
  hint: string
  permissions: May
  /** The creator of a service or app token; null from the command line, or after their account was deleted. */
  createdBy: number | null
  createdAt: string
  expiresAt: string
  /** When it got its present secret, if that is not its first. */
  secretRotatedAt: string | null
  lastUsedAt: string | null
}

/** The secret is returned only when the token is created or rotated. */
export type TokenWithSecret<May extends Permissions = readonly string[]> = Token<May> & {
  token: string
}

/** A person, or the owner of the database on the command line. */
type Author = { readonly userId: number | null; readonly clientInfo: ClientInfo }

/** One kind of tokens: where they are stored, whose they are, who may create them. */
export type Tokens<Scope, By extends Author, May extends Permissions = readonly string[]> = {
  readonly prefix: TokenKind
  readonly name: 'token' | 'service-token' | 'app-token'
  readonly list: { readonly name: string; readonly forms: readonly RegExp[] }
  readonly table: Prisma.Sql
  /** Reads `permissions`, `createdBy`, `secretRotatedAt` and `tenantId`, which are stored differently. */
  readonly columns: Prisma.Sql
  /** The condition for the tokens in reach. */
  within(scope: Scope): Prisma.Sql
  /** The most tokens in reach, including expired ones, and the lock under which they are counted. */
  readonly max: number
  readonly lock: LockName
  lockKey(by: By): readonly string[]
  /** `You have 50 API tokens`. */
  readonly full: string
  /** Columns of a new row besides those of every kind, and their values. */
  readonly more: Prisma.Sql
  valuesOf(by: By, facts: TokenFacts<May>): Prisma.Sql
  /** @throws Problem if this person cannot create such a token */
  admit?(tx: Queryable, by: By, facts: TokenFacts<May>): Promise<void>
  /** The reason of a creation in the audit log, if it is not who asked. */
  reasonOf?(facts: TokenFacts<May>): string
}

/** A kind whose tokens can be changed: those of programs. */
export type ProgramTokens<Scope, By extends Author> = Tokens<Scope, By> & {
  readonly name: 'service-token' | 'app-token'
  /** What a change sets besides the given fields; `permissions` are the new ones, null if they stay. */
  alsoSets?(permissions: readonly string[] | null): Prisma.Sql
}

export const defaultDays = 90
export const maxDays = 366
export const tokenListForms = newestFirstForms

/** A token as it is stored, without its hash. */
type TokenRow<May> = Pick<Token, 'id' | 'name'> & {
  permissions: May
  /** A 64-bit integer, as the driver returns it. */
  createdBy: string | null
  lastFour: string
  createdAt: Date
  expiresAt: Date
  secretRotatedAt: Date | null
  lastUsedAt: Date | null
  tenantId: string | null
}

const columns = Prisma.sql`
  id, name, last_four AS "lastFour", created_at AS "createdAt", expires_at AS "expiresAt",
  last_used_at AS "lastUsedAt"`

/** The tokens in reach, newest first. Expired ones are listed until the cleanup. */
export async function listTokens<Scope, By extends Author, May extends Permissions>(
  tokens: Tokens<Scope, By, May>,
  { sql }: Queryable,
  scope: Scope,
  page: Page,
) {
  const rows = await sql<TokenRow<May> & { position: string }>`
    SELECT ${columns}, ${tokens.columns}, ${createdPosition} FROM ${tokens.table}
    WHERE ${tokens.within(scope)} AND ${newestFirst(page)}`
  const positionOf = ({ position, id }: (typeof rows)[number]) => [position, id]
  return pageOf(rows, page, tokens.list.name, positionOf, (row) => toToken(tokens.prefix, row))
}

/** A token; null if it is missing or out of reach. */
export function findToken<Scope, By extends Author, May extends Permissions>(
  tokens: Tokens<Scope, By, May>,
  tx: Queryable,
  scope: Scope,
  id: string,
) {
  return readToken(tokens, tx, scope, id, Prisma.empty)
}

/**
 * As findToken; locks the token until the transaction ends. The lock waits for unfinished writes with it,
 * which hold a lock on the row.
 */
export function lockToken<Scope, By extends Author>(
  tokens: ProgramTokens<Scope, By>,
  tx: Queryable,
  scope: Scope,
  id: string,
) {
  return readToken(tokens, tx, scope, id, Prisma.sql`FOR UPDATE`)
}

async function readToken<Scope, By extends Author, May extends Permissions>(
  tokens: Tokens<Scope, By, May>,
  { sql }: Queryable,
  scope: Scope,
  id: string,
  lock: Prisma.Sql,
) {
  const [row] = await sql<TokenRow<May>>`
    SELECT ${columns}, ${tokens.columns} FROM ${tokens.table}
    WHERE ${tokens.within(scope)} AND id = ${id}::uuid ${lock}`
  return row === undefined ? null : toToken(tokens.prefix, row)
}

/**
 * Creates a token.
 * @throws Problem `forbidden` for who may not, `malformed` if `expiresAt` is not within `maxDays`,
 *   `conflict` if there are `max` already
 */
export async function createToken<Scope, By extends Scope & Author, May extends Permissions>(
  tokens: Tokens<Scope, By, May>,
  tx: Queryable,
  by: By,
  facts: TokenFacts<May>,
  now: Date,
): Promise<TokenWithSecret<May>> {
  const { name, permissions, expiresAt } = facts
  await tokens.admit?.(tx, by, facts)
  requireExpiry(expiresAt, now)
  // Without the lock, two requests at once could both see room for one more.
  await lockUntilCommit(tx, tokens.lock, ...tokens.lockKey(by))
  const stored = await tx.sql`SELECT FROM ${tokens.table} WHERE ${tokens.within(by)}`
  if (stored.length >= tokens.max) {
    throw new Problem('conflict', {
      detail: `${tokens.full}, which is the most. Delete one first.`,
    })
  }
  const secret = randomApiToken(tokens.prefix)
  const [created] = await tx.sql<TokenRow<May>>`
    INSERT INTO ${tokens.table}
      (${tokens.more}, hash, last_four, name, permissions, created_at, expires_at)
    VALUES (${tokens.valuesOf(by, facts)}, ${hashOf(secret)}, ${lastFourOf(secret)}, ${name},
            ${[...(permissions ?? [])]}, now(),
            coalesce(${expiresAt}::timestamptz, now() + make_interval(days => ${defaultDays})))
    RETURNING ${columns}, ${tokens.columns}`
  if (created === undefined) throw new Error('The token was not stored.')
  const reason = tokens.reasonOf?.(facts) ?? reasonOf(by)
  await record(tx, by, `${tokens.name}-create`, created, reason)
  return { ...toToken(tokens.prefix, created), token: secret }
}

/**
 * Changes the given fields. The next request with the token has the new permissions; a write that is
 * under way ends first.
 * @returns null if the token is missing or out of reach
 * @throws Problem `malformed` if `expiresAt` is not within `maxDays`
 */
export async function changeToken<Scope, By extends Scope & Author>(
  tokens: ProgramTokens<Scope, By>,
  tx: Queryable,
  by: By,
  id: string,
  change: TokenChange,
  now: Date,
) {
  const { name, permissions, expiresAt } = change
  requireExpiry(expiresAt ?? null, now)
  if ((await lockToken(tokens, tx, by, id)) === null) return null
  const [changed] = await tx.sql<TokenRow<readonly string[]>>`
    UPDATE ${tokens.table} SET name = coalesce(${name ?? null}, name),
      permissions = coalesce(${permissions ? [...permissions] : null}::text[], permissions),
      expires_at = coalesce(${expiresAt ?? null}::timestamptz, expires_at)
      ${tokens.alsoSets?.(permissions ?? null) ?? Prisma.empty}
    WHERE ${tokens.within(by)} AND id = ${id}::uuid RETURNING ${columns}, ${tokens.columns}`
  if (changed === undefined) return null
  const fields = Object.entries({ name, permissions, expiresAt })
  const reason = fields.flatMap(([field, value]) => (value == null ? [] : [field])).join()
  await record(tx, by, `${tokens.name}-change`, changed, reason)
  return toToken(tokens.prefix, changed)
}

/**
 * Gives the token a new secret; the previous one ends at once, after the writes that are under way.
 * @returns null if the token is missing or out of reach
 * @throws Problem `conflict` if another request has rotated it since this one began
 */
export async function rotateToken<Scope, By extends Scope & Author>(
  tokens: ProgramTokens<Scope, By>,
  tx: Queryable,
  by: By,
  id: string,
) {
  // What was written with the previous secret began before this time, which ends its links and sessions: an
  // UPDATE that waits for the row would have read the clock before.
  if ((await lockToken(tokens, tx, by, id)) === null) return null
  const secret = randomApiToken(tokens.prefix)
  const [rotated] = await tx.sql<TokenRow<readonly string[]>>`
    UPDATE ${tokens.table} SET hash = ${hashOf(secret)}, last_four = ${lastFourOf(secret)},
      secret_rotated_at = clock_timestamp()
    WHERE ${tokens.within(by)} AND id = ${id}::uuid AND coalesce(secret_rotated_at < now(), true)
    RETURNING ${columns}, ${tokens.columns}`
  // The second of two concurrent rotations is refused, so that no person is shown a secret that has ended.
  if (rotated === undefined) {
    const detail = 'Another request has just rotated the secret, and has shown the new one.'
    throw new Problem('conflict', { detail })
  }
  await record(tx, by, `${tokens.name}-rotate`, rotated, reasonOf(by))
  return { ...toToken(tokens.prefix, rotated), token: secret }
}

/** Ends a token without waiting for its writes. */
export async function expireToken<Scope>(
  tokens: ProgramTokens<Scope, Scope & Author>,
  tx: Queryable,
  scope: Scope,
  id: string,
): Promise<void> {
  await tx.sql`
    UPDATE ${tokens.table} SET expires_at = now()
    WHERE ${tokens.within(scope)} AND id = ${id}::uuid AND expires_at > now()`
}

/** Deletes a token; its next request is refused. False if it is missing or out of reach. */
export async function deleteToken<Scope, By extends Scope & Author, May extends Permissions>(
  tokens: Tokens<Scope, By, May>,
  tx: Queryable & Partial<Pick<Tx, 'deleteCredentials'>>,
  by: By,
  id: string,
): Promise<boolean> {
  const where = Prisma.sql`${tokens.within(by)} AND id = ${id}::uuid`
  const returning = Prisma.sql`${columns}, ${tokens.columns}`
  const [deleted] =
    (await tx.deleteCredentials?.<TokenRow<May>>(tokens.table, where, returning)) ??
    (await tx.sql<TokenRow<May>>`DELETE FROM ${tokens.table} WHERE ${where} RETURNING ${returning}`)
  if (deleted === undefined) return false
  await record(tx, by, `${tokens.name}-delete`, deleted, reasonOf(by))
  return true
}

function toToken<May extends Permissions>(prefix: TokenKind, row: TokenRow<May>): Token<May> {
  return {
    id: row.id,
    name: row.name,
    hint: hintOf(prefix, row.lastFour),
    permissions: row.permissions,
    createdBy: row.createdBy === null ? null : Number(row.createdBy),
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    secretRotatedAt: row.secretRotatedAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  }
}

/** The hash of a secret as it is stored. */
export function hashOf(secret: string): Buffer {
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

function reasonOf({ userId }: Author): string {
  return userId === null ? 'command' : 'own-request'
}

function record(
  tx: Queryable,
  { userId, clientInfo }: Author,
  action: AuditEntry['action'],
  { id, tenantId }: Pick<TokenRow<unknown>, 'id' | 'tenantId'>,
  reason: string,
): Promise<void> {
  const entry = { action, outcome: 'done', reason, userId, tenantId, target: id } as const
  return recordAudit(tx, entry, clientInfo)
}
