import type { Static } from 'typebox'
import { decide, type Subject, toProblem } from '#src/access/policy.ts'
import type { ShortStatement, Tx } from '#src/db/database.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import type { Action } from '#src/resources/kit/define.ts'
import { publishesAtHome } from '#src/resources/kit/derived.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'
import { changeAndPublish, publish } from '#src/webhooks/events/publish.ts'
import type { EventType } from '#src/webhooks/events/types.ts'
import { wakeWorkers } from '#src/webhooks/schedule/due-attempts.ts'
import { refusalOf } from './refusals.ts'
import { type Declared, type RowScope, type Rows, rowsOf, type Tags, type Values } from './rows.ts'

/** Who acts, in which transaction and when. */
export type Act = {
  readonly tx: Tx
  readonly caller: Asking
  readonly now: Date
  /** Gets the name of the condition that refuses the action, for the log. */
  readonly refused?: (reason: string) => void
}

/**
 * Checks the row before its change, such as `If-Match`.
 * @param lock reads and locks the row, once; null if it is missing or out of reach
 */
type Check<Item> = (lock: () => Promise<Item | null>) => Promise<void>

/**
 * What routes, pages and jobs do with a resource: the operation with its conditions, its override and its
 * event, in the transaction of the caller.
 */
export type Actions<Item> = Rows<Item> & {
  /** @throws Problem `not-found` if the body names a folder out of reach */
  create(act: Act, body: Values): Promise<Item>
  /**
   * Each action as one statement; null if it needs several (`ShortWork`).
   * @param tags of `If-Match`: a row with another ETag is not changed
   */
  readonly short: {
    create(caller: Asking, body: Values, now: Date): Promise<ShortStatement<Item> | null>
    change(
      caller: Asking,
      id: number,
      body: Values,
      now: Date,
      tags?: Tags,
    ): Promise<ShortStatement<Item> | null>
    delete(caller: Asking, id: number, now: Date, tags?: Tags): Promise<ShortStatement<Item> | null>
  }
  /** @throws Problem `not-found`, or `forbidden` if a condition forbids it */
  change(act: Act, id: number, body: Values, check?: Check<Item>): Promise<Item>
  /** @throws Problem as for `change` */
  delete(act: Act, id: number, check?: Check<Item>): Promise<void>
  /** Publishes an event of the resource about a row, in the transaction of its change. */
  publish(tx: Tx, tenantId: string, event: string, item: Item, now: Date): Promise<void>
}

const composed = new WeakMap<Declared, unknown>()

/** The actions of a resource. Its statements are composed at the first call. */
export function actionsOf<One extends Declared>(resource: One): Actions<Static<One['shape']>> {
  const actions = composed.get(resource) ?? composeActions(resource)
  composed.set(resource, actions)
  return actions as Actions<Static<One['shape']>> // of the same resource
}

function composeActions<One extends Declared>(resource: One): Actions<Static<One['shape']>> {
  type Item = Static<One['shape']>
  const { name, scope, events, shape } = resource
  const rows = rowsOf(resource)

  /**
   * Locks the row and decides, if anything depends on the row: `If-Match`, a condition or an override.
   * Otherwise the change itself finds out whether it exists.
   */
  async function lockBefore(
    { tx, caller, now, refused }: Act,
    id: number,
    action: 'update' | 'delete',
    check: Check<Item> = async () => {},
  ): Promise<Item | null> {
    let locked: Promise<Item | null> | undefined
    const lock = () => {
      locked ??= rows.lock(tx, caller, id)
      return locked
    }
    await check(lock)
    const { unless = [], run } = declared(action)
    if (unless.length === 0 && run === undefined) return null
    const object = found(await lock())
    // The entry of the transaction has returned all the facts of a subject.
    const subject = caller as Asking & Subject
    const decision = decide({
      ...{ caller: subject, resource: name, action, now },
      object: Object(object),
    })
    if (decision.effect === 'allow') return object
    refused?.(decision.reason)
    throw toProblem(decision.reason, decision)
  }

  /**
   * Returns the tenant that gets the events about a row: the active one, or for an owner's row the tenant of the row,
   * which the transaction enters. Null if an action on an owner's row publishes nothing, or its owner has left.
   */
  async function enterHome(
    { tx, caller }: Act,
    id: number,
    action: 'update' | 'delete',
  ): Promise<string | null> {
    const isOverridden = declared(action).run !== undefined
    const publishes = isOverridden || Object.hasOwn(events, `${action}d`)
    if (!publishes || !publishesAtHome(resource)) return scope === 'owner' ? null : caller.tenantId
    return rows.enterHome(tx, id)
  }

  /** The work; a broken key of the resource is a problem. */
  async function keyed<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw refusalOf(resource, error) ?? error
    }
  }

  /** Does the work and publishes its event, if the resource declares it. */
  async function published(
    act: Act,
    event: 'created' | 'updated' | 'deleted',
    tenantId: string | null,
    work: (at: RowScope) => Promise<Item | null>,
  ): Promise<Item> {
    const isElsewhere = scope === 'owner' && event !== 'created'
    const at = isElsewhere ? { ...act.caller, homeId: tenantId } : act.caller
    const item = found(await keyed(work(at)))
    if (Object.hasOwn(events, event)) await publishIn(act, tenantId, event, item)
    return item
  }

  async function publishIn({ tx, now }: Act, tenantId: string | null, event: string, item: Item) {
    if (tenantId !== null) await publishOne(tx, tenantId, event, item, now)
  }

  async function publishOne(tx: Tx, tenantId: string, event: string, item: Item, now: Date) {
    const summary = events[event]
    if (summary === undefined) throw new Error(`The resource ${name} has no event ${event}.`)
    // One of the declared types, because the resource and its event are declared.
    const type = `${name}.${event}` as EventType
    await publish(tx, { tenantId }, { kind: { type, summary, data: shape }, data: item }, now)
  }

  function declared(action: 'create' | 'update' | 'delete'): Action {
    const found = resource.actions[action]
    if (found === undefined) throw new Error(`The resource ${name} has no action ${action}.`)
    return found
  }

  /** What an override gets beside the standard operation. */
  function ownAct(act: Act, tenantId: string | null) {
    const { tx, caller, now } = act
    const publish = (event: string, item: Item) => publishIn(act, tenantId, event, item)
    return { tx, caller, now, publish }
  }

  /** Whether the action reads the row before it changes: then it needs several statements. */
  function needsRow(caller: Asking, action: 'create' | 'update' | 'delete'): boolean {
    const { run, unless = [] } = declared(action)
    return run !== undefined || unless.some(({ appliesTo }) => appliesTo?.(caller) ?? true)
  }

  /**
   * The statement of an action with its event.
   * @param sharedAs undefined for a deletion: its reserve of the budget of events lasts until the commit
   *   (add_usage)
   */
  async function shortOf(
    event: 'created' | 'updated' | 'deleted',
    tenantId: string,
    change: Prisma.Sql,
    now: Date,
    sharedAs?: string,
  ): Promise<ShortStatement<Item>> {
    const isPublished = Object.hasOwn(events, event)
    const type = `${name}.${event}` as EventType
    const statement = isPublished
      ? await changeAndPublish({ tenantId }, { type, change, data: rows.json }, now)
      : change
    return {
      statement,
      ...(sharedAs !== undefined && { sharedAs }),
      read([row], tx) {
        if (row === undefined) return null
        if (isPublished && Object(row).is_due) wakeWorkers(tx, { tenantId })
        return rows.toItem(row)
      },
    }
  }

  const short: Actions<Item>['short'] = {
    async create(caller, body, now) {
      if (caller.tenantId === null || needsRow(caller, 'create')) return null
      return shortOf('created', caller.tenantId, rows.insertion(caller, body, now), now, '')
    },
    async change(caller, id, body, now, tags) {
      if (caller.tenantId === null || needsRow(caller, 'update')) return null
      const change = rows.changing(atHome(caller), id, body, now, tags)
      return shortOf('updated', caller.tenantId, change, now, `${name} ${id}`)
    },
    async delete(caller, id, now, tags) {
      if (caller.tenantId === null || needsRow(caller, 'delete')) return null
      return shortOf('deleted', caller.tenantId, rows.removal(atHome(caller), id, tags), now)
    },
  }

  /** Most rows of an owner are of the active tenant, where their events belong. */
  function atHome(caller: Asking): RowScope {
    return publishesAtHome(resource) ? { ...caller, homeId: caller.tenantId } : caller
  }

  return {
    ...rows,
    short,
    publish: publishOne,
    async create(act, body) {
      const { tx, caller, now } = act
      if (caller.tenantId === null) {
        throw new Problem('forbidden', { detail: 'You have no active tenant.' })
      }
      const create = (values: Values) =>
        published(act, 'created', caller.tenantId, () => rows.insert(tx, caller, values, now))
      const { run } = declared('create')
      if (run === undefined) return create(body)
      return (await run({ ...ownAct(act, caller.tenantId), create }, body)) as Item
    },
    async change(act, id, body, check) {
      const { tx, now } = act
      const before = await lockBefore(act, id, 'update', check)
      const tenantId = await enterHome(act, id, 'update')
      const update = (values: Values) =>
        published(act, 'updated', tenantId, (at) => rows.update(tx, at, id, values, now))
      const { run } = declared('update')
      if (run === undefined) return update(body)
      return (await run({ ...ownAct(act, tenantId), update }, body, Object(before))) as Item
    },
    async delete(act, id, check) {
      const { tx } = act
      const before = await lockBefore(act, id, 'delete', check)
      const tenantId = await enterHome(act, id, 'delete')
      const remove = async () => {
        await published(act, 'deleted', tenantId, (at) => rows.remove(tx, at, id))
      }
      const { run } = declared('delete')
      if (run === undefined) await remove()
      else await run({ ...ownAct(act, tenantId), delete: remove }, Object(before))
    },
  }
}
