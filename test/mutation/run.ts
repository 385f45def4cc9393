import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeRunFolder } from '#test/run/run-folder.ts'
import { startRunServer } from '#test/run/server.ts'
import { templateName, urlsOf } from '#test/support/database/template.ts'
import { chosenSeed, randomOf } from '#test/support/models/seeded.ts'
import { findMutants } from './find-mutants.ts'
import {
  copyTree,
  type Fate,
  failureOf,
  type Lane,
  type Plan,
  type Step,
  tryMutant,
} from './lane.ts'
import type { Mutant } from './mutant.ts'
import { TestOrder } from './test-order.ts'

/*
 * `npm run mutate`: removes each access rule, scope clause, guard and row-level policy, one at a
 * time, in copies of the tree and the database, and reports those that no test catches. Exits with 1
 * if a mutant survived or the time ran out.
 */

const { values } = parseArgs({
  options: {
    /** Only mutants whose names contain one of these texts. */
    only: { type: 'string', multiple: true, default: [''] },
    lanes: { type: 'string', default: '2' },
    minutes: { type: 'string', default: '120' },
  },
})
const laneCount = Number(values.lanes)
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const longestMs = 900_000
/** A busy machine may make a test several times slower, and a short one more often. */
const [shortestLimitMs, timesSlower] = [20_000, 5]
const folder = await makeRunFolder()
try {
  const server = await startRunServer(folder)
  process.exitCode = await mutate(server.env.TEST_POSTGRES_URL).finally(() => server.stop())
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function mutate(clusterUrl: string): Promise<number> {
  const { superuserUrl } = urlsOf(clusterUrl, templateName)
  const found = await findMutants(root, superuserUrl)
  const unknown = values.only.filter((part) => !found.some(({ name }) => name.includes(part)))
  if (unknown.length > 0) throw new Error(`no mutant has ${unknown.join(', ')} in its name`)
  const chosen = found.filter(({ name }) => values.only.some((part) => name.includes(part)))
  const mutants = shuffled(chosen)
  const lanes = Array.from({ length: laneCount }, (_, index) => ({
    folder: join(folder, `lane${index}`),
    clusterUrl,
  }))
  for (const lane of lanes) await copyTree(root, lane.folder)
  const fates = await tryAll(lanes, mutants, limitsOf({ folder: root, clusterUrl }))
  return report(mutants, fates)
}

/** In a random order, so that a run that ends early has tried a sample. */
function shuffled(mutants: readonly Mutant[]): Mutant[] {
  const seed = chosenSeed()
  console.log(`TEST_SEED=${seed}`)
  const random = randomOf(seed)
  const drawn = mutants.map((mutant) => ({ mutant, place: random(2 ** 31) }))
  return drawn.sort((one, other) => one.place - other.place).map(({ mutant }) => mutant)
}

/**
 * How long each test may take, from a run without a mutant.
 * @throws if it fails: it would catch every mutant
 */
function limitsOf(untouched: Lane): Plan['limitOf'] {
  const limits = new Map<string, Promise<number>>()
  const measure = async (step: Step) => {
    const start = performance.now()
    const run = { template: templateName, limitMs: longestMs }
    const failure = await failureOf(untouched, step, run)
    if (failure !== null) throw new Error(`${step.name} fails without a mutant:\n${failure.output}`)
    const ms = Math.ceil(performance.now() - start)
    return Math.max(shortestLimitMs, timesSlower * ms)
  }
  return (step) => {
    const limit = limits.get(step.name) ?? measure(step)
    limits.set(step.name, limit)
    return limit
  }
}

async function tryAll(
  lanes: readonly Lane[],
  mutants: readonly Mutant[],
  limitOf: Plan['limitOf'],
) {
  const fates: Fate[] = []
  const order = new TestOrder()
  const deadline = performance.now() + Number(values.minutes) * 60_000
  await inLanes(lanes, mutants.values(), async (lane, mutant) => {
    if (performance.now() > deadline) return
    const fate = await tryMutant(lane, mutant, { order, limitOf })
    fates.push(fate)
    const { outcome, test, reason } = fate
    console.log(`${fates.length}/${mutants.length} ${mutant.name}: ${outcome} ${test} (${reason})`)
  })
  return fates
}

/** The lanes share one queue; each takes the next item when it has finished one. */
async function inLanes<Item>(
  lanes: readonly Lane[],
  queue: Iterable<Item>,
  work: (lane: Lane, item: Item) => Promise<void>,
): Promise<void> {
  const items = queue[Symbol.iterator]()
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = items.next(); !next.done; next = items.next()) await work(lane, next.value)
    }),
  )
}

function report(mutants: readonly Mutant[], fates: readonly Fate[]): number {
  const others = fates.filter(({ outcome }) => outcome !== 'caught')
  for (const { mutant, outcome } of others) console.log(`${outcome}: ${mutant.name}`)
  const caught = fates.length - others.length
  const left = mutants.length - fates.length
  if (left > 0) console.log(`${left} not run for lack of time`)
  console.log(`${caught} of ${mutants.length} caught`)
  return caught === mutants.length ? 0 : 1
}
