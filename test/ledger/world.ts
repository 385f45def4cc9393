import type { PgBoss } from 'pg-boss'
import type { Test } from 'tap'
import { newEventJob } from '#src/billing/job.ts'
import { recordStatement } from '#src/billing/record-store.ts'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import { type Finding, type LedgerCheck, runLedgerBefore } from '#src/ledger/ledger.ts'
import { openQueue } from '#src/queue/queue.ts'
import { systemClock } from '#src/runtime/clock.ts'
import { parsed } from '#test/billing/received.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { createOutbox, type Outbox } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const windowMs = 300_000

export type LedgerWorld = Outbox & {
  systemDb: SystemDatabase
  queue: PgBoss
  /** Records billing events as the webhook route does. */
  record(...ids: string[]): Promise<void>
  /** A scheduled check of everything up to now, as if it had settled as long ago. */
  run(ageMs?: number): Promise<LedgerCheck>
  /** The findings of a run, as `kind id`. */
  findings(ageMs?: number): Promise<string[]>
}

/** A tenant with an endpoint, three recorded billing events and two published events, after a first check. */
export async function createLedger(t: Test, own?: TestDatabase): Promise<LedgerWorld> {
  const outbox = await createOutbox(t, systemClock, own)
  const { database, tenant } = outbox
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  const queue = openQueue(database.workerUrl, 'worker', (error) => t.fail(error.message))
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await systemDb.close()
  })
  await createEndpoint(database, tenant, { url: 'https://receiver.example' })
  await database.admin.query(
    `UPDATE webhook_endpoints SET created_at = now() - interval '1 hour', updated_at = now() - interval '1 hour'`,
  )
  // All of it is younger than the first check.
  const present = new Date(Math.floor(Date.now() / windowMs) * windowMs)
  await runLedgerBefore(systemDb, present)
  const run = (ageMs = 0) =>
    runLedgerBefore(systemDb, new Date(present.getTime() + 2 * windowMs + ageMs))
  const world: LedgerWorld = {
    ...outbox,
    systemDb,
    queue,
    run,
    async record(...ids) {
      const events = ids.map((eventId) => {
        const type = 'charge.succeeded'
        const body = Buffer.from(JSON.stringify({ id: eventId, type, data: { object: {} } }))
        const job = newEventJob(eventId, parsed(body))
        return { eventId, type, body, secretIndex: 0, requestId: null, job, ignored: null }
      })
      await systemDb.sql(recordStatement(events, Number.MAX_SAFE_INTEGER))
    },
    async findings(ageMs) {
      const { findings } = await run(ageMs)
      return findings.map(described)
    },
  }
  await world.record('evt_1', 'evt_2', 'evt_3')
  await world.publish()
  await world.publish()
  for (const column of [
    'processed_events SET created_at',
    'received_events SET received_at',
    'outbound_events SET created_at',
  ]) {
    await database.admin.query(`UPDATE ${column} = $1`, [present])
  }
  return world
}

/** A finding as `kind id`. */
export function described({ kind, deliveryId, eventId }: Finding): string {
  return `${kind} ${eventId}${deliveryId === null ? '' : ' delivery'}`
}
