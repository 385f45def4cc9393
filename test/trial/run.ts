import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { settle } from '#test/billing/crash-rounds.ts'
import { checkHistory } from '#test/billing/history.ts'
import { haproxy } from '#test/release/haproxy.ts'
import { ask, troublesOf } from '#test/reliability/instance.ts'
import { type Load, startLoad } from '#test/reliability/load.ts'
import { makeNextRelease } from '#test/reliability/next-release.ts'
import { noPatroni, type PatroniCluster } from '#test/reliability/patroni.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { unaccounted } from '#test/support/database/ledger.ts'
import { pgbouncer } from '#test/support/database/pgbouncer.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { createTimeline, type Timeline } from './gaps.ts'
import {
  type Code,
  type Installation,
  startDatabase,
  startInstallation,
  startTaker,
} from './installation.ts'

/*
 * `npm run trial`, or `npm run trial -- --minutes 30`: an installation as docs/deployment.md describes it
 * (two web processes and two workers behind HAProxy, over two PgBouncers, on a PostgreSQL under Patroni),
 * to which happens what happens to installations, under load. Prints one table. Exits with 1 if a request
 * failed in another way than by a 503 with Retry-After, something that was acknowledged is missing, or the
 * time is over.
 */

const { values } = parseArgs({
  options: {
    /** Afterwards it is given up. */
    minutes: { type: 'string', default: '20' },
  },
})

const steadyMs = 10_000
/** Between two looks. */
const pauseMs = 50
/** Responses after each step, and then answers of the probe with 200, before the next. */
const after = 60
const recovered = 10

const teardowns: (() => unknown)[] = []
const scope = { teardown: (work: () => unknown) => void teardowns.unshift(work) }
const missing = Object.entries({ HAProxy: haproxy, PgBouncer: pgbouncer })
  .filter(([, path]) => path === null)
  .map(([name]) => name)
if (missing.length > 0) {
  console.error(`The trial needs ${missing.join(' and ')}, which this machine does not have.`)
  process.exitCode = 1
} else {
  try {
    process.exitCode = await within(Number(values.minutes) * 60_000, trial())
  } finally {
    for (const work of teardowns) await work()
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const ended = new AbortController()
  const tooLate = wait(ms, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`The trial has not ended after ${values.minutes} minutes.`)
  })
  tooLate.catch(() => {})
  return Promise.race([work, tooLate]).finally(() => ended.abort())
}

async function trial(): Promise<number> {
  if (noPatroni !== false) console.error(`One PostgreSQL without Patroni: ${noPatroni}.`)
  const answers = createTimeline()
  const deliveries = createTimeline()
  const { database, cluster } = await startDatabase(scope)
  await migrate(database, {})
  const taker = await startTaker(scope, deliveries.note)
  const installation = await startInstallation(scope, database, taker.address)
  const { front } = installation
  const next = await makeNextRelease(scope)
  const load = await startLoad(scope, database, [{ ...front, admin: null }])
  await createEndpoint(database, load.user, { url: taker.url })
  const probing = probe(load, front, answers)
  probing.catch(() => {}) // awaited below
  await load.more(20)

  const rows: string[] = []
  for (const [name, work] of stepsOf(installation, database, cluster, next)) {
    const row = await runStep(name, work, load, { answers, deliveries })
    console.error(row)
    rows.push(row)
  }
  await load.stop()
  await probing
  await settle(database)
  const faults = [
    ...load.failures,
    ...(await checkHistory(database.admin, load.history)),
    ...(await unaccounted(database)),
  ]
  const troubles = troublesOf(installation.programs, load)
  console.log(report(rows, faults, { answered: load.answered(), troubles: troubles.length }))
  return faults.length === 0 ? 0 : 1
}

type Step = readonly [name: string, work: () => Promise<unknown>]

function stepsOf(
  { replaceWeb, replaceWorker, killWorker, poolers }: Installation,
  database: TestDatabase,
  cluster: PatroniCluster | null,
  next: Code,
): Step[] {
  const steps: Step[] = [
    ['nothing, for 10 s', () => wait(steadyMs)],
    ['each web process restarted', () => inTurn((index) => replaceWeb(index))],
    ['each worker restarted', () => inTurn((index) => replaceWorker(index))],
    ['a worker killed', () => killWorker(0)],
    ['a PgBouncer killed', async () => poolers[0]?.restart()],
    ["the next release's migrate", () => migrate(database, next)],
    ['each web process restarted, old code', () => inTurn((index) => replaceWeb(index))],
    ['each web process replaced by the next', () => inTurn((index) => replaceWeb(index, next))],
    ['each worker replaced by the next', () => inTurn((index) => replaceWorker(index, next))],
  ]
  if (cluster === null) return steps
  return [
    ...steps,
    ['HAProxy before PostgreSQL killed', () => cluster.haproxy.restart()],
    ['etcd killed', () => cluster.etcd.restart()],
    [
      "the primary's PostgreSQL killed",
      async () => {
        await (await cluster.primary()).killPostgres()
        await cluster.primary()
      },
    ],
    [
      "the primary's machine killed",
      async () => {
        const old = await cluster.primary()
        await old.patroni.kill()
        await old.killPostgres()
        await untilWritable(database)
        old.patroni.start()
        await cluster.primary()
      },
    ],
  ]
}

async function inTurn(work: (index: number) => Promise<void>): Promise<void> {
  await work(0)
  await work(1)
}

async function untilWritable({ admin }: TestDatabase): Promise<void> {
  const writable = () => admin.query('SELECT WHERE NOT pg_is_in_recovery()')
  await untilTrue(async () => (await writable().catch(() => null))?.rowCount === 1)
}

type Timelines = { answers: Timeline; deliveries: Timeline }

async function runStep(
  name: string,
  work: () => Promise<unknown>,
  load: Load,
  { answers, deliveries }: Timelines,
): Promise<string> {
  const before = { answered: load.answered(), busy: load.busy(), failed: load.failures.length }
  const begun = performance.now()
  await work()
  const tookMs = performance.now() - begun
  await load.more(after)
  await answers.more(recovered)
  const cells = [
    name,
    seconds(tookMs),
    load.answered() - before.answered,
    load.busy() - before.busy,
    load.failures.length - before.failed,
    seconds(answers.longestSince(begun)),
    seconds(deliveries.longestSince(begun)),
  ]
  return `| ${cells.join(' | ')} |`
}

/** Asks for an order again and again, so that the table shows how long there was no answer. */
async function probe(load: Load, front: Installation['front'], answers: Timeline): Promise<void> {
  const what = { path: `/orders/${load.order}`, headers: { cookie: load.cookie } }
  while (!load.hasEnded()) {
    const answer = await ask(front, what).catch(() => null)
    if (answer?.status === 200) answers.note()
    await wait(pauseMs)
  }
}

async function migrate({ ownerUrl, url, workerUrl }: TestDatabase, code: Code): Promise<void> {
  const env = {
    ...{ NODE_ENV: 'production', DATABASE_OWNER_URL: ownerUrl },
    ...{ DATABASE_URL: url, DATABASE_WORKER_URL: workerUrl },
  }
  const program = await runProgram(scope, ['migrate'], env, code)
  if ((await program.ended) !== 0) throw new Error(`migrate failed:\n${program.output()}`)
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function report(
  rows: readonly string[],
  faults: readonly string[],
  { answered, troubles }: { answered: number; troubles: number },
): string {
  const notTried =
    noPatroni === false ? '' : `\nNot tried: what happens to the primary (${noPatroni}).\n`
  return `
| What happened | Took | Responses | of them 503 | Failed | Longest without a 200 | Longest without a delivery |
|---|---|---|---|---|---|---|
${rows.join('\n')}
${notTried}
${answered} responses; ${troubles} errors in the logs. ${faults.length === 0 ? 'Nothing that was acknowledged is missing.' : `FAULTS:\n${faults.slice(0, 20).join('\n')}`}
`
}
