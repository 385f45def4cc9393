import type { Static } from 'typebox'
import { Problem } from '#src/http/problems.ts'
import { enqueueIn } from '#src/queue/app/enqueue.ts'
import { type Act, type Check, declaredIn, lockBefore } from './before-change.ts'
import { enterHome, publishAbout, published } from './own-events.ts'
import type { Rows } from './rows.ts'
import { refuseUnseen, seenBy } from './seen.ts'
import type { Declared, Values } from './table.ts'

function refuse(detail: string, field?: string): never {
  if (field === undefined) throw new Problem('conflict', { detail })
  const fields = [{ in: 'body' as const, pointer: `/${field}`, detail }]
  throw new Problem('malformed', { detail: `/${field} in the body ${detail}.`, fields })
}

/**
 * Runs the override of an action, which gets the transaction, what it can do and the standard operation. What it
 * throws by mistake is a 500, whose log line says whose it is.
 */
export async function override<Item>(
  resource: Declared,
  act: Act,
  {
    action,
    tenantId,
    ...operation
  }: { action: string; tenantId: string | null; [name: string]: unknown },
  ...given: object[]
): Promise<Item> {
  const { tx, caller, now } = act
  const publish = (event: string, item: Item) => publishAbout(resource, act, tenantId, event, item)
  const own = { tx, caller, now, publish, enqueue: enqueueIn(tx), refuse, ...operation }
  try {
    return (await declaredIn(resource, action).run?.(own, ...given)) as Item
  } catch (error) {
    const isMistake = error instanceof Error && !(error instanceof Problem)
    throw isMistake
      ? Object.assign(error, { thrownIn: `run of ${resource.name}:${action}` })
      : error
  }
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
  const changed =
    declaredIn(resource, name).run === undefined
      ? await update(body)
      : await override<Item>(
          resource,
          act,
          { action: name, tenantId, update },
          body,
          Object(before),
        )
  const event = resource.own[name]?.event
  if (event !== undefined) await publishAbout(resource, act, tenantId, event, changed)
  return seenBy(resource, caller, changed)
}
