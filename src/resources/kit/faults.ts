import type { Resource } from './define.ts'
import { givenKeysOf } from './derived.ts'
import { shadowFaultsOf, unknownFaultsOf } from './field-faults.ts'
import { computedOf } from './fields/computed.ts'
import type { Field } from './fields/field.ts'
import { guardedOf } from './fields/guarded.ts'
import { membersOf, onLeaves } from './fields/keys/member.ts'
import { expansionOf, type OnDelete, onDeletes, referencesOf } from './fields/keys/reference.ts'
import { listFaultsOf } from './list-faults.ts'
import { memberCheckOf } from './names.ts'
import { ownFaultsOf } from './own-action.ts'
import { reservedFaultsOf } from './reserved-names.ts'
import { visibleFaultsOf } from './visible.ts'

/** The faults of a declaration that the compiler does not see. */
export function faultsOf(resource: Resource): string[] {
  const { name, plural, fields, scope, forServices, actions, events, worker } = resource
  const has = (key: string) => Object.hasOwn(fields, key)
  const keys = Object.keys(fields)
  const needsRole = Object.values(actions).some(({ permission }) => permission !== null)
  const reused = keys.find((key) => has(fields[key]?.renamedFrom ?? ''))
  const strange = keys.find((key) => !/^[a-z][A-Za-z0-9]*$/.test(key))
  const unnamed = Object.keys(events).find((event) => !/^[a-z]+(_[a-z]+)*$/.test(event))
  const shown = keys.filter((key) => !fields[key]?.isHidden)
  const silent = (['created', 'updated', 'deleted'] as const).find(
    (event) => Object.hasOwn(events, event) && actions[actionOfEvent[event]] === undefined,
  )
  const indelible =
    scope === 'owner' && Object.keys(events).length > 0 && resource.erased === null
      ? givenKeysOf(resource).find(
          (key) =>
            shown.includes(key) && fields[key]?.neutral === undefined && !fields[key]?.isCurrency,
        )
      : undefined
  const faults: [boolean, string][] = [
    [!/^[a-z]+(-[a-z]+)*$/.test(name), 'has a name that is not words with hyphens'],
    [
      !/^[a-z]+(_[a-z]+)*$/.test(plural),
      `has the plural ${plural}, which is not the name of a table`,
    ],
    [strange !== undefined, `has the field ${strange}, which is not the name of a column`],
    [
      reused !== undefined,
      `has the field ${reused} renamed from ${fields[reused ?? '']?.renamedFrom}, which is a field too`,
    ],
    [!has('id') || !has('createdAt'), 'needs the fields id and createdAt'],
    ...shadowFaultsOf(resource),
    [actions.update !== undefined && !has('updatedAt'), 'has an update and no field updatedAt'],
    [scope === 'owner' && !has('userId'), 'has the scope owner and no field userId'],
    [
      // They look for `"userId":1,` in the body (erase_events, export_sections).
      scope === 'owner' && Object.keys(events).length > 0 && !shown.slice(0, -1).includes('userId'),
      'has events and shows no userId before its last field, by which erasure and export find them',
    ],
    [
      indelible !== undefined,
      `publishes ${indelible} and does not say what replaces it when its owner is erased (erased)`,
    ],
    [
      scope === 'owner' && needsRole,
      'needs a role, which belongs to one tenant, for rows that an owner has in several',
    ],
    [scope === 'chain' && !has('folderId'), 'has the scope chain and no field folderId'],
    [
      scope === 'chain' && actions.create?.accepts?.includes('folderId') === false,
      'has the scope chain and creates rows without a folder',
    ],
    [
      scope === 'chain' && actions.update?.accepts?.includes('folderId') === true,
      'has the scope chain and an update of the folder, whose team the row keeps',
    ],
    [scope !== 'tenant' && forServices, `is for services, which have no ${scope}`],
    ...unknownFaultsOf(resource),
    ...planFaultsOf(resource),
    ...guardFaultsOf(resource),
    ...listFaultsOf(resource),
    ...visibleFaultsOf(resource),
    [unnamed !== undefined, `has the event ${unnamed}, which is not lower-case words`],
    [
      silent !== undefined && worker === '',
      `has the event ${silent} and no action that publishes it`,
    ],
    [
      worker !== '' && !/^[A-Z]+( \([a-z_, ]+\))?(, [A-Z]+( \([a-z_, ]+\))?)*$/.test(worker),
      `has the privileges ${worker} for workers, which GRANT does not take`,
    ],
  ]
  for (const { key, onDelete, isNullable } of referencesOf(fields))
    faults.push(...referenceFaultsOf(key, onDelete, isNullable, keys))
  faults.push(
    ...payloadFaultsOf(resource),
    ...ownFaultsOf(resource),
    ...computedFaultsOf(resource),
    ...memberFaultsOf(resource, keys),
  )
  faults.push(...resource.unique.map((key) => uniqueFaultOf(resource, key)))
  const unfit = keys.find((key) => fields[key]?.fault !== undefined)
  if (unfit !== undefined) faults.push([true, `has the field ${unfit} ${fields[unfit]?.fault}`])
  faults.push(...pageFaultsOf(resource), ...reservedFaultsOf(resource))
  return faults.flatMap(([isFault, words]) => (isFault ? [words] : []))
}

function planFaultsOf({ actions, own, forServices }: Resource): [boolean, string][] {
  const all = Object.values({ ...actions, ...own })
  return [
    [
      forServices && all.some(({ plan, feature }) => (plan ?? feature) !== undefined),
      'needs a plan, and is for services, which have none',
    ],
    [
      all.some(({ plan, feature }) => plan !== undefined && feature !== undefined),
      'needs a plan and a feature: name the feature, and the app says which plans have it',
    ],
  ]
}

/** Values of JSON and long texts have no order that an index could keep. */
function uniqueFaultOf(resource: Resource, key: readonly string[]): [boolean, string] {
  const { fields } = resource
  const isFit = ({ column, control }: Field) => column !== 'jsonb' && control?.as !== 'area'
  const strange = key.find((one) => {
    const field = fields[one]
    return field === undefined || !isFit(field)
  })
  if (key.length === 0) return [true, 'has a unique key of no fields']
  return [strange !== undefined, `has a unique key with ${strange}, which no index can have`]
}

function referenceFaultsOf(
  key: string,
  onDelete: OnDelete,
  isNullable: boolean,
  keys: readonly string[],
): [boolean, string][] {
  return [
    [!/.Id$/.test(key), `has the reference ${key}, whose name does not end in Id`],
    [
      keys.includes(expansionOf(key)),
      `has the reference ${key} and a field ${expansionOf(key)}, which an expanded response has for its row`,
    ],
    [
      !onDeletes.includes(onDelete),
      `has the reference ${key} with onDelete '${onDelete}': it is one of ${onDeletes.join(', ')}`,
    ],
    [
      onDelete === 'clear' && !isNullable,
      `has the reference ${key}, which is cleared and not optional`,
    ],
  ]
}

/** A list must not tell by its order or rows, nor a refusal by its key, what is in a field with a permission. */
function guardFaultsOf(resource: Resource) {
  const { scope, fields, filters, sort, search, visible, unique, page } = resource
  const ofVisible = visible?.fields.map(({ key }) => key) ?? []
  const telling = [...filters, ...sort, ...search, ...ofVisible, ...unique.flat(), page?.heading]
  return guardedOf(fields).flatMap(({ key, permission }): [boolean, string][] => [
    [
      telling.includes(key),
      `has the field ${key} with the permission ${permission}, and a filter, sort, search, unique key, heading or visible that tells it: leave it out there`,
    ],
    [
      scope === 'owner',
      `has the field ${key} with the permission ${permission} of a role, which belongs to one tenant, for rows that an owner has in several`,
    ],
    [
      fields[key]?.refersTo !== undefined || fields[key]?.isPerson === true,
      `has the field ${key} with a permission, and it refers to a row or person, whose lists would tell it`,
    ],
  ])
}

/** The database refuses to write a computed field, and computes none from another. */
function computedFaultsOf({ fields, actions, own }: Resource): [boolean, string][] {
  const acts = [actions.create, actions.update, ...Object.values(own)]
  const written = acts.flatMap((act) => [...(act?.accepts ?? []), ...(act?.sets ?? [])])
  return computedOf(fields).flatMap(({ key, reads }): [boolean, string][] => {
    const its = `has the computed field ${key}`
    const strange = reads.find((one) => fields[one] === undefined)
    const guarded = reads.find((one) => {
      const { permission } = fields[one] ?? {}
      return permission !== undefined && permission !== fields[key]?.permission
    })
    const chained = reads.find((one) => fields[one]?.computes !== undefined)
    return [
      [reads.length === 0, `${its}, whose expression takes no column from its argument`],
      [strange !== undefined, `${its}, which reads ${strange}, which is no field`],
      [chained !== undefined, `${its}, which reads ${chained}, which is computed too`],
      [
        guarded !== undefined,
        `${its}, which tells of ${guarded}: it needs the permission ${fields[guarded ?? '']?.permission} too`,
      ],
      [
        written.includes(key) || fields[key]?.initial !== undefined,
        `${its}, which an action or an initial value writes`,
      ],
    ]
  })
}

function memberFaultsOf({ plural, scope, fields }: Resource, keys: string[]): [boolean, string][] {
  return membersOf(fields).flatMap(({ key, name, isNullable, onLeave }): [boolean, string][] => [
    [!/.Id$/.test(key), `has the member ${key}, whose name does not end in Id`],
    [
      keys.includes(name),
      `has the member ${key} and a field ${name}, which an expanded response has for the person`,
    ],
    [
      !onLeaves.includes(onLeave),
      `has the member ${key} with onLeave '${onLeave}': it is one of ${onLeaves.join(', ')}`,
    ],
    [
      onLeave === 'clear' && !isNullable,
      `has the member ${key}, which is cleared when the person leaves and not optional: make it optional, or keep it`,
    ],
    [scope === 'owner', `has the member ${key}, and rows of an owner belong to no tenant alone`],
    [
      memberCheckOf({ plural }, key).length > 63,
      `has the member ${key}, whose check ${memberCheckOf({ plural }, key)} would have a name of more than 63 characters`,
    ],
  ])
}

/** A page asks for every field that an action accepts, so each needs an input, and shows no JSON. */
function pageFaultsOf({ scope, page, fields, actions, own }: Resource): [boolean, string][] {
  if (page === null) return []
  const acts = [actions.create, actions.update, ...Object.values(own)]
  const asked = acts.flatMap((action) => action?.accepts ?? [])
  const mute = asked.find((key) => {
    const { control = null } = fields[key] ?? {}
    // Only a chain knows the folders to choose from.
    return control === null || (control.offers === 'folders' && scope !== 'chain')
  })
  const raw = [page.heading, ...(page.columns ?? [])].find((key) => fields[key]?.onPage === null)
  const ofForms = asked.find((key) => formParameters.includes(key))
  return [
    [mute !== undefined, `has a page and no input for ${mute}`],
    [raw !== undefined, `has a page with the JSON of ${raw}`],
    [ofForms !== undefined, `has a page and a field ${ofForms}, which every form has for itself`],
  ]
}

/** An event with data of its own is not about the row alone, so nothing else may take its data for the row. */
function payloadFaultsOf({ scope, events, payloads, own }: Resource): [boolean, string][] {
  const ofActions = [
    'created',
    'updated',
    'deleted',
    ...Object.values(own).map(({ event }) => event),
  ]
  return Object.keys(payloads).flatMap((event): [boolean, string][] => [
    [!Object.hasOwn(events, event), `has a payload of ${event}, which is not among the events`],
    [
      ofActions.includes(event),
      `has a payload of ${event}, which an action publishes with the row`,
    ],
    [scope === 'owner', `has a payload of ${event}, in which an erasure would not find its owner`],
  ])
}

const formParameters = ['version', 'submission', 'sender', 'done', 'confirm']

const actionOfEvent = { created: 'create', updated: 'update', deleted: 'delete' } as const
