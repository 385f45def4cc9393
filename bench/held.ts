import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { openDatabase } from '#src/db/database.ts'
import {
  at,
  measureLag,
  prepareTenant,
  startConsumer,
  startReceivers,
  stopConsumer,
} from './outbound/world.ts'
import type { Place } from './place.ts'
import type { Effort, Section } from './section.ts'

const parts = 10
const pauseMs = 20

const note = `One endpoint per event, one event after another, while a transaction with an id stays open, as a
person in a console leaves one. The event feed waits for it, by design: an earlier event may still come.
Nothing else does. Dead rows are those of \`deliveries\`, \`due_attempts\` and the queue's jobs at the end.
\`/readyz\` warns after two minutes, and the alert is GatehouseOldTransaction.`

/** Deliveries while a transaction is held open, in ten parts of the time. */
export async function measureHeld(place: Place, effort: Effort): Promise<Section> {
  const receivers = await startReceivers()
  const db = openDatabase(place.url, 10)
  const { tenantId, publisher } = await prepareTenant(place, receivers.ports.slice(1, 2))
  const held = new pg.Client({ connectionString: place.superuserUrl })
  const admin = new pg.Client({ connectionString: place.superuserUrl })
  try {
    await Promise.all([held.connect(), admin.connect()])
    const worker = await startConsumer(place, receivers.ports)
    const lags = (events: number) =>
      measureLag(receivers, db, [publisher], { events, endpoints: 1, pauseMs })
    await lags(100)
    await admin.query('VACUUM')
    const before = await lags(500)
    await held.query('BEGIN')
    await held.query('SELECT pg_current_xact_id()')
    const begun = performance.now()
    const events = Math.ceil((effort.heldSeconds * 1_000) / pauseMs / parts)
    const during: number[][] = []
    for (let n = 0; n < parts; n += 1) during.push(await lags(events))
    const seconds = (performance.now() - begun) / 1_000
    const [waiting] = (await admin.query(feedLag, [tenantId])).rows
    const [dead] = (await admin.query(deadRows)).rows
    await held.query('COMMIT')
    await admin.query('VACUUM')
    await wait(1_000)
    const after = await lags(500)
    await stopConsumer(worker)
    const last = during.at(-1) ?? []
    return {
      title: 'A transaction that stays open',
      ratios: [
        {
          measure: `p99 from commit to arrival, a transaction open for ${seconds.toFixed(0)} s ÷ before`,
          value: (Number(at(last, 0.99)) / Number(at(before, 0.99))).toFixed(2),
          goal: '≤ 1.5',
        },
        {
          measure: 'events/s meanwhile',
          value: ((events * parts) / seconds).toFixed(0),
          goal: '–',
        },
        {
          measure: 'dead rows per delivery',
          value: (dead.rows / dead.deliveries).toFixed(1),
          goal: '–',
        },
        {
          measure: 'age of the oldest event that the feed lacks, s',
          value: waiting.seconds.toFixed(0),
          goal: '–',
        },
      ],
      measures: [
        ['Commit to arrival', 'p50 ms', 'p99 ms'],
        ['before', at(before, 0.5), at(before, 0.99)],
        ...during.map((part, n) => [`${(n + 1) * 10} %`, at(part, 0.5), at(part, 0.99)]),
        ['after, and VACUUM', at(after, 0.5), at(after, 0.99)],
      ],
      isOneRun: true,
      note,
    }
  } finally {
    await Promise.all([held.end(), admin.end(), db.close()])
    receivers.end()
  }
}

const feedLag = `
  SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS seconds
  FROM outbound_events
  WHERE tenant_id = $1 AND xact_id >= pg_snapshot_xmin(pg_current_snapshot())`

const deadRows = `
  SELECT sum(n_dead_tup)::float8 AS rows, (SELECT count(*) FROM deliveries)::float8 AS deliveries
  FROM pg_stat_user_tables WHERE relname IN ('deliveries', 'due_attempts', 'job_common')`
