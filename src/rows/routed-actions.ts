import Type, { type TSchema } from 'typebox'
import { decide, type Subject } from '#src/access/policy.ts'
import { type Action, defineAction } from '#src/actions/action.ts'
import { type Actor, recordChange } from '#src/audit/audit.ts'
import { readId } from '#src/http/params.ts'
import { IdParams, means } from '#src/http/schemas.ts'
import { type Asking, wordsOf } from '#src/resources/kit/fields/field.ts'
import { aWord, tagOf, titleOf, wordOf } from '#src/resources/kit/names.ts'
import type { OwnActionDeclared } from '#src/resources/kit/own-action.ts'
import { inWords } from '#src/runtime/words.ts'
import { actionsOf } from './actions.ts'
import { seenBy } from './seen.ts'
import type { Declared, Values } from './table.ts'

/** Each action of the app's own on a row, for the adapters of the API and of pages. */
export function routedActionsOf(resource: Declared) {
  return Object.entries(resource.own).map(([name, declared]) => ({
    name,
    declared,
    action: routed(resource, name, declared),
  }))
}

function routed(
  resource: Declared,
  name: string,
  declared: OwnActionDeclared,
): Action<Asking, typeof IdParams> {
  const { lock, perform } = actionsOf(resource)
  const { summary = `${inWords(name)} ${aWord(resource)}`, description } = declared
  const body = bodyOf(resource, name, declared)
  return defineAction<Asking, typeof IdParams>({
    name: `${operationOf(name)}${resource.title}`,
    rule: { resource: resource.name, action: name },
    ...{ tag: tagOf(resource), summary, params: paramsOf(resource) },
    ...(description !== undefined && { description }),
    ...(body !== null && { body }),
    ...{ result: resource.shape, once: true, versioned: resource.shape },
    problems: [
      'quota-exceeded',
      ...(resource.unique.length === 0 ? [] : ['already-exists' as const]),
      ...(declared.run === undefined ? [] : ['conflict' as const]),
    ],
    async lock({ tx, by }, { id }) {
      const row = await lock(tx, by, readId(id))
      return row === null ? null : Object(seenBy(resource, by, row))
    },
    async run({ tx, by, now }, { params, body }) {
      const id = readId(params.id)
      const act = { tx, caller: by, now }
      const row = await perform(act, { name, id, body: (body ?? {}) as Values })
      const reason = `${resource.name}:${name}`
      await recordChange(tx, by as Actor, { action: 'row-action', reason, target: String(id) })
      return Object(row)
    },
  })
}

/** `closeTask` for the action `close`, `handOverTask` for `hand-over`. */
function operationOf(name: string): string {
  const title = titleOf(name)
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}`
}

/** The id in the path of a row. */
export function paramsOf(resource: Declared): typeof IdParams {
  const id = means(IdParams.properties.id, `\`id\` of the ${wordOf(resource)}`)
  return Type.Object({ id }, { additionalProperties: false })
}

/** A field as bodies have it. */
export function bodyFieldOf({ name, fields }: Declared, key: string) {
  const field = fields[key]
  if (field === undefined || field.written === null)
    throw new Error(`The resource ${name} accepts ${key}, which has no schema in bodies.`)
  const { written, initial, isNullable } = field
  return { written: means(written, wordsOf(field) ?? ''), initial, isNullable }
}

/** The fields that it accepts; null if it has no body. */
function bodyOf(resource: Declared, name: string, { accepts = [] }: OwnActionDeclared) {
  if (accepts.length === 0) return null
  const properties = accepts.map((key): [string, TSchema] => {
    const { isNullable, written } = bodyFieldOf(resource, key)
    return [key, isNullable ? Type.Optional(Type.Union([written, Type.Null()])) : written]
  })
  const title = `${titleOf(name)}${resource.title}`
  return Type.Object(Object.fromEntries(properties), { title, additionalProperties: false })
}

/**
 * The actions that the caller may carry out on the row as it is now.
 * @param teams of the caller, if `asksTeams`
 */
export function openActions(
  resource: Declared,
  caller: Asking & Subject,
  row: object,
  { now, teams }: { readonly now: Date; readonly teams: readonly number[] },
): string[] {
  return Object.keys(resource.own).filter((action) => {
    const question = { caller, resource: resource.name, action, object: row, now, teams }
    return decide(question).effect === 'allow'
  })
}

/** Whether a condition of an own action may need the teams of a caller. */
export function asksTeams({ own }: Declared): boolean {
  return Object.values(own).some(({ unless = [] }) => unless.some((one) => one.needsTeams === true))
}
