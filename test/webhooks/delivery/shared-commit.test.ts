import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { openDatabase } from '#src/db/database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { createRecorder, type Ended } from '#src/webhooks/delivery/record.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { until, untilBlocked } from '#test/support/database/until.ts'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/*
 * Outcomes of several tenants that are recorded together share one packet and one commit. Each must be recorded
 * as if it were alone: in its own tenant, by its own turn, and whatever becomes of the others.
 */

t.test('outcomes of several tenants are recorded in one packet and one commit', async (t) => {
  const { database, proxy, attempts, record } = await setUp(t)
  await record(attempts)
  await reset(database)
  proxy.reset()
  await record(attempts)
  t.equal(proxy.roundTrips(), 1)
  t.strictSame(await stateOf(database), attempts.map(recorded))
  const { rows } = await database.admin.query('SELECT DISTINCT xmin::text FROM delivery_attempts')
  t.equal(rows.length, 1, 'one transaction')
})

type Trouble = {
  arrange?(database: TestDatabase, attempt: Attempt): Promise<unknown>
  /** @param other of another tenant */
  change?(attempt: Attempt, other: Attempt): Attempt
  isRejected?: true
}

const setJob = (state: string) => (database: TestDatabase, attempt: Attempt) =>
  database.admin.query(
    `UPDATE pgboss.job SET state = '${state}', start_after = now() WHERE id = $1`,
    [attempt.turn.id],
  )

/** Why an outcome is not recorded. */
const troubles: Readonly<Record<string, Trouble>> = {
  'a turn that was taken back': { arrange: setJob('retry'), isRejected: true },
  'a turn that has ended': { arrange: setJob('completed'), isRejected: true },
  'a turn that another worker continues': {
    change: ({ turn, ...attempt }) => ({ ...attempt, turn: { ...turn, retryCount: 1 } }),
    isRejected: true,
  },
  'a forged turn': {
    change: ({ turn, ...attempt }) => ({ ...attempt, turn: { ...turn, id: crypto.randomUUID() } }),
    isRejected: true,
  },
  'the turn of another tenant': { change: (attempt, { turn }) => ({ ...attempt, turn }) },
  'the delivery of another tenant': {
    change: (attempt, { deliveryId }) => ({ ...attempt, deliveryId, statusCode: 418 }),
  },
  'another tenant': { change: (attempt, { tenantId }) => ({ ...attempt, tenantId }) },
  'a closed tenant': {
    arrange: ({ admin }, { tenantId }) =>
      admin.query('UPDATE tenants SET closed_at = now() WHERE id = $1', [tenantId]),
  },
  'a delivery that has moved on since': {
    arrange: ({ admin }, { deliveryId }) =>
      admin.query('UPDATE deliveries SET series = 1 WHERE id = $1', [deliveryId]),
  },
  'a value that the database refuses': {
    change: (attempt) => ({ ...attempt, statusCode: 2 ** 31 }),
    isRejected: true,
  },
}

for (const [name, { arrange, change, isRejected }] of Object.entries(troubles)) {
  t.test(`${name} takes nothing of the others along`, async (t) => {
    const { database, attempts, record } = await setUp(t)
    for (const bad of attempts.keys()) {
      await reset(database)
      const own = attempts[bad]
      const other = attempts[(bad + 1) % attempts.length]
      if (own === undefined || other === undefined) throw new Error('no such attempt')
      await arrange?.(database, own)
      const results = await record(attempts.with(bad, change?.(own, other) ?? own))
      for (const [index, { status }] of results.entries()) {
        t.equal(status, index === bad && isRejected ? 'rejected' : 'fulfilled', `${bad}, ${index}`)
      }
      const expected = attempts.map((one, index) =>
        index === bad ? unrecorded(one) : recorded(one),
      )
      t.strictSame(await stateOf(database), expected, `all but ${bad}`)
    }
  })
}

t.test('one that waits for a lock does not hold up the others', async (t) => {
  const { database, attempts, record } = await setUp(t)
  const holder = await database.admin.connect()
  t.teardown(() => holder.release())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM deliveries WHERE id = $1 FOR UPDATE', [attempts[0]?.deliveryId])
  const all = record(attempts)
  await untilBlocked(database)
  await until(
    database,
    `SELECT FROM deliveries HAVING count(*) FILTER (WHERE status = 'succeeded') = ${attempts.length - 1}`,
  )
  await holder.query('ROLLBACK')
  await all
  t.strictSame(await stateOf(database), attempts.map(recorded))
})

type Attempt = Pick<Ended, 'tenantId' | 'deliveryId' | 'turn'> & {
  endpointId: string
  statusCode: number
}

/** As it is after setUp. */
async function reset({ admin }: TestDatabase): Promise<void> {
  await admin.query(`UPDATE pgboss.job SET state = 'active'`)
  await admin.query('UPDATE tenants SET closed_at = NULL')
  await admin.query('DELETE FROM delivery_attempts')
  await admin.query('DELETE FROM due_attempts')
  await admin.query(
    `UPDATE deliveries SET status = 'pending', series = 0, attempts = 0, finished_at = NULL`,
  )
  await admin.query(
    `INSERT INTO due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number, released)
     SELECT tenant_id, id, endpoint_id, created_at, 0, 1, false FROM deliveries`,
  )
}

async function stateOf({ admin }: TestDatabase) {
  const { rows } = await admin.query(
    `SELECT d.id, d.status, (SELECT array_agg(a.status_code) FROM delivery_attempts a
       WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id) AS codes
     FROM deliveries d ORDER BY d.tenant_id`,
  )
  return rows
}

const recorded = ({ deliveryId: id }: Attempt) => ({ id, status: 'succeeded', codes: [204] })
const unrecorded = ({ deliveryId: id }: Attempt) => ({ id, status: 'pending', codes: null })

/** Tenants with a due attempt and the turn of its endpoint each, in the order of their ids. */
async function setUp(t: Test) {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.workerUrl)
  const publisher = openDatabase(database.url, 2, patient)
  const db = openDatabase(proxy.through(database.workerUrl), 4, patient)
  const queue = openQueue(database.workerUrl, 'worker', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await Promise.all([db.close(), publisher.close()])
  })
  const entryOf = await allowScopes(database)
  for (let n = 0; n < 4; n += 1) {
    const tenant = await createUser(database)
    await createEndpoint(database, tenant, { url: 'https://receiver.example' })
    const event = anyEvent('order.updated', { id: 7 })
    await publisher.write(entryOf(tenant), (tx) => publish(tx, tenant, event, new Date()))
  }
  await database.admin.query(`UPDATE pgboss.job SET state = 'active'`)
  const { rows } = await database.admin.query<Omit<Attempt, 'statusCode'>>(
    `SELECT d.tenant_id AS "tenantId", d.id AS "deliveryId", d.endpoint_id AS "endpointId",
       json_build_object('id', j.id, 'retryCount', j.retry_count) AS turn
     FROM deliveries d JOIN pgboss.job j ON j.data ->> 'endpointId' = d.endpoint_id::text
     ORDER BY d.tenant_id`,
  )
  const attempts = rows.map((row): Attempt => ({ ...row, statusCode: 204 }))
  const clock = { now: () => new Date() }
  const logger = { info() {}, warn() {}, error() {} }
  const atOnce = <T>(work: () => Promise<T>) => work()
  const recorder = createRecorder({ db, queue, clock, logger }, { together: atOnce, limit: atOnce })
  return {
    database,
    proxy,
    attempts,
    record: (all: readonly Attempt[]) =>
      Promise.allSettled(
        all.map((one) => recorder.record(succeeding(one), new AbortController().signal)),
      ),
  }
}

function succeeding({ statusCode, endpointId, ...one }: Attempt): Ended {
  const result = {
    ...{ statusCode, responseExcerpt: '', retryAfterSeconds: null, error: null, cause: null },
    ...{ startedAt: new Date(), durationMs: 1, certificateExpiresAt: null },
  }
  const { deliveryId } = one
  return {
    ...{ ...one, series: 0, number: 1 },
    outcome: {
      ...{ kind: 'attempted', deliveryId, endpointId, series: 0, attempts: 0, result },
      ...{ step: { outcome: 'succeeded' }, endedMs: 0, lowPriority: false, isTrial: false },
      endpointOutcome: null,
    },
  }
}
