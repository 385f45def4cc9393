import { grantableTo } from '#src/access/roles.ts'
import type { Device } from '#src/audit/audit.ts'
import { createToken, type NewToken } from '#src/auth/api-tokens/api-tokens.ts'
import type { Caller } from '#src/auth/sessions/caller.ts'
import type { IdentityPlane } from '#src/db/system-database.ts'
import { Refusal } from '#src/http/problems.ts'

/**
 * Makes an API token of the caller's, which can never have more than they have.
 * @returns the token with its secret, or null when `expiresAt` is not within the next 366 days
 * @throws Refusal when they are in no tenant, or want more than they have
 */
export async function createOwnToken(
  plane: IdentityPlane,
  { userId, tenantId, role }: Caller,
  wanted: NewToken,
  device: Device,
): ReturnType<typeof createToken> {
  if (tenantId === null) throw new Refusal('forbidden', { detail: 'You are in no tenant.' })
  const grantable = grantableTo(role)
  if (wanted.permissions?.some((permission) => !grantable.includes(permission))) {
    throw new Refusal('forbidden', { detail: 'A token cannot have more than you have.' })
  }
  return createToken(plane, { userId, tenantId }, wanted, device)
}
