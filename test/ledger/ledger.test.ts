import { createHash } from 'node:crypto'
import t from 'tap'
import { signed } from '#src/billing/providers/signed.ts'
import { openDatabase } from '#src/db/database.ts'
import { measureLedger } from '#src/ledger/last-check.ts'
import { checkLedger, runLedgerBefore, sealLedger, wholeRanges } from '#src/ledger/ledger.ts'
import { remedyOf, repairLedger } from '#src/ledger/repair.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { type DeliverJob, openQueue } from '#src/queue/queue.ts'
import { purgeHistory } from '#src/webhooks/history/retention.ts'
import { addLostAttempt, deliverQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { attemptsAs, denied } from '#test/db/attempt.ts'
import { patient } from '#test/support/database/open.ts'
import { isOnCluster } from '#test/support/database/template.ts'
import { createLedger, type LedgerWorld } from './world.ts'

t.test('a window has the number of each kind of work, and the XOR of the ids', async (t) => {
  const world = await createLedger(t)
  await world.database.admin.query(
    `UPDATE received_events SET status = 'processed' WHERE event_id = 'evt_1'`,
  )
  t.same((await world.run()).findings, [])
  const { rows } = await world.database.admin.query<{ kind: string; count: string; ids: string }>(
    'SELECT kind, count, ids FROM ledger ORDER BY id',
  )
  const published = (await world.deliveries()).map(({ event_id }) => event_id)
  const deliveries = (await world.deliveries()).map(({ id }) => id)
  const all = ['evt_1', 'evt_2', 'evt_3']
  t.strictSame(
    rows.filter(({ kind, count }) => count !== '0' && !kind.endsWith(' checksum')),
    [
      { kind: 'received', count: '3', ids: xorOf(all) },
      { kind: 'recorded', count: '3', ids: xorOf(all) },
      { kind: 'recorded as processed', count: '1', ids: xorOf(['evt_1']) },
      { kind: 'recorded as recorded', count: '2', ids: xorOf(['evt_2', 'evt_3']) },
      { kind: 'published', count: '2', ids: xorOf(published) },
      { kind: 'deliveries', count: '2', ids: xorOf(deliveries) },
      { kind: 'deliveries as pending', count: '2', ids: xorOf(deliveries) },
    ],
  )
  const checksums = rows.filter(({ kind }) => kind.endsWith(' checksum'))
  t.strictSame(
    checksums.map(({ kind, count }) => `${kind} ${count}`),
    ['received checksum 3', 'recorded checksum 3', 'published checksum 2'],
  )
  t.equal(checksums[0]?.ids, checksums[1]?.ids)
  t.equal(rows.filter(({ kind, count }) => kind === 'received' && count === '0').length, 2)
  const { length } = rows
  t.same((await world.run()).findings, [], 'a window is sealed once')
  t.equal((await world.database.admin.query('SELECT FROM ledger')).rowCount, length)
})

function xorOf(ids: readonly string[]): string {
  const bits = ids.map((id) => BigInt(`0x${createHash('md5').update(id).digest('hex')}`))
  return bits
    .reduce((sum, one) => sum ^ one, 0n)
    .toString(2)
    .padStart(128, '0')
}

const deleteOne = (table: string, key: string, order = key) =>
  `DELETE FROM ${table} WHERE ${key} = (SELECT ${key} FROM ${table} ORDER BY ${order} LIMIT 1)`
const forged = `msg_${'A'.repeat(43)}`
const copyEvent = `INSERT INTO outbound_events (tenant_id, id, type, body, created_at)
  SELECT tenant_id, '${forged}', type, body, created_at FROM outbound_events LIMIT 1`

t.test('whatever is lost, added or changed behind the program is found', async (t) => {
  const faults: [name: string, sql: string, found: RegExp[]][] = [
    [
      'an event',
      deleteOne('received_events', 'event_id'),
      [/^event-not-recorded evt_1$/, /^window-changed recorded: 3 sealed, 2 found$/],
    ],
    [
      'the key of an event',
      deleteOne('processed_events', 'event_id'),
      [/^event-not-known evt_1$/, /^window-changed received: 3 sealed, 2 found$/],
    ],
    [
      'an event with its key',
      `${deleteOne('received_events', 'event_id')}; ${deleteOne('processed_events', 'event_id')}`,
      [/^window-changed received: 3 sealed, 2 found$/, /^window-changed recorded: 3 sealed/],
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
    [
      'a published event',
      deleteOne('outbound_events', 'id'),
      [/^window-changed published: 2 sealed, 1 found$/],
    ],
    [
      'a forged event',
      copyEvent,
      [
        new RegExp(`^event-without-delivery ${forged}$`),
        /^window-changed published: 2 sealed, 3 found$/,
      ],
    ],
    [
      'an event in place of another',
      `${copyEvent}; ${deleteOne('outbound_events', 'id', `id = '${forged}', id`)}`,
      [
        new RegExp(`^event-without-delivery ${forged}$`),
        /^window-changed published: 2 sealed, 2 found$/,
      ],
    ],
    [
      'a row of the ledger',
      `UPDATE ledger SET count = 4 WHERE kind = 'recorded'`,
      [/^row-changed row \d+ is not as it was written/, /^window-changed recorded: 4 sealed/],
    ],
    [
      'a row of the ledger with a new hash',
      `UPDATE ledger l SET count = 4, hash = ledger_hash(previous, window_start, kind, 4, ids)
       WHERE kind = 'recorded'`,
      [/^row-changed row \d+ is not as it was written/, /^window-changed recorded: 4 sealed/],
    ],
    [
      'a row of the ledger that is gone',
      deleteOne('ledger', 'id', `kind = 'deliveries' DESC, id`),
      [/^row-changed row \d+ .* the one before it is missing$/],
    ],
  ]
  for (const [name, sql, found] of faults) {
    const world = await createLedger(t)
    t.same(await world.findings(), [], `${name}: nothing before`)
    await world.database.admin.query(sql)
    const whole = await checkAll(world)
    const again = await checkAll(world)
    t.equal(whole.length, found.length, `${name}: ${whole.join('; ')}`)
    for (const [index, pattern] of found.entries()) t.match(whole[index], pattern, name)
    t.same(again, whole, `${name}: still there at the next check`)
  }
})

async function checkAll({ systemDb }: LedgerWorld): Promise<string[]> {
  const ranges = await wholeRanges(systemDb, new Date(Date.now() + 600_000))
  const { findings } = await checkLedger(systemDb, ranges)
  return findings
    .map(({ kind, deliveryId, eventId, detail }) => {
      const subject = kind === 'window-changed' ? detail : (eventId ?? detail)
      return `${kind} ${subject}${deliveryId === null ? '' : ' delivery'}`
    })
    .toSorted()
}

t.test('the first look finds what was missing when its window was sealed', async (t) => {
  const faults: [name: string, sql: string, found: string[]][] = [
    ['an event', deleteOne('received_events', 'event_id'), ['event-not-recorded evt_1']],
    ['the key of an event', deleteOne('processed_events', 'event_id'), ['event-not-known evt_1']],
    [
      'an event and the key of another',
      `${deleteOne('received_events', 'event_id')}; ${deleteOne('processed_events', 'event_id', 'event_id DESC')}`,
      ['event-not-recorded evt_1', 'event-not-known evt_3'],
    ],
    [
      'a job',
      `DELETE FROM pgboss.job_common WHERE data->>'eventId' = 'evt_2'`,
      ['event-without-job evt_2'],
    ],
  ]
  for (const [name, sql, found] of faults) {
    const world = await createLedger(t)
    const { admin } = world.database
    await admin.query(sql)
    t.strictSame(await world.findings(), found, name)
    for (const [kind, table] of [
      ['received', 'processed_events'],
      ['recorded', 'received_events'],
    ]) {
      const { rows } = await admin.query(`SELECT event_id FROM ${table}`)
      const sealed = await admin.query(`SELECT ids FROM ledger WHERE kind = $1 AND count > 0`, [
        kind,
      ])
      t.same(
        sealed.rows,
        [{ ids: xorOf(rows.map(({ event_id }) => event_id)) }],
        `${name}: ${kind}`,
      )
    }
  }
  const world = await createLedger(t)
  const [first, second] = await world.deliveries()
  await world.database.admin.query(
    `DELETE FROM deliveries WHERE id = '${first?.id}'; DELETE FROM due_attempts`,
  )
  // A process that ends between the two leaves the look to the next run.
  await sealLedger(world.systemDb, new Date(Date.now() + 600_000))
  t.strictSame(await world.findings(), [
    `delivery-without-job ${second?.event_id} delivery`,
    `event-without-delivery ${first?.event_id}`,
  ])
})

t.test('the rows of a window are counted again after a day, and after 28, 56 and 84', async (t) => {
  for (const days of [1, 28, 56, 84]) {
    const world = await createLedger(t)
    const { admin } = world.database
    t.same(await world.findings(), [])
    await admin.query(deleteOne('received_events', 'event_id'))
    await admin.query(deleteOne('processed_events', 'event_id'))
    t.same(await world.findings(), [], 'no look is due')
    // The next window to be sealed is that of so many days later.
    const { rows } = await admin.query<{ to: Date }>(
      `WITH skipped AS (
         SELECT max(window_start) + make_interval(hours => 24 * $1) AS at FROM ledger
       ), entry AS (
         SELECT append_ledger(at - interval '10 minutes', 'received', 0, repeat('0', 128)::bit(128))
         FROM skipped
       )
       UPDATE ledger_checks SET checked_to = at - interval '5 minutes' FROM skipped, entry
       RETURNING at + interval '10 minutes' AS to`,
      [days],
    )
    const to = rows[0]?.to ?? new Date(0)
    const { findings } = await runLedgerBefore(world.systemDb, to)
    t.strictSame(
      findings.map(({ detail }) => detail).toSorted(),
      ['received: 3 sealed, 2 found', 'recorded: 3 sealed, 2 found'],
      `${days} days`,
    )
  }
})

t.test('a window without checksums, of an earlier release, is compared by its ids', async (t) => {
  const world = await createLedger(t)
  const { admin } = world.database
  await world.run()
  await admin.query(`DELETE FROM ledger WHERE kind LIKE '% checksum'`)
  const changes = async () =>
    (await checkAll(world)).filter((finding) => finding.startsWith('window-changed'))
  t.strictSame(await changes(), [])
  await admin.query(
    `UPDATE received_events SET event_id = 'evt_other' WHERE event_id = 'evt_2';
     UPDATE processed_events SET event_id = 'evt_other' WHERE event_id = 'evt_2'`,
  )
  t.strictSame(await changes(), [
    'window-changed received: 3 sealed, 3 found',
    'window-changed recorded: 3 sealed, 3 found',
  ])
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
    // What is lost after the first look at its window, is found two hours later.
    await database.admin.query('DELETE FROM pgboss.job_common')
    t.same(await world.findings(), [], 'no new window')
    t.same(await world.findings(twoHoursMs - 600_000), [], 'not yet')
    const found = await world.findings(twoHoursMs)
    t.equal(found.length, 5, found.join())
    t.equal(await measured(), '5')
    t.equal((await world.findings()).length, 5, 'windows with findings are checked again')
    const { findings } = await world.run()
    const repaired = await repairLedger(systemDb, queue, findings, {
      accept: false,
      provider: signed,
    })
    t.same(repaired, { deliveries: 2, events: 3, windows: 0 })
    t.same(await world.findings(), [])
    t.equal(await measured(), '0')
    const { rows } = await database.admin.query(
      'SELECT whole, unaccounted, kinds FROM ledger_checks ORDER BY id DESC OFFSET 1 LIMIT 1',
    )
    const kinds = { 'event-without-job': 3, 'delivery-without-job': 2 }
    t.same(rows, [{ whole: false, unaccounted: 5, kinds }])
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
  await repairLedger(systemDb, queue, findings, { accept: false, provider: signed })
  const again = findings.filter(({ kind }) => kind === 'delivery-without-job')
  const { deliveries } = await repairLedger(systemDb, queue, again, {
    accept: false,
    provider: signed,
  })
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

t.test('a changed window is accepted by an entry, which stays', async (t) => {
  const world = await createLedger(t)
  const { database, systemDb, queue } = world
  await world.run()
  await database.admin.query(`${copyEvent}; ${deleteOne('received_events', 'event_id')}`)
  await database.admin.query(deleteOne('processed_events', 'event_id'))
  const ranges = await wholeRanges(systemDb, new Date(Date.now() + 600_000))
  const { findings } = await checkLedger(systemDb, ranges)
  const repaired = await repairLedger(systemDb, queue, findings, { accept: true, provider: signed })
  t.equal(repaired.windows, 1)
  const { rows } = await database.admin.query(
    `SELECT kind, count FROM ledger WHERE kind LIKE '%-corrected' ORDER BY id`,
  )
  t.same(rows, [
    { kind: 'published-corrected', count: '1' },
    { kind: 'received-corrected', count: '-1' },
    { kind: 'recorded-corrected', count: '-1' },
  ])
  t.same(await checkAll(world), [`event-without-delivery ${forged}`])
})

t.test('what the retention and an erasure delete is accounted for', async (t) => {
  const world = await createLedger(t)
  const { database, systemDb, tenant } = world
  const all = { before: new Date(Date.now() + 60_000), feed: new Date(Date.now() + 60_000) }
  t.match(await purgeHistory(systemDb, all), { events: 2 })
  await world.publish()
  t.same((await world.run()).findings, [], 'deleted before its window was sealed')
  t.equal(await sumOf(world, 'published'), 1)
  t.match(await purgeHistory(systemDb, all), { events: 1 })
  t.same(await checkAll(world), [], 'deleted afterwards, and not in the ledger yet')
  await database.admin.query(`INSERT INTO erasures (kind, tenant_id) VALUES ('tenant', $1)`, [
    tenant.tenantId,
  ])
  t.same((await world.run()).findings, [])
  t.equal(await sumOf(world, 'published-removed'), 1)
  t.same(await checkAll(world), [], 'and in the ledger')
})

async function sumOf({ database }: LedgerWorld, kind: string): Promise<number> {
  const { rows } = await database.admin.query(
    'SELECT coalesce(sum(count), 0)::int AS sum FROM ledger WHERE kind = $1',
    [kind],
  )
  return rows[0].sum
}

t.test('of two processes one seals, and no role can write the ledger', async (t) => {
  const world = await createLedger(t)
  await Promise.all([world.run(), world.run(), world.run()])
  const { rows } = await world.database.admin.query(
    `SELECT window_start FROM ledger WHERE kind = 'received' GROUP BY 1 HAVING count(*) > 1`,
  )
  t.same(rows, [])
  for (const url of [world.database.url, world.database.workerUrl]) {
    const attempt = await attemptsAs(t, world.database, url)
    for (const sql of [
      `INSERT INTO ledger (window_start, kind, count, ids, previous, hash)
       SELECT window_start, kind, count, ids, previous, hash FROM ledger LIMIT 1`,
      'UPDATE ledger SET count = 0',
      'DELETE FROM ledger',
      'TRUNCATE ledger',
      'DELETE FROM ledger_removals',
      `SELECT append_ledger(now(), 'x', 1, repeat('0', 128)::bit(128))`,
    ]) {
      t.match(await attempt({}, sql), denied, sql)
    }
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
  const client = await admin.connect()
  const plans: string[] = []
  const keep = ({ message = '' }: { message?: string | undefined }) => void plans.push(message)
  client.on('notice', keep)
  try {
    await client.query(
      `LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;
       SET auto_explain.log_nested_statements = on; SET client_min_messages = log`,
    )
    const { rows } = await client.query<{ id: string }>(
      `SELECT event_id AS id FROM check_windows(now() - interval '1 hour', now() + interval '1 hour', 10, true)
       WHERE kind = 'event-without-job' ORDER BY 1`,
    )
    t.strictSame(
      rows.map(({ id }) => id),
      ['evt_more_1999', 'evt_more_7'],
    )
  } finally {
    client.off('notice', keep)
    client.release(true)
  }
  const plan = plans.find((text) => text.includes(`'event-without-job'`)) ?? ''
  t.match(plan, 'job_common')
  const compared = [...plan.matchAll(/Rows Removed by Join Filter: (\d+)/g)].map(([, n]) =>
    Number(n),
  )
  t.ok(
    compared.every((pairs) => pairs <= events),
    plan,
  )
})
