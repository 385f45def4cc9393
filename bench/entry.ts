import type { Member, Principal } from '#src/access/caller.ts'
import { enterCredential } from '#src/auth/sessions/enter.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { type Entry, refine } from '#src/db/entry.ts'

/** Inserts a session for each member of a tenant; `memberEntry` enters with it. `$1` is the tenant. */
export const insertSessions = `
  INSERT INTO sessions (id_hash, user_id, tenant_id, provider, authenticated_at, expires_at)
  SELECT sha256(sha256(convert_to('bench ' || user_id, 'UTF8'))), user_id, tenant_id, 'bench', now(),
         now() + interval '1 day'
  FROM memberships WHERE tenant_id = $1`

/** Opens a transaction as a member with a session of `insertSessions`. */
export function memberEntry(userId: number): Entry<Member> {
  const credential = { kind: 'session', hash: sha256(`bench ${userId}`) } as const
  const rules = { idleSeconds: 86_400, operators: new Set<string>(), onStale() {} }
  return refine<Principal | null, Member>(enterCredential(credential, rules), (caller) => {
    if (caller === null || caller.serviceId !== null || caller.tenantId === null) {
      throw new Error('The session is not live.')
    }
    return { ...caller, tenantId: caller.tenantId }
  })
}
