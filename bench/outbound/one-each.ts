import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { PgBoss } from 'pg-boss'
import type { Database } from '#src/db/database.ts'
import type { Place } from '../place.ts'
import type { Effort } from '../section.ts'
import {
  analyze,
  change,
  drained,
  endpoints,
  lagsOf,
  measureDrain,
  measureLag,
  median,
  type Publisher,
  prepareTenant,
  type Receivers,
  secret,
  startConsumer,
  stopConsumer,
} from './world.ts'

export type OneEach = {
  /** Deliveries per second. */
  ours: number
  usual: number
  /** The same worker with eight batches at once. */
  inLines: number
  /** From the commit to the arrival in ms, sorted. */
  lags: { ours: readonly number[]; usual: readonly number[] }
}

const idleEvents = 200
const pauseMs = 50

/** Twenty tenants with one endpoint each, beside a worker of pg-boss that is tuned by hand. */
export async function measureOneEach(
  place: Place,
  receivers: Receivers,
  db: Database,
  effort: Effort,
): Promise<OneEach> {
  const publishers: Publisher[] = []
  for (const port of receivers.ports) {
    publishers.push((await prepareTenant(place, [port])).publisher)
  }
  const usual = await openUsual(place, receivers)
  const events = effort.seconds * 6_000
  const rates = { ours: [] as number[], usual: [] as number[], inLines: [] as number[] }
  for (let turn = 0; turn < effort.runs; turn += 1) {
    rates.usual.push(await usual.drain(events, 1))
    rates.inLines.push(await usual.drain(events, 8))
    rates.ours.push(await measureDrain(place, receivers, db, publishers, { events, endpoints: 1 }))
    const shown = [rates.ours, rates.usual, rates.inLines].map((all) => all.at(-1)?.toFixed(0))
    console.log(`one endpoint: ${shown[0]}/s, pg-boss ${shown[1]}/s, in eight lines ${shown[2]}/s`)
  }
  const lags = await usual.measureLags()
  await usual.close()
  const worker = await startConsumer(place, receivers.ports)
  const few = { endpoints: 1, pauseMs }
  await measureLag(receivers, db, publishers, { ...few, events: 2 * endpoints })
  const ours = await measureLag(receivers, db, publishers, { ...few, events: idleEvents })
  await stopConsumer(worker)
  return {
    ours: median(rates.ours),
    usual: median(rates.usual),
    inLines: median(rates.inLines),
    lags: { ours, usual: lags },
  }
}

async function openUsual(place: Place, receivers: Receivers) {
  const url = await place.createDatabase('usual_worker', [
    'CREATE TABLE posted (id text PRIMARY KEY, status_code int, posted_at timestamptz)',
  ])
  const boss = new PgBoss({ connectionString: url, supervise: false })
  await boss.start()
  await boss.createQueue('post')
  let sent = 0

  const nextJob = () => {
    const id = `msg_usual${sent}`
    const port = receivers.ports[sent % receivers.ports.length]
    const body = JSON.stringify({ id, type: 'order.updated', data: change })
    sent += 1
    return { data: { id, url: `http://127.0.0.1:${port}`, body } }
  }

  return {
    async drain(events: number, lines: number): Promise<number> {
      for (let left = events; left > 0; left -= 1_000) {
        await boss.insert('post', Array.from({ length: Math.min(left, 1_000) }, nextJob))
      }
      await analyze(url)
      const worker = await startUsual(url, lines)
      const rate = await drained(receivers, events)
      await stopConsumer(worker)
      return rate
    },
    async measureLags(): Promise<number[]> {
      const worker = await startUsual(url, 8)
      const committed = new Map<string, number>()
      for (let n = 0; n < idleEvents + endpoints; n += 1) {
        if (n === endpoints) await receivers.collect()
        const { data } = nextJob()
        await boss.send('post', data)
        if (n >= endpoints) committed.set(data.id, performance.timeOrigin + performance.now())
        await boss.getDb().executeSql(`SELECT pg_notify('posts', '')`)
        await wait(pauseMs)
      }
      await wait(1_000)
      const lags = lagsOf(await receivers.collect(), committed)
      await stopConsumer(worker)
      return lags
    },
    close: () => boss.stop({ graceful: false }),
  }
}

async function startUsual(url: string, lines: number): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('../baselines/deliver-with-pg-boss.ts', import.meta.url))
  const child = fork(file, {
    env: { PATH: process.env.PATH, DATABASE_URL: url, SECRET: secret, LINES: String(lines) },
  })
  await once(child, 'message')
  return child
}
