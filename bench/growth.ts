import { startGatehouse, webhookSecret } from './contender.ts'
import { measuredHead, measuredRow, ratioOf } from './measured.ts'
import { onDatabase, type Place } from './place.ts'
import { measureServer } from './processes.ts'
import type { Effort, Section } from './section.ts'
import { nameOf, takeTurns } from './turns.ts'

const fewRows = 10_000
const connections = 64

const note = `The tables contain the rows of years of service: known ids and processed events. Ids start with
their time, as those of large providers do, so new ids share the same part of the index.`

/** The cost of recording an event with large event tables. */
export async function measureGrowth(place: Place, effort: Effort): Promise<Section> {
  const few = await measureWith(place, fewRows, effort)
  const many = await measureWith(place, effort.rows, effort)
  return {
    title: 'Grown event tables',
    ratios: [
      {
        measure: `cost of an event at ${effort.rows} rows ÷ at ${fewRows} rows`,
        value: ratioOf(few.measured, many.measured, 'perSecond'),
        goal: '≤ 1.15',
      },
    ],
    measures: [
      measuredHead('Events/s'),
      ...[few, many].map(({ name, measured }) => measuredRow(name, measured)),
    ],
    note,
  }
}

async function measureWith(place: Place, rows: number, { runs, seconds }: Effort) {
  await fill(place, rows)
  const contest = { contender: `gatehouse at ${rows} rows`, connections }
  const medians = await takeTurns([contest], runs, async () =>
    measureServer(await startGatehouse(place), {
      connections,
      seconds,
      requests: { eventsSignedWith: webhookSecret },
    }),
  )
  const name = nameOf(contest)
  const measured = medians.get(name)
  if (measured === undefined) throw new Error('nothing was measured')
  return { name, measured }
}

async function fill({ superuserUrl }: Place, rows: number): Promise<void> {
  const id = `'evt_' || lpad(to_hex(n), 12, '0') || substr(md5(n::text), 1, 20)`
  await onDatabase(superuserUrl, [
    'TRUNCATE processed_events, received_events, pgboss.job',
    `INSERT INTO processed_events (event_id) SELECT ${id} FROM generate_series(1, ${rows}) n`,
    `INSERT INTO received_events (event_id, type, body, secret_index, status, received_at)
     SELECT ${id}, 'charge.succeeded', '{}', 0, 'processed',
            now() - make_interval(secs => ${rows} - n)
     FROM generate_series(1, ${rows}) n`,
    'VACUUM (ANALYZE, FREEZE) processed_events, received_events',
    'CHECKPOINT',
  ])
}
