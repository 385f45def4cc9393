import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { Enqueue } from '../define-job.ts'
import type { Asking, Field, Fields } from './fields/field.ts'
import { guardedOf } from './fields/guarded.ts'
import { membersOf } from './fields/keys/member.ts'
import { expansionOf, type OnDelete, referencesOf } from './fields/keys/reference.ts'
import { listFaultsOf } from './list-faults.ts'
import { type OwnAction, type OwnActionDeclared, ownFaultsOf } from './own-action.ts'
import { type Visible, visibleFaultsOf } from './visible.ts'

/** What a role may do: `resource:action`, such as `post:read`. */
export type Permission = `${string}:${string}`

/**
 * Who reaches a row: its owner, in every tenant; the members of its tenant; or, within the tenant, the
 * members of the team that its folder belongs to.
 */
export type Scope = 'owner' | 'tenant' | 'chain'

export type ActionName = 'read' | 'create' | 'update' | 'delete'

/** Who asks, as a condition on an action sees them. */
export type ConditionCaller = Asking & {
  /** Of a person a session or an API token, and of a program its service token. */
  readonly credential: 'session' | 'token' | 'service'
}

type Forbids<Row, Caller> = (question: {
  readonly caller: Caller
  readonly object: Row
  readonly now: Date
}) => boolean

/** Forbids an action on a row that everything else allows. */
export type Condition<Row = never> = {
  /** In the log. */
  readonly name: string
  /** In docs/access.md, the API description and on the page: when the action is allowed. */
  readonly words: string
  /** For the caller who is refused. */
  readonly detail: string
  /** Callers that the condition can refuse; all unless given. For others the row is not read before its change. */
  readonly appliesTo?: (caller: Asking) => boolean
} & (
  | { readonly needsTeams?: false; readonly forbids: Forbids<Row, ConditionCaller> }
  | {
      /** `caller.teams` has the ids of the caller's teams, which are read for this condition; empty for a program. */
      readonly needsTeams: true
      readonly forbids: Forbids<Row, ConditionCaller & { readonly teams: readonly number[] }>
    }
)

/** What a limited token can be given for a resource, beside the permissions of roles. */
export type TokenPermission<Name extends string = string> =
  | Permission
  | `${Name}:read`
  | `${Name}:write`

/** Who may do it, by role and by limited token. Without `token` the token needs what the role needs. */
export type Allowed<Name extends string> = {
  readonly summary?: string
  readonly description?: string
  /** The plan that the person needs, or several of which they need one. */
  readonly plan?: string | readonly string[]
  /** The feature that the plan of the person must have, which the app gives to plans. */
  readonly feature?: string
} & (
  | { readonly permission: Permission; readonly token?: TokenPermission<Name> }
  | { readonly permission: null; readonly token: TokenPermission<Name> }
)

/** The schema of a row in responses and events. */
export type Shape<F extends Fields> = TObject<{
  -readonly [Key in keyof F as F[Key] extends { isHidden: true } ? never : Key]: F[Key]['shown']
}>
/** A row as responses and events show it. */
export type RowOf<F extends Fields> = Static<Shape<F>>

/** The fields that a body can have. */
export type Writable<F extends Fields> = {
  [Key in keyof F & string]: F[Key]['written'] extends TSchema ? Key : never
}[keyof F & string]

type Written<One extends Field> = One['written'] extends TSchema ? Static<One['written']> : never
type MayBeMissing<One extends Field> = One extends { isNullable: true } | { initial: () => unknown }
  ? true
  : false

type NewValues<F extends Fields, Key extends keyof F> = {
  [K in Key as MayBeMissing<F[K]> extends true ? never : K]: Written<F[K]>
} & { [K in Key as MayBeMissing<F[K]> extends true ? K : never]?: Written<F[K]> }

export type ChangedValues<F extends Fields, Key extends keyof F> = {
  [K in Key]?: Written<F[K]> | (F[K]['isNullable'] extends true ? null : never)
}

/** Columns that an override writes: what bodies have, and `sets`. */
export type Values<F extends Fields, Key extends keyof F> = {
  [K in Key]?: Static<F[K]['shown']> | Date | null | undefined
}

/** What an override works with, in the transaction of the action. */
export type Act<F extends Fields, Event extends string> = {
  readonly tx: {
    sql<Row extends object>(text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>
  }
  readonly caller: Asking
  readonly now: Date
  /** @param data the row, or what the schema in `payloads` describes */
  publish(event: Event, data: RowOf<F> | Readonly<Record<string, unknown>>): Promise<void>
  /** Adds a job of the app in the tenant of the row. */
  readonly enqueue: Enqueue
  /**
   * Ends the action: nothing of it is left, and the caller gets the detail, as 409 `conflict`, or as 400 at the
   * pointer of a field of the body.
   */
  refuse(detail: string, field?: keyof F & string): never
}

type Initial<F extends Fields> = {
  [Key in keyof F]: F[Key] extends { initial: () => unknown } ? Key : never
}[keyof F]

/** A resource as it is declared. An action that is missing has no route, no rule and no privilege. */
type Declaration<
  Name extends string,
  F extends Fields,
  New extends string,
  Changed extends string,
  Event extends string,
  Set extends string,
  ChangedSet extends string,
> = {
  /** The table, and with hyphens the path. */
  readonly plural: string
  /** The table before, if `plural` has changed: it is renamed instead of replaced. */
  readonly renamedFrom?: string
  readonly scope: Scope
  /** Service tokens can be given its permissions. Only for the scope `tenant`. */
  readonly forServices?: boolean
  /** In the order of the response. */
  readonly fields: F
  readonly filters?: readonly (keyof F & string)[]
  /** Fields by which lists can be sorted, beside `createdAt`. Each needs an index. */
  readonly sort?: readonly (keyof F & string)[]
  /** Fields of one line whose words a list can be searched for. */
  readonly search?: readonly (keyof F & string)[]
  /** Which members see a row; all of those who may read the resource unless given. Only for the scope `tenant`. */
  readonly visible?: Visible<keyof F & string>
  /** Fields whose values together occur once, in the tenant or with the owner. A second row is a 409. */
  readonly unique?: readonly (readonly (keyof F & string)[])[]
  readonly actions: {
    readonly read: Allowed<Name>
    readonly create?: Allowed<Name> & {
      readonly accepts: readonly New[]
      /** Further columns that `run` sets. */
      readonly sets?: readonly Set[]
      run?(
        act: Act<F, Event> & {
          create(values: Values<F, New | Set | Initial<F>>): Promise<RowOf<F>>
        },
        body: NewValues<F, New>,
      ): Promise<RowOf<F>>
    }
    readonly update?: Allowed<Name> & {
      readonly accepts: readonly Changed[]
      /** Further columns that `run` sets. */
      readonly sets?: readonly ChangedSet[]
      readonly unless?: readonly Condition<RowOf<F>>[]
      run?(
        act: Act<F, Event> & { update(values: Values<F, Changed | ChangedSet>): Promise<RowOf<F>> },
        body: ChangedValues<F, Changed>,
        before: RowOf<F>,
      ): Promise<RowOf<F>>
    }
    readonly delete?: Allowed<Name> & {
      readonly unless?: readonly Condition<RowOf<F>>[]
      run?(act: Act<F, Event> & { delete(): Promise<void> }, before: RowOf<F>): Promise<void>
    }
  }
  /** Actions of its own on a row, by names of words with hyphens: `close` is `POST /tasks/:id/close`. */
  readonly own?: Readonly<Record<string, OwnAction<Name, F, NoInfer<Event>>>>
  /** What has happened, by the last part of the type. The actions publish `created`, `updated`, `deleted`. */
  readonly events?: Readonly<Record<Event, string>>
  /** The data of events that `run` publishes with `publish`, where it is not the row. */
  readonly payloads?: { readonly [One in NoInfer<Event>]?: TObject }
  /** Fields of the example of an event. The others have what their schema allows. */
  readonly example?: { readonly [Key in keyof RowOf<F>]?: RowOf<F>[Key] }
  /**
   * What replaces fields in the events of a row whose owner was erased; by default everything that the owner
   * wrote is replaced by a neutral value of its kind.
   */
  readonly erased?: { readonly [Key in keyof RowOf<F>]?: RowOf<F>[Key] }
  /** Privileges of the worker role on the table. */
  readonly worker?: string
  /** Pages on which people list, read and write the rows. */
  readonly page?: Page<Extract<keyof RowOf<F>, string>>
}

/** Beside a page in the navigation. */
export type PageIcon = 'list' | 'document' | 'box' | 'folder' | 'stack' | 'clock' | 'people'

/** The pages of a resource. */
export type Page<Key extends string = string> = {
  /** In the navigation, and the heading of the list. */
  readonly label: string
  readonly icon?: PageIcon
  /** One sentence below the heading of the list. */
  readonly lead?: string
  /** The field that names a row, and the further columns of the list. */
  readonly heading: Key
  readonly columns?: readonly Key[]
  /** Labels of fields that are not their names in words. */
  readonly labels?: { readonly [One in Key]?: string }
  /** The heading and the button of the form for a new row. */
  readonly create?: { readonly heading: string; readonly button: string }
}

/** An action without the types of its resource. */
export type Action = Allowed<string> & {
  readonly accepts?: readonly string[]
  readonly sets?: readonly string[]
  readonly unless?: readonly Condition[]
  run?(act: object, ...given: object[]): Promise<unknown>
}

/** A resource without the types of its declaration: what the program reads. */
export type Resource = {
  /** Of its schema and in operation ids: `BlogPost` of `blog-post`. */
  readonly title: string
  readonly name: string
  readonly plural: string
  readonly renamedFrom?: string
  readonly scope: Scope
  readonly forServices: boolean
  readonly fields: Fields
  readonly filters: readonly string[]
  readonly sort: readonly string[]
  readonly search: readonly string[]
  readonly visible?: Visible
  readonly unique: readonly (readonly string[])[]
  readonly actions: { readonly [Name in ActionName]?: Action }
  readonly own: Readonly<Record<string, OwnActionDeclared>>
  readonly events: Readonly<Record<string, string>>
  readonly payloads: Readonly<Record<string, TObject>>
  readonly example: object
  readonly erased: object | null
  readonly worker: string
  readonly page: Page | null
  /** The schema of a row. */
  readonly shape: TObject
  /** The schema of a row in events, which have no field that needs a permission. */
  readonly eventShape: TObject
}

/** A resource with the types of its name, its rows and its events. */
export type Typed<Name extends string, F extends Fields, Event extends string> = Omit<
  Resource,
  'name' | 'shape' | 'events'
> & {
  readonly name: Name
  readonly shape: Shape<F>
  readonly events: Readonly<Record<Event, string>>
}

/**
 * Declares a resource: its rules, privileges, routes, events and pages follow from it.
 * @param name in rules, events and permissions: words with hyphens
 * @throws if the declaration contradicts itself
 */
export function defineResource<
  const Name extends string,
  F extends Fields,
  const New extends Writable<F> = never,
  const Changed extends Writable<F> = never,
  const Event extends string = never,
  const Set extends keyof F & string = never,
  const ChangedSet extends keyof F & string = never,
>(
  name: Name,
  declaration: Declaration<Name, F, New, Changed, Event, Set, ChangedSet>,
): Typed<Name, F, Event> {
  const {
    forServices = false,
    filters = [],
    sort = [],
    search = [],
    unique = [],
    own = {},
    payloads = {},
    example = {},
    worker = '',
    ...rest
  } = declaration
  const { page = null, erased = null } = declaration
  const fields: Fields = declaration.fields
  const title = titleOf(name)
  const shown = Object.entries(fields).filter(([, { isHidden }]) => !isHidden)
  const shape = Object.fromEntries(shown.map(([key, one]) => [key, one.shown]))
  const whole = Type.Object(shape, { title })
  const guarded = guardedOf(fields).map(({ key }) => key)
  const told = Object.fromEntries(Object.entries(shape).filter(([key]) => !guarded.includes(key)))
  const resource = {
    ...rest,
    ...{ name, title, fields, forServices, filters, sort, search, unique },
    ...{ own, payloads, example, erased, worker, page },
    events: declaration.events ?? {},
    shape: whole,
    eventShape: guarded.length === 0 ? whole : Type.Object(told, { title: `Published${title}` }),
  } as unknown as Resource & Typed<Name, F, Event>
  const [fault] = faultsOf(resource)
  if (fault !== undefined) throw new Error(`The resource ${name} ${fault}.`)
  return resource
}

/** The faults of a declaration that the compiler does not see. */
function faultsOf(resource: Resource): string[] {
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
      ? [...(actions.create?.accepts ?? []), ...(actions.update?.accepts ?? [])].find(
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
    ...planFaultsOf(resource),
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
    ...guardFaultsOf(resource),
    ...memberFaultsOf(resource, keys),
  )
  faults.push(...resource.unique.map((key) => uniqueFaultOf(resource, key)))
  const unfit = keys.find((key) => fields[key]?.fault !== undefined)
  if (unfit !== undefined) faults.push([true, `has the field ${unfit} ${fields[unfit]?.fault}`])
  faults.push(...pageFaultsOf(resource))
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
      `has the field ${key} with the permission ${permission}, and a filter, sort, search, unique key or heading that tells it`,
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

function memberFaultsOf({ plural, scope, fields }: Resource, keys: string[]): [boolean, string][] {
  return membersOf(fields).flatMap(({ key, name, isNullable, onLeave }): [boolean, string][] => [
    [!/.Id$/.test(key), `has the member ${key}, whose name does not end in Id`],
    [
      keys.includes(name),
      `has the member ${key} and a field ${name}, which an expanded response has for the person`,
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

/** The path of a resource in the API. */
export function pathOf({ plural }: Pick<Resource, 'plural'>): string {
  return `/${plural.replaceAll('_', '-')}`
}

/** Its tag in the API description, and the path of its page in the reference. */
export function tagOf({ plural }: Pick<Resource, 'plural'>): string {
  return plural.replaceAll('_', '-')
}

/** The path of its list in a browser. */
export function pagePathOf(resource: Pick<Resource, 'plural'>): string {
  return `/app${pathOf(resource)}`
}

/** The heading and the button of the form for a new row. */
export function creationOf(resource: Pick<Resource, 'name' | 'page'>) {
  const word = wordOf(resource)
  return resource.page?.create ?? { heading: `New ${word}`, button: `Create ${word}` }
}

/** `BlogPost` of `blog-post`: its schema in the API description, and in the ids of its operations. */
export function titleOf(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

/** The name of a resource in a sentence. */
export function wordOf({ name }: Pick<Resource, 'name'>): string {
  return name.replaceAll('-', ' ')
}

/** The name of a resource in a sentence with its article: `an order`. */
export function aWord(resource: Pick<Resource, 'name'>): string {
  const word = wordOf(resource)
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`
}

/** The function and the trigger by which the database checks that a field names a member. */
export function memberCheckOf({ plural }: Pick<Resource, 'plural'>, key: string): string {
  return `check_${plural}_${columnOf(key)}`
}

/** The key that is broken by a field which names no member. */
export function memberKeyOf({ plural }: Pick<Resource, 'plural'>, key: string): string {
  return `${plural}_${columnOf(key)}_fkey`
}

/** The column of a field: `author_id` of `authorId`. */
export function columnOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
