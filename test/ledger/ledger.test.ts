import t from 'tap'
import { signed } from '#src/billing/providers/signed.ts'
import { openDatabase } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { measureLedger } from '#src/ledger/last-check.ts'
import { checkLedger, wholeRanges } from '#src/ledger/ledger.ts'
import { remedyOf, repairLedger } from '#src/ledger/repair.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { type DeliverJob, openQueue } from '#src/queue/queue.ts'
import { purgeHistory } from '#src/webhooks/history/retention.ts'
import { addLostAttempt, deliverQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { attemptsAs, denied } from '#test/db/attempt.ts'
import { patient } from '#test/support/database/open.ts'
import { isOnCluster } from '#test/support/database/template.ts'
import { createLedger, described, type LedgerWorld } from './world.ts'

const deleteOne = (table: string, key: string, order = key) =>
  `DELETE FROM ${table} WHERE ${key} = (SELECT ${key} FROM ${table} ORDER BY ${order} LIMIT 1)`
t.test('whatever is lost behind the program is found', async (t) => {
  const faults: [name: string, sql: string, found: RegExp[]][] = [
    ['an event', deleteOne('received_events', 'event_id'), [/^event-not-recorded evt_1$/]],
    ['the key of an event', deleteOne('processed_events', 'event_id'), [/^event-not-known evt_1$/]],
    [
      'an event and the key of another',
      `${deleteOne('received_events', 'event_id')}; ${deleteOne('processed_events', 'event_id', 'event_id DESC')}`,
      [/^event-not-known evt_3$/, /^event-not-recorded evt_1$/],
    ],
    [
      'the jobs of events',
      `DELETE FROM pgboss.job_common WHERE name = 'billing-event'`,
      [/^event-without-job evt_1$/, /^event-without-job evt_2$/, /^event-without-job evt_3$/],
    ],
    [
      'a job that ended without an effect',
      `UPDATE pgboss.job_common SET state = 'completed' WHERE data->>'eventId' = 'evt_2'`,
      [/^event-without-job evt_2$/],
    ],
    [
      'the due attempt of a delivery',
      deleteOne('due_attempts', 'delivery_id'),
      [/^delivery-without-job msg_\S+ delivery$/],
    ],
    [
      'the job of an endpoint',
      `DELETE FROM pgboss.job_common WHERE name = 'endpoint-turn'`,
      [/^delivery-without-job msg_\S+ delivery$/, /^delivery-without-job msg_\S+ delivery$/],
    ],
    [
      'the due attempt of the wrong number',
      'UPDATE deliveries SET attempts = 1 WHERE id = (SELECT min(id::text)::uuid FROM deliveries)',
      [/^delivery-without-job msg_\S+ delivery$/],
    ],
    ['a delivery', deleteOne('deliveries', 'id'), [/^event-without-delivery msg_\S+$/]],
  ]
  for (const [name, sql, found] of faults) {
    const world = await createLedger(t)
    await world.database.admin.query(sql)
    const whole = await checkAll(world)
    t.equal(whole.length, found.length, `${name}: ${whole.join('; ')}`)
    for (const [index, pattern] of found.entries()) t.match(whole[index], pattern, name)
    t.strictSame((await world.findings()).toSorted(), whole, `${name}: also by the scheduled check`)
    t.strictSame((await world.findings()).toSorted(), whole, `${name}: still at the next one`)
  }
})

/** The findings of a check of everything, as `kind id`. */
async function checkAll({ systemDb }: LedgerWorld): Promise<string[]> {
  const before = new Date(Date.now() + 600_000)
  const { findings } = await checkLedger(systemDb, await wholeRanges(systemDb, before), before)
  return findings.map(described).toSorted()
}

t.test('an endpoint that has changed since an event needs no delivery of it', async (t) => {
  const world = await createLedger(t)
  await world.database.admin.query(
    'DELETE FROM deliveries; UPDATE webhook_endpoints SET updated_at = now()',
  )
  t.strictSame(await checkAll(world), [])
})

t.test(
  'a scheduled check stores what it found, until a later one finds nothing there',
  async (t) => {
    const world = await createLedger(t)
    const { database, systemDb, queue } = world
    const measured = async () => {
      const metrics = createMetrics()
      await measureLedger(systemDb, metrics.ledger)
      return (await metrics.registry.metrics()).match(/^gatehouse_unaccounted (\d+)$/m)?.[1]
    }
    t.equal(await measured(), '0')
    const twoHoursMs = 7_200_000
    await world.run()
    const lose = (queue: string) =>
      database.admin.query('DELETE FROM pgboss.job_common WHERE name = $1', [queue])
    await lose('endpoint-turn')
    t.same(await world.findings(), [], 'nothing is new')
    t.same(await world.findings(twoHoursMs - 600_000), [], 'and nothing is old enough')
    t.equal((await world.findings(twoHoursMs)).length, 2)
    await lose('billing-event')
    const found = await world.findings(twoHoursMs)
    t.equal(found.length, 5, 'a received event is looked at as long as it waits')
    t.equal(await measured(), '5')
    const { findings } = await world.run(twoHoursMs + 600_000)
    t.equal(findings.length, 5, 'hours with findings are looked at again')
    const repaired = await repairLedger(systemDb, queue, findings, signed)
    t.same(repaired, { deliveries: 2, events: 3 })
    t.same(await world.findings(twoHoursMs + 600_000), [])
    t.equal(await measured(), '0')
    const { rows } = await database.admin.query(
      'SELECT unaccounted, kinds, open_hours FROM ledger_checks ORDER BY id DESC OFFSET 1 LIMIT 1',
    )
    const kinds = { 'event-without-job': 3, 'delivery-without-job': 2 }
    t.match(rows, [{ unaccounted: 5, kinds, open_hours: { length: 1 } }])
  },
)

t.test('a repair gives jobs that are those of the program, once', async (t) => {
  const world = await createLedger(t)
  const { database, systemDb, queue } = world
  const jobs = async () => {
    const { rows } = await database.admin.query(
      `SELECT name, data, group_id, priority FROM pgboss.job_common
       WHERE name IN ('endpoint-turn', 'billing-event') AND state = 'created'
       ORDER BY name, data::text`,
    )
    return rows
  }
  const attempts = async () => {
    const { rows } = await database.admin.query('SELECT * FROM due_attempts ORDER BY delivery_id')
    return rows
  }
  const before = { jobs: await jobs(), attempts: await attempts() }
  t.equal(before.jobs.length, 4)
  t.equal(before.attempts.length, 2)
  await database.admin.query('DELETE FROM pgboss.job_common; DELETE FROM due_attempts')
  const { findings } = await world.run()
  t.same(new Set(findings.map(remedyOf)), new Set(['job']))
  await repairLedger(systemDb, queue, findings, signed)
  const again = findings.filter(({ kind }) => kind === 'delivery-without-job')
  const { deliveries } = await repairLedger(systemDb, queue, again, signed)
  t.equal(deliveries, 0, 'a delivery has its job already')
  t.same(await checkAll(world), [], 'which is as good as the attempt')
  const db = openDatabase(database.workerUrl, 1, patient)
  const worker = openQueue(database.workerUrl, 'worker', (error) => t.error(error))
  await worker.start()
  t.teardown(() => Promise.all([db.close(), worker.stop({ graceful: false })]))
  for (const job of await worker.fetch<DeliverJob>(deliverQueue, { batchSize: 10 })) {
    await addLostAttempt(db, worker, job)
  }
  t.same({ jobs: await jobs(), attempts: await attempts() }, before)
})

t.test('what the retention and an erasure delete is no finding', async (t) => {
  const world = await createLedger(t)
  const { database, systemDb, tenant } = world
  const all = { before: new Date(Date.now() + 60_000), feed: new Date(Date.now() + 60_000) }
  t.match(await purgeHistory(systemDb, all), { events: 2 })
  await world.publish()
  t.same(await checkAll(world), [])
  t.match(await purgeHistory(systemDb, all), { events: 1 })
  await database.admin.query(`INSERT INTO erasures (kind, tenant_id) VALUES ('tenant', $1)`, [
    tenant.tenantId,
  ])
  t.same(await checkAll(world), [])
})

t.test('the web role stores no check and changes none', async (t) => {
  const world = await createLedger(t)
  const attempt = await attemptsAs(t, world.database, world.database.url)
  for (const sql of [
    `INSERT INTO ledger_checks (unaccounted, kinds, open_hours, checked_to)
     VALUES (0, '{}', '{}', now())`,
    'UPDATE ledger_checks SET unaccounted = 0',
    'DELETE FROM ledger_checks',
    'SELECT tenants FROM ledger_checks',
    'SELECT FROM check_deliveries(now(), now(), 1)',
  ]) {
    t.match(await attempt({}, sql), denied, sql)
  }
})

const skip =
  isOnCluster() && 'a cluster cannot explain a run whose aggregates it divides among nodes'
t.test('a check without statistics compares no event with every job', { skip }, async (t) => {
  const world = await createLedger(t)
  const { admin } = world.database
  const events = 2_000
  // Statistics would be there after a minute, and the plan another one.
  await admin.query('ALTER TABLE received_events SET (autovacuum_enabled = false)')
  await admin.query('ALTER TABLE pgboss.job_common SET (autovacuum_enabled = false)')
  await world.record(...Array.from({ length: events }, (_, n) => `evt_more_${n}`))
  await admin.query(
    `DELETE FROM pgboss.job_common WHERE data->>'eventId' IN ('evt_more_7', 'evt_more_1999')`,
  )
  const plans: string[] = []
  const explained = async (strings: TemplateStringsArray, ...values: unknown[]) => {
    const { text, values: parameters } = Prisma.sql(strings, ...values)
    const { rows } = await admin.query(`EXPLAIN (ANALYZE) ${text}`, parameters)
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    return (await admin.query(text, parameters)).rows
  }
  const connection = { sql: explained, notify: () => {} } as unknown as Queryable
  const { findings } = await checkLedger(
    { transaction: (_, work) => work(connection) },
    [],
    new Date(Date.now() + 3_600_000),
  )
  t.strictSame(findings.map(({ eventId }) => eventId).toSorted(), ['evt_more_1999', 'evt_more_7'])
  const [plan = ''] = plans
  t.match(plan, 'job_common')
  const compared = [...plan.matchAll(/Rows Removed by Join Filter: (\d+)/g)].map(([, n]) =>
    Number(n),
  )
  t.ok(
    compared.every((pairs) => pairs <= events),
    plan,
  )
})
