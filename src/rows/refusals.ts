import { isRefusedByPolicy, violatedConstraint } from '#src/db/errors.ts'
import { Problem } from '#src/http/problems.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { membersOf } from '#src/resources/kit/fields/keys/member.ts'
import { type Link, linksOf, uniqueKeysOf } from '#src/resources/kit/links.ts'
import { aWord, memberKeyOf, wordOf } from '#src/resources/kit/names.ts'
import { visiblePolicy } from '#src/resources/kit/visible.ts'
import { resources } from '#src/resources/running-app.ts'
import { capital } from '#src/runtime/words.ts'

/** The problem that a broken key of a resource means; null for any other error. */
export function refusalOf(
  resource: Pick<Resource, 'name' | 'plural' | 'scope' | 'unique' | 'fields'>,
  error: unknown,
  links: readonly Link[] = linksOf(resources),
): Problem | null {
  if (isRefusedByPolicy(error, visiblePolicy)) {
    const reason = 'row-not-visible'
    const detail = `You would not see this ${wordOf(resource)} any more.`
    return new Problem('forbidden', { reason, detail })
  }
  const constraint = violatedConstraint(error)
  if (constraint === null) return null
  if (constraint.isUnique) return repeated(resource, constraint.name)
  const stranger = membersOf(resource.fields).find(
    ({ key }) => memberKeyOf(resource, key) === constraint.name,
  )
  if (stranger !== undefined)
    return unknown(stranger.key, 'must be the id of a member of your tenant')
  const link = links.find(({ foreignKey }) => foreignKey.name === constraint.name)
  if (link === undefined) return null
  // If rows of a resource refer to each other, the row that is deleted may be of the same resource.
  if (link.from.name === resource.name && !constraint.isOfTarget) {
    return unknown(link.key, `must be the id of ${aWord(link.to)} that you can see`)
  }
  return new Problem('conflict', {
    detail: `${capital(link.from.plural.replaceAll('_', ' '))} refer to this ${wordOf(link.to)}. Delete them or let them refer to another one first.`,
  })
}

/** Null for a key that the resource does not declare, such as that of an event. */
function repeated(
  resource: Pick<Resource, 'name' | 'plural' | 'scope' | 'unique'>,
  name: string,
): Problem | null {
  const key = uniqueKeysOf(resource).find((one) => one.name === name)
  if (key === undefined) return null
  const others = key.keys.length === 1 ? '' : `, with the same ${key.keys.slice(1).join(', ')}`
  const detail = `is that of another ${wordOf(resource)}${others}`
  return new Problem('already-exists', {
    detail: `There is ${aWord(resource)} with the same ${key.keys.join(', ')} already.`,
    fields: key.keys.map((one) => ({ in: 'body' as const, pointer: `/${one}`, detail })),
  })
}

/** The problem for a row or person that is missing, and for one out of reach. */
function unknown(key: string, detail: string): Problem {
  return new Problem('malformed', {
    detail: `/${key} in the body ${detail}.`,
    fields: [{ in: 'body', pointer: `/${key}`, detail }],
  })
}
