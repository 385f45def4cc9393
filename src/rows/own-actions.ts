import type { Static } from 'typebox'
import { enqueueIn } from '#src/queue/app/enqueue.ts'
import type { Action } from '#src/resources/kit/define.ts'
import { type Act, type Check, declaredIn, lockBefore } from './before-change.ts'
import { enterHome, published, publishIn } from './own-events.ts'
import type { Rows } from './rows.ts'
import { refuseUnseen, seenBy } from './seen.ts'
import type { Declared, Values } from './table.ts'

/** What an override gets beside the standard operation. */
export function ownAct<Item>(resource: Declared, act: Act, tenantId: string | null) {
  const { tx, caller, now } = act
  const publish = (event: string, item: Item) => publishIn(resource, act, tenantId, event, item)
  return { tx, caller, now, publish, enqueue: enqueueIn(tx) }
}

/**
 * Carries out an action of the app's own on the locked row.
 * @throws Problem as for a change
 */
export async function perform<One extends Declared>(
  resource: One,
  rows: Rows<Static<One['shape']>>,
  act: Act,
  { name, id, body }: { readonly name: string; readonly id: number; readonly body: Values },
  check?: Check<Static<One['shape']>>,
): Promise<Static<One['shape']>> {
  type Item = Static<One['shape']>
  const { tx, caller, now } = act
  refuseUnseen(resource, caller, body)
  const before = await lockBefore(resource, rows, act, id, name, check)
  const tenantId = await enterHome(resource, rows, act, id, name)
  const update = (values: Values) =>
    published(resource, act, 'updated', tenantId, (at) => rows.update(tx, at, id, values, now))
  const { run }: Action = declaredIn(resource, name)
  const changed =
    run === undefined
      ? await update(body)
      : ((await run(
          { ...ownAct<Item>(resource, act, tenantId), update },
          body,
          Object(before),
        )) as Item)
  const event = resource.own[name]?.event
  if (event !== undefined) await publishIn(resource, act, tenantId, event, changed)
  return seenBy(resource, caller, changed)
}
