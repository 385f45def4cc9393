import pg from 'pg'
import { openDatabase } from '#src/db/database.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { checkLedger, looksMs } from '#src/ledger/ledger.ts'
import { startGatehouse, webhookSecret } from './contender.ts'
import { watchCpu } from './cpu-time.ts'
import { endpoints, measureDrain, median, prepareTenant, startReceivers } from './outbound/world.ts'
import { onDatabase, type Place } from './place.ts'
import { measureServer } from './processes.ts'
import type { Effort, Section } from './section.ts'

const connections = 64

const note = `A check searches for rows without the rows or the job that belong to them, so recording an event or
a delivery takes no step for it. Compared is the CPU time of all processes of PostgreSQL, which does all of that
searching: for recording events and for publishing and delivering them, and then for the three looks that each of
them gets. Left out of both sides: the processing of the events, and what the program itself uses for events and
deliveries; with them the share would be smaller. In the ratio no event waits when it is checked. The last line is
the search for the job of each if all of them wait, which is done every hour until they are processed.`

/** What the checks cost, compared with what is checked. */
export async function measureLedgerCost(place: Place, effort: Effort): Promise<Section> {
  const receivers = await startReceivers()
  const db = openDatabase(place.url, 10)
  const systemDb = openSystemDatabase(place.url, 1)
  const { publisher } = await prepareTenant(place, receivers.ports)
  const cpuSeconds = await watchCpu(place.superuserUrl)
  const runs: Run[] = []
  try {
    for (let turn = 0; turn < effort.runs; turn++) {
      await clear(place)
      const from = new Date()
      const begun = await cpuSeconds()
      await measureServer(await startGatehouse(place), {
        connections,
        seconds: effort.seconds,
        requests: { eventsSignedWith: webhookSecret },
      })
      await onDatabase(place.superuserUrl, ['ANALYZE'])
      const recorded = await cpuSeconds()
      const published = Math.ceil((effort.seconds * 2_000) / endpoints)
      await measureDrain(place, receivers, db, [publisher], { events: published, endpoints })
      // As autovacuum does, which needs a minute: the tables were empty.
      await onDatabase(place.superuserUrl, ['ANALYZE'])
      const worked = await cpuSeconds()
      const to = new Date()
      await checkLedger(systemDb, [], to)
      const searched = await cpuSeconds()
      const events = await processEvents(place)
      const processed = await cpuSeconds()
      for (const _ of looksMs) await checkLedger(systemDb, [{ from, to }], to)
      const checked = await cpuSeconds()
      runs.push({
        events,
        deliveries: published * endpoints,
        recording: recorded - begun,
        delivering: worked - recorded,
        checking: checked - processed,
        searching: searched - worked,
      })
      console.log(`ledger ${shareOf(runs.at(-1)).toFixed(3)}`)
    }
  } finally {
    await Promise.all([db.close(), systemDb.close()])
    receivers.end()
  }
  const middle = (of: (run: Run) => number) => median(runs.map(of))
  const row = (name: string, of: (run: Run) => number, count: (run: Run) => number) => [
    name,
    String(middle(count)),
    middle(of).toFixed(2),
    ((middle(of) / middle(count)) * 1e6).toFixed(1),
  ]
  const both = (run: Run) => run.events + run.deliveries
  return {
    title: 'Ledger',
    ratios: [
      {
        measure: 'CPU time of PostgreSQL for three looks ÷ for events and deliveries',
        value: middle(shareOf).toFixed(3),
        goal: '≤ 0.03',
      },
    ],
    measures: [
      ['CPU time of PostgreSQL', 'Events or deliveries', 'CPU s', 'CPU µs each'],
      row(
        'recording events',
        (run) => run.recording,
        (run) => run.events,
      ),
      row(
        'publishing and delivering',
        (run) => run.delivering,
        (run) => run.deliveries,
      ),
      row('three looks', (run) => run.checking, both),
      row(
        'searching the jobs of waiting events, once',
        (run) => run.searching,
        (run) => run.events,
      ),
    ],
    note,
  }
}

type Run = {
  events: number
  deliveries: number
  recording: number
  delivering: number
  checking: number
  searching: number
}

function shareOf(run: Run | undefined): number {
  if (run === undefined) return Number.NaN
  return run.checking / (run.recording + run.delivering)
}

async function clear({ superuserUrl }: Place): Promise<void> {
  await onDatabase(superuserUrl, [
    `TRUNCATE processed_events, received_events, outbound_events, deliveries,
       delivery_attempts, due_attempts, ledger_checks`,
    // The other jobs are those of the endpoints.
    `DELETE FROM pgboss.job WHERE name = 'billing-event'`,
    'VACUUM ANALYZE',
    'CHECKPOINT',
  ])
}

/** As a worker leaves the events and their jobs. @returns their number */
async function processEvents({ superuserUrl }: Place): Promise<number> {
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  const { rowCount } = await client.query(`UPDATE received_events SET status = 'processed'`)
  await client.end()
  await onDatabase(superuserUrl, [
    `DELETE FROM pgboss.job WHERE name = 'billing-event'`,
    'VACUUM ANALYZE',
  ])
  return rowCount ?? 0
}
