import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { Enqueue } from '../define-job.ts'
import type { EventData, Payloads } from './event-data.ts'
import { faultsOf } from './faults.ts'
import type { Asking, Field, Fields } from './fields/field.ts'
import { guardedOf } from './fields/guarded.ts'
import { titleOf } from './names.ts'
import type { OwnAction, OwnActionDeclared } from './own-action.ts'
import { requireResourceOptions } from './resource-options.ts'
import type { Visible } from './visible.ts'

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
export type Act<F extends Fields, Event extends string, P extends Payloads = Payloads<never>> = {
  readonly tx: {
    sql<Row extends object>(text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>
  }
  readonly caller: Asking
  readonly now: Date
  /** @param data the row, or what the schema in `payloads` describes */
  publish<One extends Event>(event: One, data: EventData<P, One, RowOf<F>>): Promise<void>
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
  OwnAccepted extends Writable<F>,
  OwnSet extends keyof F & string,
  P extends Payloads,
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
  /** Fields of text whose words a list can be searched for. Each write of a row writes its words too. */
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
        act: Act<F, Event, P> & {
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
        act: Act<F, Event, P> & {
          update(values: Values<F, Changed | ChangedSet>): Promise<RowOf<F>>
        },
        body: ChangedValues<F, Changed>,
        before: RowOf<F>,
      ): Promise<RowOf<F>>
    }
    readonly delete?: Allowed<Name> & {
      readonly unless?: readonly Condition<RowOf<F>>[]
      run?(act: Act<F, Event, P> & { delete(): Promise<void> }, before: RowOf<F>): Promise<void>
    }
  }
  /** Actions of its own on a row, by names of words with hyphens: `close` is `POST /tasks/:id/close`. */
  readonly own?: Readonly<
    Record<
      string,
      OwnAction<
        Name,
        F,
        NoInfer<Event>,
        OwnAccepted,
        OwnSet,
        Extract<Changed | ChangedSet, keyof F>,
        P
      >
    >
  >
  /** What has happened, by the last part of the type. The actions publish `created`, `updated`, `deleted`. */
  readonly events?: Readonly<Record<Event, string>>
  /** The data of events that `run` publishes with `publish`, where it is not the row. */
  readonly payloads?: P & {
    readonly [One in keyof P]: One extends NoInfer<Event> ? unknown : never
  }
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
export type Typed<
  Name extends string,
  F extends Fields,
  Event extends string,
  P extends Payloads = Payloads<never>,
> = Omit<Resource, 'name' | 'shape' | 'events' | 'payloads'> & {
  readonly name: Name
  readonly shape: Shape<F>
  readonly payloads: P
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
  const OwnAccepted extends Writable<F> = never,
  const OwnSet extends keyof F & string = never,
  P extends Payloads = Payloads<never>,
>(
  name: Name,
  declaration: Declaration<Name, F, New, Changed, Event, Set, ChangedSet, OwnAccepted, OwnSet, P>,
): Typed<Name, F, Event, P> {
  requireResourceOptions(name, declaration)
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
  } as unknown as Resource & Typed<Name, F, Event, P>
  const [fault] = faultsOf(resource)
  if (fault !== undefined) throw new Error(`The resource ${name} ${fault}.`)
  return resource
}
