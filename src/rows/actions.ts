import type { Static } from 'typebox'
import type { Tx } from '#src/db/database.ts'
import { Problem } from '#src/http/problems.ts'
import type { DataOf, Publishes } from '#src/resources/kit/event-data.ts'
import { type Act, type Check, declaredIn, lockBefore } from './before-change.ts'
import { override, perform } from './own-actions.ts'
import { enterHome, published, publishOne } from './own-events.ts'
import { requireRoom } from './room.ts'
import { type Rows, rowsOf } from './rows.ts'
import { refuseUnseen, seenBy } from './seen.ts'
import { type Short, shortOf } from './short.ts'
import type { Declared, Values } from './table.ts'

/**
 * What routes and pages do with a resource: the operation with its conditions, its override and its event, in the
 * transaction of the caller. Jobs have no caller: they write SQL, and publish.
 */
export type Actions<Item, One extends Publishes = Publishes> = Rows<Item> & {
  readonly short: Short<Item>
  /**
   * @throws Problem `not-found` if the body names a folder out of reach, `forbidden` for a field that the caller
   *   lacks the permission for, `limit-reached` if their plan has no room for one more
   */
  create(act: Act, body: Values): Promise<Item>
  /** @throws Problem `not-found`, or `forbidden` if a condition forbids it */
  change(act: Act, id: number, body: Values, check?: Check<Item>): Promise<Item>
  /** @throws Problem as for `change` */
  delete(act: Act, id: number, check?: Check<Item>): Promise<void>
  /** Carries out an action of the app's own. @throws Problem as for `change` */
  perform(
    act: Act,
    one: { readonly name: string; readonly id: number; readonly body: Values },
    check?: Check<Item>,
  ): Promise<Item>
  /**
   * Publishes an event of the resource, in the transaction of the change.
   * @param data the row, or what the schema in `payloads` of the resource describes
   */
  publish<Event extends keyof One['events'] & string>(
    tx: Tx,
    tenantId: string,
    event: Event,
    data: DataOf<One, NoInfer<Event>>,
    now: Date,
  ): Promise<void>
}

const composed = new WeakMap<Declared, unknown>()

/** The actions of a resource. Its statements are composed at the first call. */
export function actionsOf<One extends Declared>(resource: One): Actions<Static<One['shape']>, One> {
  const actions = composed.get(resource) ?? composeActions(resource)
  composed.set(resource, actions)
  return actions as Actions<Static<One['shape']>, One> // of the same resource
}

function composeActions<One extends Declared>(resource: One): Actions<Static<One['shape']>, One> {
  type Item = Static<One['shape']>
  const rows = rowsOf(resource)

  return {
    ...rows,
    short: shortOf(resource, rows),
    publish: (tx, ...about) => publishOne(resource, tx, ...about),
    perform: (...given) => perform(resource, rows, ...given),
    async create(act, body) {
      const { tx, caller, now } = act
      if (caller.tenantId === null) {
        throw new Problem('forbidden', { detail: 'You have no active tenant.' })
      }
      refuseUnseen(resource, caller, body)
      const seen = (item: Item) => seenBy(resource, caller, item)
      const { tenantId } = caller
      const create = async (values: Values) => {
        await requireRoom(resource, tx, caller)
        return published(resource, act, 'created', tenantId, () =>
          rows.insert(tx, caller, values, now),
        )
      }
      if (declaredIn(resource, 'create').run === undefined) return seen(await create(body))
      return seen(await override<Item>(resource, act, { action: 'create', tenantId, create }, body))
    },
    async change(act, id, body, check) {
      const { tx, caller, now } = act
      refuseUnseen(resource, caller, body)
      const seen = (item: Item) => seenBy(resource, caller, item)
      const before = await lockBefore(resource, rows, act, id, 'update', check)
      const tenantId = await enterHome(resource, rows, act, id, 'update')
      const update = (values: Values) =>
        published(resource, act, 'updated', tenantId, (at) => rows.update(tx, at, id, values, now))
      if (declaredIn(resource, 'update').run === undefined) return seen(await update(body))
      const operation = { action: 'update', tenantId, update }
      return seen(await override<Item>(resource, act, operation, body, Object(before)))
    },
    async delete(act, id, check) {
      const before = await lockBefore(resource, rows, act, id, 'delete', check)
      const tenantId = await enterHome(resource, rows, act, id, 'delete')
      const remove = async () => {
        await published(resource, act, 'deleted', tenantId, (at) => rows.remove(act.tx, at, id))
      }
      if (declaredIn(resource, 'delete').run === undefined) return remove()
      await override(resource, act, { action: 'delete', tenantId, delete: remove }, Object(before))
    },
  }
}
