import { causeText, readCause } from '#src/db/cause.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { uuidForm } from '#src/http/schemas.ts'
import type { traceKinds } from './command-line.ts'

export type TraceKind = (typeof traceKinds)[number]

/** One line of a timeline. `facts` are ids, states and numbers; null where something is unknown. */
export type TraceEntry = { at: Date; kind: string; facts: Readonly<Record<string, unknown>> }

export type Trace = {
  /** What the id is; several if ids of different kinds are the same text, none if it is unknown. */
  kinds: readonly TraceKind[]
  /** Oldest first. */
  entries: readonly TraceEntry[]
  /** Some entries were left out, because there are more than `maxRows` of one source. */
  isCut: boolean
}

/** The rows that are read from one source. */
export const maxRows = 1_000

type Chosen = { requests: Set<string>; billingEvents: Set<string>; messages: Map<string, Message> }
type Message = { tenantId: string; eventId: string; deliveryId: string | null }
type Outgoing = { kind: 'message' | 'delivery' | 'cause'; tenant_id: string; event_id: string }
type EntryRow = { at: Date; kind: string; facts: Record<string, unknown> }

/**
 * Collects what is known about an id, in both directions: what caused it, and what it caused.
 * @param as takes the id as this kind alone
 */
export async function collectTrace(db: Queryable, id: string, as?: TraceKind): Promise<Trace> {
  const isWanted = (kind: TraceKind) => as === undefined || as === kind
  const chosen: Chosen = { requests: new Set(), billingEvents: new Set(), messages: new Map() }
  const kinds = new Set<TraceKind>()
  const outgoing = await findOutgoing(db, {
    causes: [
      ...(isWanted('request') ? [causeText({ requestId: id })] : []),
      ...(isWanted('billing-event') ? [causeText({ billingEventId: id })] : []),
    ],
    message: isWanted('message') ? id : null,
    delivery: isWanted('delivery') && uuidForm.test(id) ? id : null,
  })
  for (const { kind, tenant_id: tenantId, event_id: eventId } of outgoing) {
    if (kind !== 'cause') kinds.add(kind)
    const deliveryId = kind === 'delivery' ? id : null
    chosen.messages.set(eventId, { tenantId, eventId, deliveryId })
  }
  if (isWanted('billing-event') && (await readBillingEvents(db, [id])).length > 0) {
    kinds.add('billing-event')
    chosen.billingEvents.add(id)
  }
  if (isWanted('request') && uuidForm.test(id)) {
    const events = await findEventsOfRequest(db, id)
    const audit = await readAudit(db, [id])
    const isCause = outgoing.some(({ kind }) => kind === 'cause')
    if (events.length + audit.length > 0 || (isCause && !kinds.has('billing-event'))) {
      kinds.add('request')
      chosen.requests.add(id)
    }
    for (const eventId of events) chosen.billingEvents.add(eventId)
    await addReplayed(db, audit, chosen)
  }
  return { kinds: [...kinds], ...(await readEntries(db, chosen, kinds)) }
}

/** A request that replayed a delivery leads to that delivery. */
async function addReplayed(
  db: Queryable,
  audit: readonly TraceEntry[],
  { messages }: Chosen,
): Promise<void> {
  for (const { facts } of audit) {
    if (facts.action !== 'delivery-replay' || typeof facts.target !== 'string') continue
    const deliveryId = facts.target
    const found = await findOutgoing(db, { causes: [], message: null, delivery: deliveryId })
    for (const { tenant_id: tenantId, event_id: eventId } of found) {
      messages.set(eventId, { tenantId, eventId, deliveryId })
    }
  }
}

/** Reads everything chosen; causes that messages and billing events name are followed upwards. */
async function readEntries(db: Queryable, chosen: Chosen, kinds: ReadonlySet<TraceKind>) {
  const { requests, billingEvents, messages } = chosen
  const isDownwards = kinds.has('billing-event') || kinds.has('request')
  if (isDownwards) await addCaused(db, chosen)
  const entries: TraceEntry[] = []
  let isCut = messages.size >= maxRows
  const deliveries = new Map<string, Set<string>>()
  for (const message of messages.values()) {
    const rows = await readMessage(db, message)
    isCut ||= rows.length >= maxRows
    entries.push(...rows)
    for (const { facts } of rows) {
      const cause = typeof facts.cause === 'string' ? readCause(facts.cause) : null
      if (cause !== null && 'requestId' in cause) requests.add(cause.requestId)
      else if (cause !== null) billingEvents.add(cause.billingEventId)
      if (typeof facts.deliveryId !== 'string') continue
      const known = deliveries.get(message.tenantId) ?? new Set()
      deliveries.set(message.tenantId, known.add(facts.deliveryId))
    }
  }
  const received = await readBillingEvents(db, [...billingEvents])
  for (const { facts } of received) {
    if (typeof facts.requestId === 'string') requests.add(facts.requestId)
  }
  entries.push(...received)
  entries.push(...[...requests].flatMap(requestEntry))
  const audit = new Map<unknown, TraceEntry>()
  const keep = (rows: TraceEntry[]) => {
    for (const row of rows) audit.set(row.facts.id, row)
  }
  keep(await readAudit(db, [...requests]))
  for (const [tenantId, ids] of deliveries) keep(await readAudit(db, [], tenantId, [...ids]))
  entries.push(...audit.values())
  entries.sort((a, b) => a.at.getTime() - b.at.getTime() || stepOf(a) - stepOf(b))
  return { entries, isCut }
}

// The order of entries with the same time: a transaction writes them all at its now().
const steps = [
  'request',
  'billing event received',
  'billing event processed',
  'event published',
  'delivery created',
  'delivery attempt',
]

function stepOf({ kind }: TraceEntry): number {
  const step = steps.indexOf(kind)
  return step === -1 ? steps.length : step
}

/** Adds the messages that the chosen billing events have caused. */
async function addCaused(db: Queryable, { billingEvents, messages }: Chosen): Promise<void> {
  const causes = [...billingEvents].map((billingEventId) => causeText({ billingEventId }))
  if (causes.length === 0) return
  const found = await findOutgoing(db, { causes, message: null, delivery: null })
  for (const { tenant_id: tenantId, event_id: eventId } of found) {
    if (!messages.has(eventId)) messages.set(eventId, { tenantId, eventId, deliveryId: null })
  }
}

/** A request has no row: its time is the one in its id (RFC 9562, version 7). */
function requestEntry(requestId: string): TraceEntry[] {
  const at = timeOf(requestId)
  return at === null ? [] : [{ at, kind: 'request', facts: { requestId } }]
}

function timeOf(id: string): Date | null {
  const isTimed = uuidForm.test(id) && id[14] === '7'
  return isTimed ? new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)) : null
}

async function findOutgoing(
  db: Queryable,
  wanted: { causes: string[]; message: string | null; delivery: string | null },
): Promise<Outgoing[]> {
  return db.sql<Outgoing>`
    SELECT kind, tenant_id, event_id FROM trace_outgoing(${wanted.causes}, ${wanted.message},
      ${wanted.delivery}, ${maxRows})`
}

async function readMessage(
  db: Queryable,
  { tenantId, eventId, deliveryId }: Message,
): Promise<TraceEntry[]> {
  return db.sql<EntryRow>`
    SELECT at, kind, facts FROM trace_event(${tenantId}, ${eventId}, ${deliveryId}, ${maxRows})`
}

async function readAudit(
  db: Queryable,
  requests: readonly string[],
  tenantId: string | null = null,
  targets: readonly string[] = [],
): Promise<TraceEntry[]> {
  const rows = await db.sql<Omit<EntryRow, 'kind'>>`
    SELECT at, facts FROM trace_audit(${requests.filter((id) => uuidForm.test(id))}, ${tenantId},
      ${targets}, ${maxRows})`
  return rows.map(({ at, facts }) => ({ at, kind: 'audit', facts }))
}

const skewMinutes = 15 // the time of the id is the process's, that of the row the database's

async function findEventsOfRequest(db: Queryable, requestId: string): Promise<string[]> {
  const at = timeOf(requestId)
  if (at === null) return []
  const rows = await db.sql<{ event_id: string }>`
    SELECT event_id FROM received_events
    WHERE received_at BETWEEN ${at}::timestamptz - make_interval(mins => ${skewMinutes})
      AND ${at}::timestamptz + make_interval(mins => ${skewMinutes}) AND request_id = ${requestId}`
  return rows.map(({ event_id }) => event_id)
}

/** Received events: when they came, when they were processed, and the replays that name them. */
async function readBillingEvents(db: Queryable, ids: readonly string[]): Promise<TraceEntry[]> {
  return db.sql<EntryRow>`
    SELECT received_at AS at, 'billing event received' AS kind, jsonb_build_object(
        'billingEventId', event_id, 'type', type, 'status', status, 'requestId', request_id,
        'attempts', attempts, 'lastError', last_error, 'dismissedReason', dismissed_reason,
        'otherBodies', other_bodies) AS facts
      FROM received_events WHERE event_id = ANY (${ids}::text[])
    UNION ALL
    SELECT processed_at, 'billing event processed', jsonb_build_object(
        'billingEventId', event_id, 'outcome', outcome)
      FROM received_events WHERE event_id = ANY (${ids}::text[]) AND processed_at IS NOT NULL
    UNION ALL
    SELECT created_at, 'billing replay', jsonb_build_object('replayId', id, 'total', total,
        'succeeded', succeeded, 'failed', failed, 'finishedAt', finished_at)
      FROM billing_replays WHERE event_ids && ${ids}::text[]`
}
