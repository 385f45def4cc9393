import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { urlsOf } from '#dev/testing/logins.ts'
import { openRecord, type Recording, revision, writeTable } from '#test/run/record.ts'
import { makeRunFolder } from '#test/run/run-folder.ts'
import { startRunServer } from '#test/run/server.ts'
import { templateName } from '#test/support/database/template.ts'
import { chosenSeed, randomOf } from '#test/support/models/seeded.ts'
import { findMutants } from './find-mutants.ts'
import {
  askedOf,
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
    /** Leaves out what was caught on earlier occasions. */
    resume: { type: 'boolean', default: false },
    /** Where the fates are recorded; a run of some mutants by name records none unless given. */
    state: { type: 'string' },
  },
})
const isWhole = values.only.join() === ''
const laneCount = Number(values.lanes)
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
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
  const record = await openFates()
  const known = new Map(record.entries.map((entry) => [entry.name, entry]))
  const mutants = shuffled(chosen.filter(({ name }) => known.get(name)?.outcome !== 'caught'))
  if (mutants.length < chosen.length) {
    console.log(`${chosen.length - mutants.length} of ${chosen.length} were caught before`)
  }
  const lanes = Array.from({ length: laneCount }, (_, index) => ({
    folder: join(folder, `lane${index}`),
    clusterUrl,
  }))
  for (const lane of lanes) await copyTree(root, lane.folder)
  const requireSound = soundnessIn({ folder: root, clusterUrl })
  const order = orderAfter(chosen, known)
  const fates = await tryAll(lanes, mutants, { order, requireSound, add: record.add })
  if (isWhole) await writeFates(found, record.entries)
  return report(mutants, fates)
}

type Recorded = Pick<Fate, 'outcome' | 'test'> & { name: string; date: string; revision: string }

/** The fates of earlier occasions with `--resume`, and the new ones; the latest of a mutant counts. */
async function openFates(): Promise<Recording<Recorded>> {
  const file = values.state ?? (isWhole ? 'dist/mutation.jsonl' : undefined)
  return file === undefined ? { entries: [], add: async () => {} } : openRecord(file, values)
}

/** The table of docs/testing.md: what has been tried of the mutants that there are now, and what was not caught. */
async function writeFates(found: readonly Mutant[], entries: readonly Recorded[]): Promise<void> {
  const latest = new Map(entries.map((entry) => [entry.name, entry]))
  const fates = found.flatMap(({ name }) => latest.get(name) ?? [])
  const of = (outcome: Fate['outcome']) => fates.filter((fate) => fate.outcome === outcome)
  const dates = fates.map(({ date }) => date).sort()
  const count = (list: readonly Recorded[]) =>
    [list.length, ...list.map(({ name }) => `\`${name.replaceAll(/[|`]/g, ' ')}\``)].join('<br>')
  await writeTable('mutation', [
    ['Mutants', 'Tried', 'Caught', 'Survived', 'Timed out', 'From', 'Until'],
    [
      found.length,
      fates.length,
      of('caught').length,
      count(of('survived')),
      count(of('timed-out')),
      dates[0] ?? '',
      dates.at(-1) ?? '',
    ],
  ])
}

/** Begins with the tests that caught mutants on earlier occasions. */
function orderAfter(
  mutants: readonly Mutant[],
  known: ReadonlyMap<string, Pick<Recorded, 'outcome' | 'test'>>,
): TestOrder {
  const order = new TestOrder()
  for (const mutant of mutants) {
    const fate = known.get(mutant.name)
    const asked = askedOf(mutant)
    const step = asked.tests.find(({ name }) => name === fate?.test)
    if (step !== undefined && fate?.outcome === 'caught') order.note(asked, step, { caught: true })
  }
  return order
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
 * Runs a test without a mutant, the first time that it is asked.
 * @throws if it fails: it would catch every mutant
 */
function soundnessIn(untouched: Lane): Plan['requireSound'] {
  const runs = new Map<string, Promise<void>>()
  const run = async (step: Step) => {
    const failure = await failureOf(untouched, step, templateName)
    if (failure !== null) throw new Error(`${step.name} fails without a mutant:\n${failure.output}`)
  }
  return (step) => {
    const known = runs.get(step.name) ?? run(step)
    runs.set(step.name, known)
    return known
  }
}

async function tryAll(
  lanes: readonly Lane[],
  mutants: readonly Mutant[],
  { order, requireSound, add }: Plan & Pick<Recording<Recorded>, 'add'>,
) {
  const date = new Date().toISOString().slice(0, 10)
  const tried = revision()
  const fates: Fate[] = []
  const deadline = performance.now() + Number(values.minutes) * 60_000
  await inLanes(lanes, mutants.values(), async (lane, mutant) => {
    if (performance.now() > deadline) return
    const fate = await tryMutant(lane, mutant, { order, requireSound })
    fates.push(fate)
    const { outcome, test, reason } = fate
    await add({ name: mutant.name, outcome, test, date, revision: tried })
    console.log(`${fates.length}/${mutants.length} ${mutant.name}: ${outcome} ${test} (${reason})`)
  })
  return fates
}

/**
 * The lanes share one queue; each takes the next item when it has finished one.
 * @throws what a lane throws, after the others: without the server, which ends then, all their tests would fail
 */
async function inLanes<Item>(
  lanes: readonly Lane[],
  queue: Iterable<Item>,
  work: (lane: Lane, item: Item) => Promise<void>,
): Promise<void> {
  const items = queue[Symbol.iterator]()
  const failures: unknown[] = []
  const workIn = async (lane: Lane) => {
    for (let next = items.next(); !next.done; next = items.next()) {
      if (failures.length > 0) return
      await work(lane, next.value).catch((error) => failures.push(error))
    }
  }
  await Promise.all(lanes.map(workIn))
  if (failures.length > 0) throw failures[0]
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
