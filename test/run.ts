import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { removePostgres, startPostgres } from '#src/demo/postgres/start.ts'
import { describeFailures } from '#test/run/failures.ts'
import { makeRunFolder } from '#test/run/run-folder.ts'
import { startClusterOfRun } from '#test/support/database/citus-run.ts'
import { prepareTemplate } from '#test/support/database/template.ts'

/*
 * The program behind `npm test`: one PostgreSQL for the whole run, or a Citus cluster with
 * TEST_CLUSTER=citus; tap with the given arguments, then what failed, and as the last line how many did.
 * Exits as tap does, and with 1 when nothing ran.
 */

/**
 * The data is thrown away: nothing has to survive a power cut. The tables are small: starting parallel
 * workers takes 80 ms, twenty times as long as the rest of the queries that get them.
 */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_wal_size: '256MB',
  max_parallel_workers_per_gather: '0',
}

type Outcome = { passed: number; failed: number; skipped: number }

const withoutDomains = new URL('./run/without-domains.ts', import.meta.url).href

const interruption = followSignals()
const folder = await makeRunFolder()
try {
  process.exitCode = await runWithDatabase(process.argv.slice(2))
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function runWithDatabase(args: string[]): Promise<number> {
  const database =
    process.env.TEST_CLUSTER === 'citus' ? await startClusterOfRun() : await startOne()
  try {
    const results = join(folder, 'results.tap')
    const code = await runTap(args, results, database.env)
    const tap = await readFile(results, 'utf8').catch(() => '')
    const failures = describeFailures(tap)
    if (failures) console.log(`\n${failures}\n`)
    return conclude(readOutcome(tap), code)
  } finally {
    await database.stop()
  }
}

/** One PostgreSQL with the template of the test databases. */
async function startOne() {
  const dataDir = join(folder, 'postgres')
  const database = await startPostgres({ dataDir, settings })
  const stop = async () => {
    await database.stop()
    await removePostgres(dataDir)
  }
  try {
    await prepareTemplate(database.url('postgres'))
    return { env: { TEST_POSTGRES_URL: database.url('postgres') }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Runs tap, whose own reporter stays in view, and leaves its raw TAP in the file `results`. */
async function runTap(args: string[], results: string, env: NodeJS.ProcessEnv): Promise<number> {
  const tap = fileURLToPath(new URL('../node_modules/tap/dist/esm/run.mjs', import.meta.url))
  // Without a terminal tap's reporter is raw TAP. With --output-file it would write that twice.
  const isRaw = !process.stdout.isTTY && !args.some((arg) => /^(-R|--reporter\b)/.test(arg))
  const child = spawn(
    process.execPath,
    [tap, ...(isRaw ? ['--reporter=tap'] : [`--output-file=${results}`]), ...args],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      // Node strips the types itself; this keeps tap from loading a compiler. Switching tap's
      // plugin off instead makes tap rebuild itself, and the first run after an install fail.
      env: {
        ...process.env,
        ...env,
        TAP_TYPE_STRIP_ONLY: '1',
        // Each process loads the same 1,200 modules; the first ones compile them for all. Coverage of
        // lines and functions is as without it, that of branches half a point lower.
        NODE_COMPILE_CACHE: join(folder, 'compiled'),
        NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${withoutDomains}`,
      },
      stdio: ['ignore', isRaw ? 'pipe' : 'inherit', 'inherit'],
      // A process group of its own, so that a signal can be passed on to all of it, once.
      detached: true,
    },
  )
  child.stdout?.pipe(process.stdout, { end: false })
  const copied = child.stdout && pipeline(child.stdout, createWriteStream(results))
  interruption.passTo(child)
  const [code, signal] = await once(child, 'close')
  await copied
  return typeof code === 'number' ? code : exitCodeOf(signal)
}

/** tap's own count of assertions, from the comment that ends its output; none without one. */
function readOutcome(tap: string): Outcome {
  const summary = [...tap.matchAll(/^# \{ (total: .*) \}$/gm)].at(-1)?.[1] ?? ''
  const counts = new Map(
    summary.split(', ').map((entry) => {
      const [name = '', count] = entry.split(': ')
      return [name, Number(count ?? 0)]
    }),
  )
  const count = (name: string) => counts.get(name) ?? 0
  return {
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skip') + count('todo'),
  }
}

function conclude({ passed, failed, skipped }: Outcome, code: number): number {
  const tail = skipped > 0 ? `, ${skipped} skipped` : ''
  console.log(`${passed} passed, ${failed} failed${tail}`)
  return code === 0 && (passed === 0 || failed > 0) ? 1 : code
}

/**
 * Outlives a signal until tap and the server have ended: the first one goes to tap and all its
 * test files, any further one kills them.
 */
function followSignals() {
  let group: number | undefined
  let received: NodeJS.Signals | undefined
  const pass = (signal: NodeJS.Signals) => {
    if (group === undefined) return
    try {
      process.kill(-group, signal)
    } catch {
      // They have ended by themselves.
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      pass(received ? 'SIGKILL' : signal)
      received ??= signal
    })
  }
  return {
    passTo({ pid }: ChildProcess): void {
      group = pid
      if (received) pass(received)
    },
  }
}

function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}
