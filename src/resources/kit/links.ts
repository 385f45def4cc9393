import type { Resource } from './define.ts'
import { expansionOf, type OnDelete, referencesOf } from './fields/keys/reference.ts'
import { columnOf } from './names.ts'

/* What follows from the references between resources. */

/** A reference with both of its ends. */
export type Link = {
  readonly from: Resource
  readonly key: string
  readonly to: Resource
  readonly onDelete: OnDelete
  readonly isNullable: boolean
  /** The key in a response with `?expand=`. */
  readonly name: string
  readonly foreignKey: ForeignKey
}

/** As a migration has to create it. */
export type ForeignKey = {
  readonly name: string
  readonly columns: readonly string[]
  readonly targetColumns: readonly string[]
}

export function linksOf(resources: readonly Resource[]): Link[] {
  return resources.flatMap((from) =>
    referencesOf(from.fields).flatMap(({ key, name, onDelete, isNullable }) => {
      const to = resources.find((one) => one.name === name)
      if (to === undefined) return []
      return [{ ...{ from, key, to, onDelete, isNullable }, ...keysOf(from, key) }]
    }),
  )
}

/**
 * The tenant is part of every key, and the owner too where rows have one: a row never refers to a row
 * of another tenant or owner.
 */
function keysOf(resource: Resource, key: string) {
  const { plural } = resource
  const scoped = scopedColumnsOf(resource)
  const foreignKey = {
    name: `${plural}_${columnOf(key)}_fkey`,
    columns: [...scoped, columnOf(key)],
    targetColumns: [...scoped, 'id'],
  }
  return { name: expansionOf(key), foreignKey }
}

/** @throws Error if a reference leads nowhere, or where its row must not lead */
export function checkLinks(resources: readonly Resource[]): void {
  for (const from of resources) {
    for (const { key, name, isNullable } of referencesOf(from.fields)) {
      const to = resources.find((one) => one.name === name)
      const fault = faultOf(from, to, name) ?? nameFaultOf(keysOf(from, key).foreignKey.name)
      if (fault !== null)
        throw new Error(`The resource ${from.name} has the field ${key}, ${fault}.`)
      if (to === from && !isNullable) {
        throw new Error(
          `The resource ${from.name} has the field ${key}, which refers to itself: the first row needs it to be optional.`,
        )
      }
    }
  }
  for (const resource of resources) {
    const long = uniqueKeysOf(resource).find(({ name }) => name.length > maxName)
    if (long !== undefined) {
      throw new Error(
        `The resource ${resource.name} has a unique key whose name ${long.name} is longer than ${maxName} characters.`,
      )
    }
  }
  const cycle = resources.find((one) => isRequiredBy(one, one, resources))
  if (cycle !== undefined) {
    throw new Error(
      `The resource ${cycle.name} needs a row that needs one of its own: make a reference between them optional.`,
    )
  }
}

function faultOf(from: Resource, to: Resource | undefined, name: string): string | null {
  if (to === undefined) return `which refers to ${name}: there is no such resource`
  if (to.scope === 'chain') {
    return `which refers to ${to.plural}: that one exists is known to its team alone`
  }
  if (to.visible !== undefined) {
    return `which refers to ${to.plural}: that one exists is known to those who see it alone`
  }
  if (to.scope === from.scope) return null
  return `which refers to ${to.plural} of the scope ${to.scope}: both need the scope owner or tenant`
}

const maxName = 63 // PostgreSQL cuts off the end of a longer one

function nameFaultOf(name: string): string | null {
  return name.length <= maxName
    ? null
    : `whose key ${name} would have a name of ${name.length} characters: ${maxName} at most`
}

/** Whether a row of `one` can only exist after a row of `wanted`. */
function isRequiredBy(
  one: Resource,
  wanted: Resource,
  resources: readonly Resource[],
  seen: readonly Resource[] = [],
): boolean {
  return referencesOf(one.fields).some(({ name, isNullable }) => {
    const to = resources.find((other) => other.name === name)
    if (to === undefined || isNullable || seen.includes(to)) return false
    return to === wanted || isRequiredBy(to, wanted, resources, [...seen, to])
  })
}

/** The columns that a row of a resource belongs to: every key between rows of the scope begins with them. */
export function scopedColumnsOf({ scope }: Pick<Resource, 'scope'>): string[] {
  return scope === 'owner' ? ['tenant_id', 'user_id'] : ['tenant_id']
}

/** A unique key, with the name by which a program knows which one was broken. */
export function uniqueKeysOf(resource: Pick<Resource, 'plural' | 'scope' | 'unique'>) {
  return resource.unique.map((keys) => ({
    keys,
    columns: [...scopedColumnsOf(resource), ...keys.map(columnOf)],
    name: `${resource.plural}_${keys.map(columnOf).join('_')}_key`,
  }))
}

/** The resources in an order in which each comes after those that its rows need. */
export function inOrderOfNeed(resources: readonly Resource[]): Resource[] {
  const placed: Resource[] = []
  const place = (one: Resource) => {
    if (placed.includes(one)) return
    for (const { to, isNullable } of linksOf(resources).filter(({ from }) => from === one)) {
      if (!isNullable && to !== one) place(to)
    }
    placed.push(one)
  }
  resources.forEach(place)
  return placed
}
