import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { urlsOf } from '#dev/testing/logins.ts'
import { readCatalogue } from '#src/schema/catalogue.ts'
import { tablePrivileges } from '#src/schema/tables.ts'
import { oneOfEachKind } from '#test/access/matrix/one-of-each-kind.ts'
import { templateName } from '#test/support/database/template.ts'
import { longTests, type Mutant, tests } from './mutant.ts'
import type { Asked, TestOrder } from './test-order.ts'

/** The result of a mutant: caught by a test, survived, or timed out. `reason`: what failed first in the test. */
export type Fate = {
  mutant: Mutant
  outcome: 'caught' | 'survived' | 'timed-out'
  test: string
  reason: string
}

/** A copy of the tree in which one mutant at a time is tried, and the server of its databases. */
export type Lane = { folder: string; clusterUrl: string }

export type Failure = { timedOut: boolean; output: string }

/** Which test of a list is next. `requireSound`: throws if the test fails without a mutant. */
export type Plan = { order: TestOrder; requireSound: (step: Step) => Promise<void> }

/** A run of a test file. `seconds`: what it takes about. */
export type Step = { name: string; file: string; seconds: number; env?: NodeJS.ProcessEnv }

const tapStubs = new URL('../run/tap-stubs.ts', import.meta.url).href
const leftOut = ['node_modules', '.git', '.data', 'tmp', '.tap', 'coverage', 'dist']

/** Copies the tree, so that the original is never changed. */
export async function copyTree(root: string, folder: string): Promise<void> {
  await cp(root, folder, {
    recursive: true,
    filter: (path) => path === root || !leftOut.includes(basename(path)),
  })
  await symlink(await realpath(join(root, 'node_modules')), join(folder, 'node_modules'))
}

/**
 * Applies the mutant, runs its tests until one fails, and restores the file. A test that hangs may be the
 * machine's fault, so the others run after it.
 */
export async function tryMutant(lane: Lane, mutant: Mutant, plan: Plan): Promise<Fate> {
  const { source, sql } = mutant
  const path = source && join(lane.folder, source.path)
  const original = path && (await readFile(path, 'utf8'))
  const template = sql === undefined ? templateName : `mutant_${basename(lane.folder)}`
  let hung: Fate | undefined
  try {
    if (path !== undefined && source !== undefined) await writeFile(path, source.text)
    if (sql !== undefined) await makeTemplate(lane.clusterUrl, template, sql)
    const asked = askedOf(mutant)
    for (const step of plan.order.of(asked)) {
      const start = performance.now()
      const failure = await failureTwice(() => failureOf(lane, step, template))
      const seconds = (performance.now() - start) / 1_000
      const caught = failure?.timedOut === false
      if (caught) await plan.requireSound(step)
      plan.order.note(asked, step, { caught, seconds })
      if (caught) return { mutant, outcome: 'caught', test: step.name, reason: reasonOf(failure) }
      if (failure !== null) hung ??= { mutant, outcome: 'timed-out', test: step.name, reason: '' }
    }
    return hung ?? { mutant, outcome: 'survived', test: '', reason: '' }
  } finally {
    if (path !== undefined && original !== undefined) await writeFile(path, original)
  }
}

const ofMatrix: readonly string[] = [
  ...[tests.matrix, tests.queryScope, tests.rowLevelSecurity],
  tests.small,
]

/** The runs of the mutant's tests, in the order of its list, and what it changes: a file, or an object of the database. */
export function askedOf(mutant: Mutant): Asked<Step> {
  const { name, source, tests } = mutant
  const [object = name] = name.split(':')
  return { tests: tests.flatMap((file) => runsOf(file, mutant)), place: source?.path ?? object }
}

const [usualSeconds, fewSeconds, nearSeconds] = [3, 40, 10]

/**
 * The whole access matrix takes minutes, and what only one of its many callers notices deserves a test of its own. So a
 * caller of each kind asks it, on the mutant's routes first if it names some.
 */
function runsOf(file: string, { routes }: Mutant): Step[] {
  if (!ofMatrix.includes(file)) {
    return [{ name: file, file, seconds: longTests[file] ?? usualSeconds }]
  }
  const env = { MATRIX_ACTORS: oneOfEachKind }
  const name = `${file}, one caller of each kind`
  const few = { name, file, seconds: longTests[file] ?? fewSeconds, env }
  if (routes === undefined) return [few]
  const onRoutes = { ...env, MATRIX_ONLY: routes }
  const near = { ...few, name: `${few.name}, ${routes}`, seconds: nearSeconds, env: onRoutes }
  return [near, few]
}

/** The first assertion that failed, so that a reader sees whether it failed because of the mutant. */
function reasonOf({ output }: Failure): string {
  return /^ *not ok \d+ - (.*?)(?: # time=.*)?$/m.exec(output)?.[1] ?? ''
}

/** A test that fails by chance catches nothing. */
async function failureTwice(run: () => Promise<Failure | null>): Promise<Failure | null> {
  const first = await run()
  return first === null || first.timedOut ? first : run()
}

/** A busy machine may make a test several times slower, and a short one more often. */
const [shortestLimitMs, timesSlower] = [120_000, 10]

/**
 * Runs a test file in the copy until its first failure.
 * @returns the output of a failed run, or null
 */
export async function failureOf(
  { folder, clusterUrl }: Lane,
  step: Step,
  template: string,
): Promise<Failure | null> {
  const limitMs = Math.max(shortestLimitMs, timesSlower * step.seconds * 1_000)
  const child = spawn(process.execPath, [`--import=${tapStubs}`, join(folder, step.file)], {
    cwd: folder,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(dirname(folder), 'compiled'),
      TEST_POSTGRES_URL: clusterUrl,
      TEST_TEMPLATE: template,
      ...step.env,
      TAP_BAIL: '1',
      // The limit of the process comes first.
      TAP_TIMEOUT: String((2 * limitMs) / 1_000),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text))
  }
  const [code, signal] = await once(child, 'close')
  return code === 0 ? null : { timedOut: signal !== null, output: output.join('') }
}

async function makeTemplate(clusterUrl: string, name: string, sql: string): Promise<void> {
  await run(clusterUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await run(clusterUrl, `CREATE DATABASE ${name} TEMPLATE ${templateName}`)
  const { superuserUrl } = urlsOf(clusterUrl, name)
  await run(superuserUrl, sql)
  await recordAgain(superuserUrl)
}

/** A test has to notice what the mutant changes, not that it differs from the record of `migrate`. */
async function recordAgain(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const found = await readCatalogue(client, Object.keys(tablePrivileges))
    await client.query(
      `UPDATE schema_objects o SET facts = json_build_object('table', f.table, 'facts', f.facts)
       FROM json_to_recordset($1) AS f (kind text, name text, "table" text, facts json)
       WHERE o.kind = f.kind AND o.name = f.name`,
      [JSON.stringify(found)],
    )
    const names = found.map(({ kind, name }) => `${kind} ${name}`)
    await client.query(
      `DELETE FROM schema_objects WHERE kind <> 'privileges' AND kind || ' ' || name <> ALL ($1)`,
      [names],
    )
  } finally {
    await client.end()
  }
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}
