import { uuidForm } from '#src/http/schemas.ts'
import { objectIn } from '../event.ts'
import { type Holder, holderOf } from '../holder.ts'

/** Marks an object at the provider as created by this installation for a user or a tenant. */
export function markOf(holder: Holder, baseUrl: string): Record<string, string> {
  return {
    ...('userId' in holder
      ? { gatehouse_user: String(holder.userId) }
      : { gatehouse_tenant: holder.tenantId }),
    gatehouse_origin: baseUrl,
  }
}

/** Who such a mark is for; null for an object that this installation has not created. */
export function readMark(mark: unknown, baseUrl: string): Holder | null {
  const { gatehouse_user: user, gatehouse_tenant: tenant, gatehouse_origin } = objectIn(mark)
  if (gatehouse_origin !== baseUrl) return null
  const isUser = typeof user === 'string' && /^[1-9]\d*$/.test(user)
  const userId = isUser && Number.isSafeInteger(Number(user)) ? user : null
  const tenantId = typeof tenant === 'string' && uuidForm.test(tenant) ? tenant : null
  // Of two holders neither is right.
  return userId !== null && tenantId !== null ? null : holderOf(userId, tenantId)
}
