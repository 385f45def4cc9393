import { skipWithoutCluster } from '#test/schema/citus/cluster.ts'
import { webhookSecret } from '../contender.ts'
import type { Load } from '../load.ts'
import { summarize } from '../measured.ts'
import { endpoints, type Publisher, startReceivers } from '../outbound/world.ts'
import type { Place } from '../place.ts'
import type { Effort, Section } from '../section.ts'
import {
  clear,
  prepareDeliveries,
  type Spent,
  spend,
  spendOnCreating,
  spendOnDeliveries,
  spendOnRequests,
} from './measures.ts'
import { type Contender, withContenders } from './servers.ts'
import { readSizes, type Size } from './sizes.ts'
import {
  type Operation,
  operations,
  type Run,
  ratiosOf,
  requestTable,
  sizeTable,
  tenantTable,
} from './tables.ts'
import { addTenants, settle } from './tenants.ts'

const few = 10
const some = 1_000
const many = 100_000
const connections = 64
const createdOneByOne = 400

const note = `All servers are on this one machine, with the program and the load generator, so Citus cannot be faster
here: the rates show what it costs. Every request passes through the coordinator, so the CPU time of its
processes for one request limits a cluster; that of the nodes is divided among as many as there are. CPU
time is that of all processes of a server (/proc), WAL is what it writes to its disk. The CPU time of what
failed is counted with what did not.

Reads are GET /orders/:id, changes PATCH /posts/:id with an event, a delivery and a job each, at random
among the tenants. Events are recorded, not processed: their tables are on the coordinator. Deliveries are
those of eight tenants with ${endpoints} endpoints each, published before; the start of the worker is
counted with them. A tenant is created by the function of the first sign-in, ${createdOneByOne} of them over one
connection. In bulk it has a member, a session, an order, a post and an endpoint. The tables by the number
of tenants are of one run. Sizes are those right after the tenants were added.`

/** One PostgreSQL compared with a coordinator and two nodes; null where there is no Citus. */
export async function measureCluster(_place: Place, effort: Effort): Promise<Section | null> {
  if (skipWithoutCluster) {
    console.log(`citus is not measured: ${skipWithoutCluster}`)
    return null
  }
  const runs: Run[] = []
  const sizes: Size[] = []
  await withContenders(async (contenders) => {
    let existing = 0
    for (const tenants of [few, some, many]) {
      const measure = measureEach(contenders, tenants, runs)
      const from = existing
      await measure('bulk', (contender) => addInBulk(contender, from, tenants))
      existing = tenants
      for (const contender of contenders) {
        await settle(contender)
        sizes.push(...(await readSizes(contender, tenants)))
      }
      await measure('oneRead', (contender) =>
        spendOnRequests(contender, { readsAmong: tenants }, effort.seconds, 1),
      )
      await measure('oneChange', (contender) =>
        thenClear(contender, { changesAmong: tenants }, effort.seconds, 1),
      )
      if (tenants === some) await measureLoad(contenders, measure, effort)
      await measure('create', (contender) => spendOnCreating(contender, createdOneByOne))
    }
  })
  return {
    title: 'Citus',
    postgres: 'PostgreSQL 15',
    ratios: ratiosOf(runs, some, [few, many]),
    measures: requestTable(runs, some),
    details: [tenantTable(runs, [few, some, many]), sizeTable(sizes)],
    note,
  }
}

type Measure = (
  operation: Operation,
  work: (contender: Contender) => Promise<Spent>,
) => Promise<void>

/** Measures one contender after the other, and adds their runs. */
function measureEach(contenders: readonly Contender[], tenants: number, runs: Run[]): Measure {
  return async (operation, work) => {
    for (const contender of contenders) {
      const spent = await work(contender)
      runs.push({ operation, tenants, contender: contender.name, spent })
      const name = `${contender.name}, ${operations[operation]}`
      console.log(`${name.padEnd(44)} ${spent.perSecond.toFixed(0).padStart(7)}/s`)
    }
  }
}

async function measureLoad(
  contenders: readonly Contender[],
  measure: Measure,
  { runs, seconds }: Effort,
): Promise<void> {
  const receivers = await startReceivers()
  try {
    const publishers = new Map<Contender, Publisher[]>()
    for (const contender of contenders) {
      publishers.set(contender, await prepareDeliveries(contender, receivers))
    }
    for (let turn = 0; turn < runs; turn += 1) {
      await measure('read', (contender) =>
        spendOnRequests(contender, { readsAmong: some }, seconds, connections),
      )
      await measure('change', (contender) =>
        thenClear(contender, { changesAmong: some }, seconds, connections),
      )
      await measure('event', (contender) =>
        thenClear(contender, { eventsSignedWith: webhookSecret }, seconds, connections),
      )
      await measure('delivery', (contender) =>
        spendOnDeliveries(contender, receivers, publishers.get(contender) ?? [], seconds),
      )
    }
  } finally {
    receivers.end()
  }
}

/** The rows are removed afterwards, so that later runs find the same. */
async function thenClear(
  contender: Contender,
  requests: Load['requests'],
  seconds: number,
  connections: number,
): Promise<Spent> {
  const spent = await spendOnRequests(contender, requests, seconds, connections)
  await clear(contender)
  return spent
}

function addInBulk(contender: Contender, from: number, to: number): Promise<Spent> {
  return spend(contender, (count) =>
    count(async () => {
      const begun = performance.now()
      await addTenants(contender, from, to)
      const seconds = (performance.now() - begun) / 1_000
      return { ...summarize([], 1, 0), count: to - from, perSecond: (to - from) / seconds }
    }),
  )
}
