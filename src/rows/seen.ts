import type { Subject } from '#src/access/policy.ts'
import { effectivePermissions } from '#src/access/roles.ts'
import { Problem } from '#src/http/problems.ts'
import { guardedOf } from '#src/resources/kit/fields/guarded.ts'
import type { Declared, Values } from './table.ts'

/* Fields with a permission: who lacks it neither sees nor writes them. */

/** What a decision needs. A caller without these facts has no permission. */
type Facts = Partial<Pick<Subject, 'role' | 'tokenPermissions'>>

/** The fields that the caller lacks the permission for. */
function unseenBy(resource: Declared, { role = null, tokenPermissions }: Facts) {
  const guarded = guardedOf(resource.fields)
  if (guarded.length === 0) return guarded
  const own = tokenPermissions === undefined ? [] : effectivePermissions(role, tokenPermissions)
  return guarded.filter(({ permission }) => !own.some((one) => one === permission))
}

/** The row as the caller may see it. */
export function seenBy<Item>(resource: Declared, caller: Facts, item: Item): Item {
  return without(
    item,
    unseenBy(resource, caller).map(({ key }) => key),
  )
}

/** The row as it is in events, which all receivers of the tenant may see. */
export function seenInEvents<Item>({ fields }: Declared, item: Item): Item {
  return without(
    item,
    guardedOf(fields).map(({ key }) => key),
  )
}

/** Whether the body has a field that the caller lacks the permission for. */
export function writesUnseen(resource: Declared, caller: Facts, body: Values): boolean {
  return unseenBy(resource, caller).some(({ key }) => body[key] !== undefined)
}

/** @throws Problem `forbidden` with each field that the caller lacks the permission for */
export function refuseUnseen(resource: Declared, caller: Facts, body: Values): void {
  const refused = unseenBy(resource, caller).filter(({ key }) => body[key] !== undefined)
  if (refused.length === 0) return
  const needed = refused.map(({ key, permission }) => `${key} needs ${permission}`)
  throw new Problem('forbidden', {
    reason: 'permission-missing',
    detail: `You lack the permission for a field: ${needed.join(', ')}.`,
    fields: refused.map(({ key, permission }) => ({
      ...{ in: 'body' as const, pointer: `/${key}`, detail: `needs the permission ${permission}` },
    })),
  })
}

function without<Item>(item: Item, keys: readonly string[]): Item {
  if (keys.length === 0 || item === null) return item
  const kept = Object.entries(Object(item)).filter(([key]) => !keys.includes(key))
  return Object.fromEntries(kept) as Item
}
