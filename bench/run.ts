import { parseArgs } from 'node:util'
import { measureBeside } from './beside.ts'
import { measureBilling } from './billing.ts'
import { measureCluster } from './citus/measure.ts'
import { measureDoor } from './door.ts'
import { measureGrowth } from './growth.ts'
import { measureHeld } from './held.ts'
import { measureInbound } from './inbound.ts'
import { measureLedgerCost } from './ledger.ts'
import { measureLists } from './lists.ts'
import { measureMemory } from './memory.ts'
import { measureOutbound } from './outbound.ts'
import { type Place, withPlace } from './place.ts'
import { measureRead } from './read.ts'
import { measureRelationships } from './relationships.ts'
import { writeResults } from './results.ts'
import { type Effort, type Section, sectionText } from './section.ts'
import { measureStart } from './start.ts'
import { measureWrites } from './writes.ts'

/*
 * `npm run bench`, or `npm run bench -- inbound read` for some of its parts. Contenders are measured
 * side by side in one run, on an embedded PostgreSQL with the durability of production: compare the
 * ratios, because absolute numbers depend on the machine.
 */

const parts: Readonly<Record<string, (place: Place, effort: Effort) => Promise<Section | null>>> = {
  start: measureStart,
  memory: measureMemory,
  inbound: measureInbound,
  billing: measureBilling,
  read: measureRead,
  writes: measureWrites,
  lists: measureLists,
  beside: measureBeside,
  door: measureDoor,
  outbound: measureOutbound,
  ledger: measureLedgerCost,
  held: measureHeld,
  chain: measureRelationships,
  cluster: measureCluster,
  growth: measureGrowth, // last, because it fills the tables
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    rows: { type: 'string', default: '10000000' },
    held: { type: 'string', default: '60' },
  },
})
const unknown = positionals.filter((name) => parts[name] === undefined)
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. The parts are: ${Object.keys(parts).join(', ')}.`)
  process.exit(1)
}
const effort = {
  runs: Number(values.runs),
  seconds: Number(values.seconds),
  rows: Number(values.rows),
  heldSeconds: Number(values.held),
}
const chosen = Object.entries(parts).filter(
  ([name]) => positionals.length === 0 || positionals.includes(name),
)
const begun = performance.now()
const sections: Section[] = []
await withPlace(async (place) => {
  for (const [, measure] of chosen) {
    const section = await measure(place, effort)
    if (section !== null) sections.push(section)
  }
})
for (const section of sections) console.log(`\n## ${section.title}\n\n${sectionText(section)}`)
await writeResults(sections, effort)
console.log(`${((performance.now() - begun) / 60_000).toFixed(1)} minutes`)
