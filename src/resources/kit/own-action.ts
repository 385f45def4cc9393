import type {
  Act,
  Action,
  Allowed,
  ChangedValues,
  Condition,
  Resource,
  RowOf,
  Values,
  Writable,
} from './define.ts'
import type { Payloads } from './event-data.ts'
import type { Fields } from './fields/field.ts'

/** An action of one's own on a row: `POST /tasks/:id/close` with its rule, event, audit entry and button. */
export type OwnAction<
  Name extends string,
  F extends Fields,
  Event extends string,
  Accepted extends Writable<F>,
  Set extends keyof F & string,
  Changed extends keyof F & string,
  P extends Payloads,
> = Allowed<Name> & {
  /** Fields of its body, which it writes into the row unless `run` does otherwise. */
  readonly accepts?: readonly Accepted[]
  /** Further columns that `run` sets. */
  readonly sets?: readonly Set[]
  /** Decided on the row for the button, and again on the locked row. */
  readonly unless?: readonly Condition<RowOf<F>>[]
  /** Published about the row, beside `updated`. */
  readonly event?: Event
  /** On the page of the row; the name of the action by default. */
  readonly button?: string
  run?(
    act: Act<F, Event, P> & {
      update(values: Values<F, NoInfer<Changed | Accepted | Set>>): Promise<RowOf<F>>
    },
    body: ChangedValues<F, NoInfer<Accepted>>,
    before: RowOf<F>,
  ): Promise<RowOf<F>>
}

/** One without the types of its resource. */
export type OwnActionDeclared = Action & { readonly event?: string; readonly button?: string }

const standard = ['read', 'create', 'update', 'delete']

/** What the compiler does not see. */
export function ownFaultsOf(resource: Resource): [boolean, string][] {
  return Object.entries(resource.own).flatMap(([name, action]) =>
    faultsOf(resource, name, action).map(([isFault, words]): [boolean, string] => [
      isFault,
      `has the action ${name}, which ${words}`,
    ]),
  )
}

function faultsOf(
  { fields, scope, events }: Resource,
  name: string,
  { accepts = [], run, event, permission }: OwnActionDeclared,
): [boolean, string][] {
  return [
    [!/^[a-z]+(-[a-z]+)*$/.test(name), 'has a name that is not words with hyphens'],
    [standard.includes(name), 'has the name of an action that any resource can have'],
    [
      scope === 'owner' && permission !== null,
      'needs a role, which belongs to one tenant, for rows that an owner has in several',
    ],
    [accepts.includes('folderId'), 'accepts the folder, whose team the row keeps'],
    [
      accepts.length === 0 && run === undefined,
      'accepts nothing and has no run, so it does nothing',
    ],
    [!Object.hasOwn(fields, 'updatedAt'), 'changes a row without a field updatedAt'],
    [
      event !== undefined && !Object.hasOwn(events, event),
      `publishes ${event}, which is not among the events`,
    ],
  ]
}
