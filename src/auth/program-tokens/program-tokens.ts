import { hintOf, type TokenKind } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { Problem } from '#src/http/problems.ts'

/** The fields of a service or app token that a person sets. */
export type ProgramTokenFacts = {
  name: string
  /** Of `servicePermissions` or `appPermissions` in src/access/policy.ts. */
  permissions: readonly string[]
  /** In the future, at most `maxDays` ahead; null for `defaultDays`. */
  expiresAt: Date | null
}

export type ProgramTokenChange = { [Field in keyof ProgramTokenFacts]?: ProgramTokenFacts[Field] }

/** A service or app token as the people who manage it see it. Times are RFC 3339 in UTC. */
export type ProgramToken = {
  id: string
  name: string
  /** Its prefix and last four characters. */
  hint: string
  permissions: string[]
  /** The user who created it; null from the command line, or after their account was deleted. */
  createdBy: number | null
  createdAt: string
  expiresAt: string
  /** When it got its present secret, if that is not its first. */
  secretRotatedAt: string | null
  lastUsedAt: string | null
}

/** The token itself is returned only when it is created or rotated. */
export type ProgramTokenWithSecret = ProgramToken & { token: string }

export const defaultDays = 90
export const maxDays = 366

/** A token as it is stored, without its hash. */
export type ProgramTokenRow = Pick<ProgramToken, 'id' | 'name' | 'permissions'> & {
  /** A 64-bit integer, as Prisma or the driver returns it. */
  createdBy: bigint | string | null
  lastFour: string
  createdAt: Date
  expiresAt: Date
  secretRotatedAt: Date | null
  lastUsedAt: Date | null
}

export function toProgramToken(kind: TokenKind, row: ProgramTokenRow): ProgramToken {
  return {
    id: row.id,
    name: row.name,
    hint: hintOf(kind, row.lastFour),
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

export function daysAfter(now: Date, days: number): Date {
  return new Date(now.getTime() + days * 86_400_000)
}

/** Null is the default. @throws Problem if the time is not within the next `maxDays` days */
export function requireExpiry(expiresAt: Date | null, now: Date): void {
  if (expiresAt === null || (expiresAt > now && expiresAt <= daysAfter(now, maxDays))) return
  const detail = `expiresAt must be in the future, at most ${maxDays} days ahead.`
  throw new Problem('malformed', { detail })
}

/** The fields that a change sets, for the audit log. */
export function changedFields({ name, permissions, expiresAt }: ProgramTokenChange): string {
  const fields = Object.entries({ name, permissions, expiresAt })
  return fields.flatMap(([field, value]) => (value == null ? [] : [field])).join()
}

/** The second of two concurrent rotations is refused, so that no person is shown a secret that has ended. */
export function alreadyRotated(): Problem {
  const detail = 'Another request has just rotated the secret, and has shown the new one.'
  return new Problem('conflict', { detail })
}
