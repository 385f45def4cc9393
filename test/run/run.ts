import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { availableParallelism, constants } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { oneOfEachKind } from '#test/access/matrix/one-of-each-kind.ts'
import { chooseFiles } from '#test/run/chosen.ts'
import { describeFailures, type Outcome, outcomeOf } from '#test/run/failures.ts'
import { type Division, divide, type Lane } from '#test/run/lanes.ts'
import { endLeftovers, ownRun } from '#test/run/leftovers.ts'
import { makeRunFolder } from '#test/run/run-folder.ts'

/*
 * The program behind `npm test` (the first lane), `npm run test:all` (the second), `npm run test:quick`,
 * `npm test -- FILE…` and `-- --changed [--base REV]`: one PostgreSQL for the whole run, or a cluster with
 * TEST_CLUSTER; tap with the processes that run the files and the given options, then what failed, and as
 * the last line how many did. Exits as tap does, and with 1 when no test ran.
 */

const sameSignalMs = 1_000
/** How many of the processes that run at once wait, about. */
const processesWaiting = { first: 2, second: 1 }
/** tap asks for source maps, but types are replaced by blanks, so positions are right without. */
const withoutSourceMaps = '--node-arg=--no-enable-source-maps'
/** What a file may take, for a busy machine: one of the second lane tests a copy of the project. */
const timeoutSeconds = { first: 900, second: 1_800 }

const own = {
  lane: { type: 'string' },
  quick: { type: 'boolean' },
  changed: { type: 'boolean' },
  /** The revision that `changed` compares with. */
  base: { type: 'string' },
  /** How many processes run at once. */
  jobs: { type: 'string' },
} as const
/** The whole matrix takes minutes. The two resources differ in what a member sees of colleagues. */
const quickMatrix = { MATRIX_ACTORS: oneOfEachKind, MATRIX_ONLY: '/orders; /documents' }
/** A quick run ends within a minute: from here on it starts no other file. */
const quickMs = 45_000
const start = Date.now()

const root = fileURLToPath(new URL('../..', import.meta.url))
const tapStubs = new URL('./tap-stubs.ts', import.meta.url).href
const progressReporter = fileURLToPath(new URL('./reporter.ts', import.meta.url))

// Each process loads the same 1,200 modules; the first one compiles them for all, also for the next run:
// Node compares the text of each. Coverage of lines and functions is as without it, that of branches half
// a point lower.
const compiled = join(root, 'dist/compiled')
enableCompileCache(compiled)
// Imported here, because the cache serves only what is imported after it is enabled.
const { startRunServer } = await import('#test/run/server.ts')

const interruption = followSignals()
const folder = await makeRunFolder()
// In the checkout, because tap keeps the output of a file under its path from there.
const entryFolder = join(root, 'dist', `tests-${process.pid}`)
await mkdir(entryFolder, { recursive: true })
try {
  process.exitCode = await runWithDatabase(process.argv.slice(2))
} finally {
  await rm(folder, { recursive: true, force: true })
  await rm(entryFolder, { recursive: true, force: true })
}

async function runWithDatabase(args: string[]): Promise<number> {
  const { lane, isQuick, files, jobs, given } = readArguments(args)
  if (files.length === 0) {
    console.log('No test imports what has changed.\n0 passed, 0 failed, 0 skipped')
    return 0
  }
  const options = [
    `--jobs=${jobs}`,
    `--timeout=${timeoutSeconds[lane]}`,
    withoutSourceMaps,
    ...given,
  ]
  // A process loads the program, which is most of the work of a quick run.
  const most = isQuick ? Math.min(jobs, availableParallelism()) : jobs
  const entries = await writeEntries(divide(files, lane, most), lane)
  const database = await startRunServer(folder)
  try {
    const results = join(folder, 'results.tap')
    const env = {
      ...database.env,
      TEST_FILES: String(files.length),
      ...(isQuick && { TEST_DEADLINE: String(start + quickMs), ...quickMatrix }),
    }
    const code = await runTap([...options, ...entries], results, env)
    const tap = await readFile(results, 'utf8').catch(() => '')
    const failures = describeFailures(tap)
    if (failures) console.log(`\n${failures}\n`)
    if (files.length > 1) await keepResults(results)
    await interruption.endAll()
    return conclude(readOutcome(tap), code)
  } finally {
    await database.stop()
  }
}

/** The own options of a run, its files, and what tap is given. */
function readArguments(args: readonly string[]) {
  const short = args.find((arg) => /^-[^-]/.test(arg))
  if (short !== undefined)
    throw new Error(`${short}: give options in their long form, --name=value`)
  const { values, tokens } = parseArgs({
    args: [...args],
    options: own,
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const lane: Lane = values.lane === 'second' ? 'second' : 'first'
  const isQuick = values.quick === true
  const changedSince = values.changed === true ? String(values.base ?? 'HEAD') : undefined
  const named = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const given = tokens.flatMap((token) =>
    token.kind === 'option' && !(token.name in own)
      ? [token.value === undefined ? token.rawName : `${token.rawName}=${token.value}`]
      : [],
  )
  const onCluster = process.env.TEST_CLUSTER !== undefined
  const files = chooseFiles(root, { lane, named, isQuick, changedSince, onCluster })
  // The processes wait for PostgreSQL, for browsers and for limits of time, so more of them can work.
  const jobs = Number(values.jobs ?? availableParallelism() + processesWaiting[lane])
  return { lane, isQuick, files, jobs, given }
}

/**
 * Writes the program of each process, numbered because tap runs programs in the order of their names. A
 * file of the first lane that must be alone is its own program.
 */
async function writeEntries(division: Division, lane: Lane): Promise<string[]> {
  const { alone, shared, processes } = division
  const taken = join(entryFolder, 'taken')
  await mkdir(taken)
  const sharing = Array.from({ length: processes }, () => ({
    name: 'shared',
    files: shared,
    taken,
  }))
  const single = alone.map((file) => ({
    name: dirname(file).replaceAll('/', '-'),
    files: [file],
    taken: undefined,
  }))
  const runner = JSON.stringify(new URL('./batch.ts', import.meta.url).href)
  const batches = lane === 'first' ? sharing : single
  const entries = batches.map(async ({ name, files, taken }, index) => {
    const urls = files.map((file) => pathToFileURL(join(root, file)).href)
    const entry = join(entryFolder, `${String(index + 1).padStart(3, '0')}-${name}.mjs`)
    const given = `${JSON.stringify(urls)}, ${JSON.stringify({ taken })}`
    await writeFile(entry, `import { runBatch } from ${runner}\nawait runBatch(${given})\n`)
    return entry
  })
  return [...(await Promise.all(entries)), ...(lane === 'first' ? alone : [])]
}

/**
 * Runs tap and leaves its raw TAP in the file `results`. Several files have the reporter of progress, one
 * has tap's own, which is raw TAP without a terminal.
 */
async function runTap(args: string[], results: string, env: NodeJS.ProcessEnv): Promise<number> {
  const tap = fileURLToPath(new URL('../../node_modules/tap/dist/esm/run.mjs', import.meta.url))
  const isChosen = args.some((arg) => /^(-R|--reporter\b)/.test(arg))
  const isOne = env.TEST_FILES === '1'
  // With --output-file tap would write raw TAP twice.
  const isRaw = isOne && !process.stdout.isTTY && !isChosen
  const reporter = isChosen || isOne ? [] : [`--reporter=${progressReporter}`]
  const child = spawn(
    process.execPath,
    [tap, ...(isRaw ? ['--reporter=tap'] : [...reporter, `--output-file=${results}`]), ...args],
    {
      cwd: root,
      // Node strips the types itself; this keeps tap from loading a compiler. Switching tap's
      // plugin off instead makes tap rebuild itself, and the first run after an install fail.
      env: {
        ...process.env,
        ...env,
        ...ownRun,
        TAP_TYPE_STRIP_ONLY: '1',
        NODE_COMPILE_CACHE: compiled,
        NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${tapStubs}`,
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

/** Keeps every assertion of the last run in the checkout. */
async function keepResults(results: string): Promise<void> {
  const kept = join('dist', 'tests.tap')
  await copyFile(results, join(root, kept))
  console.log(`Every assertion is in ${kept}.`)
}

/** tap's own count of assertions, from the comment that ends its output; an interrupted run has none. */
function readOutcome(tap: string): Outcome {
  const summary = [...tap.matchAll(/^# \{ (total: .*) \}$/gm)].at(-1)?.[1]
  if (summary === undefined) return outcomeOf(tap)
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
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  return code === 0 && (passed === 0 || failed > 0) ? 1 : code
}

/**
 * Outlives a signal until tap, all that the tests have started and the server have ended: the first one
 * goes to tap and all its test files, any further one kills them.
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
  let receivedMs = 0
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // From a terminal it comes twice: npm, which has it too, passes it on.
      if (received && performance.now() - receivedMs < sameSignalMs) return
      pass(received ? 'SIGKILL' : signal)
      received ??= signal
      receivedMs = performance.now()
    })
  }
  return {
    passTo({ pid }: ChildProcess): void {
      group = pid
      if (received) pass(received)
    },
    /** After a signal: resolves when everything has ended, and says so. */
    async endAll(): Promise<void> {
      if (received === undefined || group === undefined) return
      const killed = await endLeftovers(group)
      const what = killed.length === 0 ? '' : ` Killed: ${killed.join(', ')}.`
      console.log(
        `The run was ended by ${received}, and everything that it started has ended.${what}`,
      )
    },
  }
}

function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}
