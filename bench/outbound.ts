import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openDatabase } from '#src/db/database.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'
import { measureDeepBacklog } from './outbound/deep-backlog.ts'
import { measureOneEach } from './outbound/one-each.ts'
import {
  at,
  change,
  endpoints,
  measureDrain,
  measureLag,
  median,
  prepareTenant,
  secret,
  startConsumer,
  startReceivers,
  stopConsumer,
} from './outbound/world.ts'
import { measureWriters } from './outbound/writers.ts'
import type { Place } from './place.ts'
import type { Effort, Section } from './section.ts'

const run = promisify(execFile)
const idleEvents = 100
const idlePauseMs = 100
const busyEventsPerSecond = 20
// More than is delivered in the time of a run and its warm-up.
const perSecond = 8_000

const note = `Every event goes to ${endpoints} endpoints of one tenant, which respond after 5 ms in a separate
process. “Plain posts” is undici with the same number of concurrent requests per endpoint, the same
bodies and signatures, and no database. A delivery is also read with its event, its attempt and its state
are written and its row in \`due_attempts\` is deleted, in PostgreSQL on the same two cores. The worker's
one thread is the limit: it spends a ninth of its time on writing to sockets, a tenth each on garbage
collection and in undici, a sixth in our own code and a thirtieth on signatures (V8's profile). “One endpoint per
event” are twenty tenants with an endpoint each; the worker of pg-boss is
bench/baselines/deliver-with-pg-boss.ts, its times are those with eight batches at once, and both workers
have statistics of their tables. The 64 writers change orders over HTTP, and no worker runs. The backlog is that
of an endpoint that does not respond.
`

/** Deliveries per second compared with plain posts, the time from commit to arrival, and a hanging endpoint. */
export async function measureOutbound(place: Place, effort: Effort): Promise<Section> {
  const receivers = await startReceivers()
  const db = openDatabase(place.url, 10)
  const { publisher } = await prepareTenant(place, receivers.ports)
  const all = { endpoints, events: Math.ceil((effort.seconds * perSecond) / endpoints) }
  try {
    const ours: number[] = []
    const plain: number[] = []
    for (let turn = 0; turn < effort.runs; turn++) {
      plain.push(await measurePlain(receivers.ports, effort.seconds))
      await receivers.collect()
      ours.push(await measureDrain(place, receivers, db, [publisher], all))
      console.log(
        `outbound ${ours.at(-1)?.toFixed(0)}/s, plain posts ${plain.at(-1)?.toFixed(0)}/s`,
      )
    }
    const worker = await startConsumer(place, receivers.ports)
    const lags = (events: number, pauseMs: number) =>
      measureLag(receivers, db, [publisher], { events, endpoints, pauseMs })
    await lags(10, idlePauseMs) // warm-up: compiles code, opens connections
    const idle = await lags(idleEvents, idlePauseMs)
    const pause = 1_000 / busyEventsPerSecond
    const busyEvents = effort.seconds * busyEventsPerSecond
    const well = await lags(busyEvents, pause)
    await receivers.hang(0)
    const beside = await lags(busyEvents, pause)
    await receivers.hang(null)
    await stopConsumer(worker)
    const alone = await measureOneEach(place, receivers, db, effort)
    const writers = await measureWriters(place, effort)
    const deep = await measureDeepBacklog(place, receivers, db, effort)
    const rates = [median(ours), median(plain)] as const
    return {
      title: 'Outbound webhooks',
      ratios: [
        {
          measure: `deliveries/s ÷ plain posts, ${endpoints} endpoints`,
          value: (rates[0] / rates[1]).toFixed(2),
          goal: '≥ 0.4',
        },
        { measure: 'deliveries/s', value: rates[0].toFixed(0), goal: '≥ 1500 here' },
        { measure: 'commit to arrival, idle, p50 ms', value: at(idle, 0.5), goal: '≤ 30' },
        { measure: 'commit to arrival, idle, p99 ms', value: at(idle, 0.99), goal: '≤ 150' },
        {
          measure: 'p99 of the healthy beside a hanging endpoint ÷ without it',
          value: (Number(at(beside, 0.99)) / Number(at(well, 0.99))).toFixed(2),
          goal: '≤ 1.2',
        },
        {
          measure: 'deliveries/s ÷ a worker of pg-boss tuned by hand, one endpoint per event',
          value: (alone.ours / alone.usual).toFixed(2),
          goal: '≥ 3',
        },
        {
          measure: 'the same ÷ this worker with eight batches at once',
          value: (alone.ours / alone.inLines).toFixed(2),
          goal: '–',
        },
        {
          measure: 'commit to arrival, idle, p99 ÷ that of this worker',
          value: (Number(at(alone.lags.ours, 0.99)) / Number(at(alone.lags.usual, 0.99))).toFixed(
            2,
          ),
          goal: '≤ 1',
        },
        {
          measure: 'changes/s of 64 writers with an endpoint each ÷ without',
          value: (writers.with.perSecond / writers.without.perSecond).toFixed(2),
          goal: '≥ 0.9',
        },
        {
          measure: 'reading what is due among 1,000, 20,000 and 100,000 deliveries, p50 ms',
          value: deep.claims.map((ms) => ms.toFixed(1)).join(', '),
          goal: '≤ 5',
        },
        {
          measure: 'p99 of the others beside this backlog ÷ without it',
          value: (Number(at(deep.lags.beside, 0.99)) / Number(at(deep.lags.without, 0.99))).toFixed(
            2,
          ),
          goal: '≤ 1.2',
        },
      ],
      measures: [
        ['Commit to arrival', 'p50 ms', 'p99 ms'],
        ['idle', at(idle, 0.5), at(idle, 0.99)],
        [`${busyEventsPerSecond * endpoints} deliveries/s`, at(well, 0.5), at(well, 0.99)],
        ['the same beside a hanging endpoint', at(beside, 0.5), at(beside, 0.99)],
        ['one endpoint per event', at(alone.lags.ours, 0.5), at(alone.lags.ours, 0.99)],
        ['the worker of pg-boss', at(alone.lags.usual, 0.5), at(alone.lags.usual, 0.99)],
        ['950 deliveries/s', at(deep.lags.without, 0.5), at(deep.lags.without, 0.99)],
        [
          'the same beside a backlog of 100,000',
          at(deep.lags.beside, 0.5),
          at(deep.lags.beside, 0.99),
        ],
      ],
      note,
    }
  } finally {
    await db.close()
    receivers.end()
  }
}

async function measurePlain(ports: readonly number[], seconds: number): Promise<number> {
  const body = JSON.stringify({ id: 'msg_plain', type: 'order.updated', data: change })
  const { stdout } = await run(process.execPath, [
    ...[path('./outbound/plain-posts.ts'), ports.join(), String(deliverLimits.perEndpoint)],
    ...[String(seconds), secret, body],
  ])
  return JSON.parse(stdout).perSecond
}

function path(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
