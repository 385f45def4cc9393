/** Who a customer of the provider is: a person, or a tenant whose members share the plan. */
export type Holder = { readonly userId: number } | { readonly tenantId: string }

/** `user 7`, `tenant 0198…`: in audit entries and reasons. */
export function holderText(holder: Holder): string {
  return 'userId' in holder ? `user ${holder.userId}` : `tenant ${holder.tenantId}`
}

/** The two columns by which functions of the database take and return a holder. */
export function holderColumns(holder: Holder | null): {
  userId: number | null
  tenantId: string | null
} {
  return {
    userId: holder !== null && 'userId' in holder ? holder.userId : null,
    tenantId: holder !== null && 'tenantId' in holder ? holder.tenantId : null,
  }
}

/** The holder of such columns; null if both are NULL. */
export function holderOf(userId: string | number | null, tenantId: string | null): Holder | null {
  if (tenantId !== null) return { tenantId }
  return userId === null ? null : { userId: Number(userId) }
}

export function isSameHolder(one: Holder | null, other: Holder | null): boolean {
  return one !== null && other !== null && holderText(one) === holderText(other)
}
