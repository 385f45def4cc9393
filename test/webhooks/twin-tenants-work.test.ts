import type { Job } from 'pg-boss'
import t from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { noClientInfo } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import type { Answers } from '#src/queue/answers.ts'
import { addJob } from '#src/queue/jobs.ts'
import { openQueue } from '#src/queue/queue.ts'
import { systemClock } from '#src/runtime/clock.ts'
import { announceTurn } from '#src/webhooks/delivery/end-turns.ts'
import { workForecast } from '#src/webhooks/delivery/forecast.ts'
import { workDrain } from '#src/webhooks/delivery/held/drain.ts'
import { holdBeyondLimit } from '#src/webhooks/delivery/held/hold.ts'
import { workTrial } from '#src/webhooks/delivery/held/trial.ts'
import { tallyDays } from '#src/webhooks/events/tally.ts'
import { sealOutput } from '#src/webhooks/probe/call.ts'
import { probeEndpoint } from '#src/webhooks/probe/probe.ts'
import { testType } from '#src/webhooks/probe/test-event.ts'
import { workCalls } from '#src/webhooks/probe/worker.ts'
import {
  addLostAttempt,
  endpointCallQueue,
  endpointTurnQueue,
} from '#src/webhooks/schedule/due-attempts.ts'
import { patient } from '#test/support/database/open.ts'
import { until } from '#test/support/database/until.ts'
import { allowing, openReceiver } from '#test/support/receiver/outbox.ts'
import { testKeys } from '#test/support/receiver/webhook-endpoint.ts'
import { createTwins } from './twin-tenants.ts'

const twins = await createTwins(t)
const { database, enter, original, twin, ids, inTwin, databaseOf } = twins
const { tenantId } = twin
const endpointId = ids.endpoint
const now = new Date()
const queue = openQueue(database.superuserUrl, 'worker', () => {})
await queue.start()
t.teardown(() => queue.stop({ graceful: false }))

const ofOriginal = `tenant_id = '${original.tenantId}'`
const ofTwin = `tenant_id = '${tenantId}'`
const endpointOfTwin = `${ofTwin} AND id = '${endpointId}'`
const limited = `UPDATE webhook_endpoints SET rate_per_second = 1, rate_burst = 1
  WHERE id = '${endpointId}'`
const pendingIsLimited = `UPDATE deliveries SET held_for = 'rate', next_attempt_at = NULL
  WHERE ${ofTwin} AND id = '${ids.pending}'`
/** Deliveries that failed since then may wait for the recovery of their endpoint. */
const enabledDaysAgo = `UPDATE endpoint_states SET enabled_at = now() - interval '3 days'
  WHERE id = '${endpointId}'`
const exhaustedWaits = `UPDATE deliveries SET held_for = 'recovery'
  WHERE ${ofTwin} AND id = '${ids.exhausted}'`

t.test('deliveries are held beyond the rate limit of the endpoint of their tenant', async (t) => {
  const attempts = [
    { deliveryId: ids.fresh, endpointId, createdAt: new Date(now.getTime() - 1_000) },
    { deliveryId: ids.pending, endpointId, createdAt: now },
  ]
  const held = await inTwin(
    async (tx) => ({
      ids: await holdBeyondLimit(tx, queue, twin, attempts, now),
      delivery: await findDelivery(tx, ids.pending),
    }),
    limited,
    `UPDATE endpoint_states SET rate_next_at = now() + interval '1 day' WHERE ${ofOriginal}`,
    dueAttempt(ofOriginal, ids.pending),
    dueAttempt(ofTwin, ids.pending),
  )
  t.strictSame(held.ids, new Set([ids.pending]), 'the original’s limit allows no delivery')
  t.match(held.delivery, { heldFor: 'rate', due: 0 })
})

t.test('a turn marks the endpoint of its own tenant', async (t) => {
  const announced = await inTwin(async (tx) => {
    await announceTurn(databaseOf(tx), jobOf({ tenantId, endpointId }))
    return tx.webhookEndpoint.findFirst({ where: { tenantId, id: endpointId } })
  })
  t.match(announced, { inTurn: true })
})

t.test('a drain releases only deliveries of its tenant', async (t) => {
  const drain = (deliveryId: string, ...prepare: string[]) =>
    inTwin(
      async (tx) => {
        await workDrain(databaseOf(tx), queue, jobOf({ tenantId, endpointId }), now)
        return findDelivery(tx, deliveryId)
      },
      ...prepare,
    )
  t.match(
    await drain(ids.pending, limited, pendingIsLimited),
    { heldFor: null, due: 1 },
    'within the rate limit',
  )
  const recovering = `UPDATE endpoint_states SET recovery_step = 5,
    recovering_since = now() - interval '1 hour' WHERE ${endpointOfTwin}`
  t.match(
    await drain(ids.exhausted, enabledDaysAgo, exhaustedWaits, recovering),
    { status: 'pending', series: 1, heldFor: null, due: 1 },
    'after the recovery of its endpoint',
  )
})

t.test('a trial is a delivery that waits in its own tenant', async (t) => {
  const at = now.getTime()
  const tried = await inTwin(
    async (tx) => {
      await workTrial(databaseOf(tx), queue, jobOf({ tenantId, endpointId, at }), now)
      return tx.endpointState.findFirst({ where: { tenantId, id: endpointId } })
    },
    enabledDaysAgo,
    exhaustedWaits,
    `UPDATE endpoint_states SET status = 'failing', failing_since = now() - interval '1 hour',
       trial_at = '${now.toISOString()}', trial_delivery_id = '${ids.pending}'
     WHERE ${endpointOfTwin}`,
    dueAttempt(ofOriginal, ids.pending),
    `UPDATE due_attempts SET released = true WHERE ${ofOriginal}`,
    `UPDATE deliveries SET held_for = 'recovery', created_at = now() - interval '2 days'
     WHERE ${ofOriginal} AND id = '${ids.fresh}'`,
  )
  t.match(tried, { trials: 1, trialDeliveryId: ids.exhausted })
})

t.test('owners are warned of the certificate of their own endpoint', async (t) => {
  const warned = await inTwin(
    async (tx) => {
      await workForecast(databaseOf(tx), queue, jobOf({ tenantId, endpointId }), now)
      const where = { tenantId, kind: 'endpoint.certificate' }
      return tx.notification.findMany({ where })
    },
    `UPDATE endpoint_states SET certificate_expires_at = now() + interval '2 days'
     WHERE ${endpointOfTwin}`,
  )
  t.match(warned, [{ message: / at 8\.8\.4\.4 / }])
  t.equal(warned.length, 1)
})

t.test('a lost attempt is added only to a pending delivery of its tenant', async (t) => {
  const add = (deliveryId: string, number: number) =>
    inTwin(async (tx) => {
      const job = jobOf({ tenantId, deliveryId, series: 0, number })
      await addLostAttempt(databaseOf(tx), queue, job)
      return findDelivery(tx, deliveryId)
    }, pendingIsLimited)
  t.match(await add(ids.fresh, 1), { due: 1 })
  t.match(await add(ids.pending, 2), { heldFor: 'rate', due: 0 }, 'the original’s is not held')
})

t.test('a tenant counts its own events, deliveries and due attempts', async (t) => {
  const days = await inTwin(
    async (tx) => {
      const turn = { tenantId, endpointId }
      await addJob(queue, tx, endpointTurnQueue, turn, { group: { id: endpointId } })
      return tallyDays(tx, twin, now)
    },
    dueAttempt(ofTwin, ids.fresh),
    dueAttempt(ofOriginal, ids.pending),
  )
  const sum = (
    count: 'events' | 'succeeded' | 'exhausted' | 'retrying' | 'waiting' | 'unaccounted',
  ) => days.reduce((all, day) => all + day[count], 0)
  t.equal(sum('events'), 3)
  t.strictSame([sum('succeeded'), sum('exhausted')], [0, 1])
  t.equal(sum('retrying') + sum('waiting'), 2)
  t.equal(sum('unaccounted'), 1, 'the pending delivery, which is due in the original alone')
})

t.test('a probe is recorded for its own tenant', async (t) => {
  const probe = (wait: Answers['wait']) =>
    inTwin(
      async (tx) => {
        const answers = { requireRoom() {}, wait, close() {} }
        const [clock, clientInfo] = [{ now: () => now }, noClientInfo]
        const deps = { queue, answers, keys: testKeys, clock, clientInfo }
        const probing = probeEndpoint(databaseOf(tx), enter(twin), endpointId, deps)
        const result = await probing.catch((error: Error) => error)
        const where = { tenantId, id: endpointId }
        return { result, recorded: await tx.endpointProbe.findFirst({ where }) }
      },
      `INSERT INTO endpoint_probes (tenant_id, id, started_at)
       VALUES ('${original.tenantId}', '${endpointId}', '${now.toISOString()}')`,
    )
  const report = { grade: 'A' }
  t.match(await probe(async ({ id }) => sealOutput(testKeys, id, { made: report })), {
    result: { report },
    recorded: { startedAt: now, report },
  })
  t.match(
    await probe(() => Promise.reject(new Error('no answer'))),
    { result: { message: 'no answer' }, recorded: { startedAt: null, report: null } },
    'its turn is given back',
  )
})

t.test('a worker calls the endpoint of the tenant that asked', async (t) => {
  const receiver = await openReceiver(t)
  const systemDb = openSystemDatabase(database.superuserUrl, 1, patient)
  t.teardown(() => systemDb.close())
  const { outbound } = testConfig(database, allowing(receiver))
  const call = { kind: 'test', type: testType, userId: null, tenantId, endpointId } as const
  await inTwin(
    async (tx) => {
      const id = await queue.send(endpointCallQueue, call)
      const deps = { queue, systemDb, db: databaseOf(tx), keys: testKeys, clock: systemClock }
      const due = { watch() {} }
      const calling = await workCalls(outbound, { ...deps, due, logger: createLogger('silent') })
      t.teardown(() => calling.stop())
      await until(database, `SELECT FROM pgboss.job WHERE id = '${id}' AND state > 'active'`)
    },
    // A call to this private address would be refused.
    `UPDATE webhook_endpoints SET url = 'http://10.0.0.1/' WHERE ${ofOriginal}`,
    `UPDATE webhook_endpoints SET url = '${receiver.url}' WHERE ${endpointOfTwin}`,
  )
  t.equal(receiver.requests.length, 1)
})

async function findDelivery(tx: Tx, id: string) {
  const delivery = await tx.delivery.findFirstOrThrow({ where: { tenantId, id } })
  const due = await tx.dueAttempt.count({ where: { tenantId, deliveryId: id } })
  return { ...delivery, due }
}

/** The next attempt of a delivery is due. */
function dueAttempt(ofTenant: string, deliveryId: string): string {
  return `INSERT INTO due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
    SELECT tenant_id, id, endpoint_id, now(), series, attempts + 1 FROM deliveries
    WHERE ${ofTenant} AND id = '${deliveryId}'`
}

function jobOf<Data>(data: Data): Job<Data> {
  const { signal } = new AbortController()
  const job = { id: crypto.randomUUID(), name: '', expireInSeconds: 60, heartbeatSeconds: null }
  return { ...job, retryCount: 0, signal, data }
}
