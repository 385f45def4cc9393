import type { Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { type Receiver, type Respond, startReceiver } from '#dev/testing/receiver.ts'
import type { Database } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { type Clock, systemClock } from '#src/runtime/clock.ts'
import { type NewEvent, publish } from '#src/webhooks/events/publish.ts'
import type { EventType } from '#src/webhooks/events/types.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { until } from '#test/support/database/until.ts'
import { anyEvent } from './any-event.ts'

/** A tenant with its own database that publishes events, and its deliveries. */
export type Outbox = {
  database: TestDatabase
  db: Database
  tenant: TestUser
  /** Opens transactions of `db` in the tenant. */
  entry: Entry<TestUser>
  /** @returns the id of the event */
  publish(
    event?: { type?: EventType } & Partial<Pick<NewEvent, 'data' | 'endpointId'>>,
  ): Promise<string>
  /** The deliveries with their attempts, oldest first. */
  deliveries(): Promise<DeliveryRow[]>
  /** Resolves once the query `condition` returns a row. */
  until(condition: string): Promise<void>
}

export type DeliveryRow = {
  id: string
  event_id: string
  endpoint_id: string
  status: string
  series: number
  next_attempt_at: Date | null
  attempts: { series: number; number: number; status_code: number | null; error: string | null }[]
}

/** @param own a database on another server than that of the tests */
export async function createOutbox(
  t: Test,
  clock: Clock = systemClock,
  own?: TestDatabase,
): Promise<Outbox> {
  const database = own ?? (await createDatabase(t))
  const db = openPatiently(t, database.url, 4)
  const tenant = await createUser(database)
  const entry = (await allowScopes<TestUser>(database))(tenant)
  return {
    database,
    db,
    tenant,
    entry,
    async publish({ type = 'order.updated', ...event } = {}) {
      const whole = { ...anyEvent(type, { id: 7 }), ...event }
      const { eventId } = await db.write(entry, (tx) => publish(tx, tenant, whole, clock.now()))
      return eventId
    },
    async deliveries() {
      const { rows } = await database.admin.query<DeliveryRow>(
        `SELECT d.id, event_id, endpoint_id, status, d.series, next_attempt_at,
           coalesce(json_agg(a ORDER BY a.series, a.number) FILTER (WHERE number > 0), '[]') AS attempts
         FROM deliveries d LEFT JOIN delivery_attempts a
             ON a.tenant_id = d.tenant_id AND a.delivery_id = d.id
         GROUP BY d.tenant_id, d.id ORDER BY d.created_at, d.id`,
      )
      return rows
    },
    until: (condition) => until(database, condition),
  }
}

/** A receiver that is closed with the test. */
export async function openReceiver(t: Test, handler?: Respond): Promise<Receiver> {
  const receiver = await startReceiver(handler)
  t.teardown(() => receiver.close())
  return receiver
}

/** Settings that allow deliveries to the receivers. */
export function allowing(...receivers: readonly Receiver[]): Record<string, string> {
  return { OUTBOUND_ALLOW: receivers.map(({ port }) => `127.0.0.1:${port}`).join() }
}
