import { rolesWith } from '#src/access/roles.ts'
import type { TenantScope, Tx } from '#src/db/database.ts'

const maxManagers = 50

/** Verified addresses of those in the tenant who manage it (permission `user:manage`). */
export async function listManagerAddresses(tx: Tx, { tenantId }: TenantScope): Promise<string[]> {
  const rows = await tx.membership.findMany({
    where: {
      tenantId,
      role: { in: rolesWith('user:manage') },
      user: { emailVerified: true, email: { not: null } },
    },
    orderBy: { userId: 'asc' },
    take: maxManagers,
    select: { user: { select: { email: true } } },
  })
  return rows.flatMap(({ user }) => (user.email === null ? [] : [user.email]))
}
