import { Check, Errors } from 'typebox/value'
import type { Tx } from '#src/db/database.ts'
import { found } from '#src/http/params.ts'
import type { Publish } from '#src/resources/define-job.ts'
import { publishesAtHome } from '#src/resources/kit/derived.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'
import { resources } from '#src/resources/running-app.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import type { EventType } from '#src/webhooks/events/types.ts'
import { type Act, declaredIn } from './before-change.ts'
import { refusalOf } from './refusals.ts'
import { seenInEvents } from './seen.ts'
import type { Declared, RowScope } from './table.ts'
import type { Writes } from './writes.ts'

/* The events that the actions of a resource publish, in the transaction of the change. */

/** The last part of the type of an event that an action publishes by itself. */
export type ActionEvent = 'created' | 'updated' | 'deleted'

export function isPublished({ events }: Declared, event: ActionEvent): boolean {
  return Object.hasOwn(events, event)
}

/** One of the declared types, if the resource has declared the event. */
export function typeOf({ name }: Declared, event: string): EventType {
  return `${name}.${event}` as EventType
}

/**
 * Publishes an event of the resource about a row.
 * @throws Error if the data does not match the schema of its own that the event has
 */
export async function publishOne<Item>(
  resource: Declared,
  tx: Tx,
  tenantId: string,
  event: string,
  item: Item,
  now: Date,
): Promise<void> {
  const { name, events, payloads, eventShape } = resource
  const summary = events[event]
  if (summary === undefined) {
    const known = Object.keys(events).join(', ') || 'none'
    throw new Error(`The resource ${name} has no event ${event} in events, which has ${known}.`)
  }
  const schema = payloads[event]
  if (schema !== undefined && !Check(schema, item)) {
    const [fault] = Errors(schema, item)
    const where = fault?.instancePath || 'it'
    throw new Error(
      `The data of the event ${name}.${event} is not what payloads says: ${where} ${fault?.message}.`,
    )
  }
  const kind = { type: typeOf(resource, event), summary, data: schema ?? eventShape }
  const data = schema === undefined ? seenInEvents(resource, item) : item
  await publish(tx, { tenantId }, { kind, data: Object(data) }, now)
}

/** Publishes events of the app's resources in a tenant that the transaction has entered, for jobs and hooks. */
export function publishIn(tx: Tx, tenantId: string, now: Date): Publish {
  return (resource, event, data) => {
    const declared = resources.find(({ name }) => name === resource.name)
    if (declared === undefined)
      throw new Error(`The app does not list the resource ${resource.name}.`)
    return publishOne(declared, tx, tenantId, event, data, now)
  }
}

/** Publishes an event about a row in the tenant that gets its events, if there is one. */
export async function publishAbout<Item>(
  resource: Declared,
  { tx, now }: Act,
  tenantId: string | null,
  event: string,
  item: Item,
) {
  if (tenantId !== null) await publishOne(resource, tx, tenantId, event, item, now)
}

/**
 * Returns the tenant that gets the events about a row: the active one, or for an owner's row the tenant of the row,
 * which the transaction enters. Null if an action on an owner's row publishes nothing, or its owner has left.
 */
export async function enterHome<Item>(
  resource: Declared,
  rows: Pick<Writes<Item>, 'enterHome'>,
  { tx, caller }: Act,
  id: number,
  action: string,
): Promise<string | null> {
  const isOverridden = declaredIn(resource, action).run !== undefined
  const publishes =
    isOverridden ||
    resource.own[action]?.event !== undefined ||
    isPublished(resource, action === 'delete' ? 'deleted' : 'updated')
  if (!publishes || !publishesAtHome(resource)) {
    return resource.scope === 'owner' ? null : caller.tenantId
  }
  return rows.enterHome(tx, id)
}

/**
 * The scope of a row that one statement writes: most rows of an owner are of the active tenant, where
 * their events belong.
 */
export function atHome(resource: Declared, caller: Asking): RowScope {
  return publishesAtHome(resource) ? { ...caller, homeId: caller.tenantId } : caller
}

/**
 * Does the work and publishes its event, if the resource declares it.
 * @param tenantId of `enterHome`
 * @param work changes the row; null if there is none
 * @throws Problem `not-found`, or what a broken key of the resource means
 */
export async function published<Item>(
  resource: Declared,
  act: Act,
  event: ActionEvent,
  tenantId: string | null,
  work: (at: RowScope) => Promise<Item | null>,
): Promise<Item> {
  const isElsewhere = resource.scope === 'owner' && event !== 'created'
  const at = isElsewhere ? { ...act.caller, homeId: tenantId } : act.caller
  const item = found(await keyed(resource, work(at)))
  if (isPublished(resource, event)) await publishAbout(resource, act, tenantId, event, item)
  return item
}

/** The work; a broken key of the resource is a problem. */
async function keyed<T>(resource: Declared, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw refusalOf(resource, error) ?? error
  }
}
