import { median } from '../outbound/world.ts'
import type { Ratio, Table } from '../section.ts'
import type { Spent } from './measures.ts'
import { citusName, singleName } from './servers.ts'
import type { Size } from './sizes.ts'

export const operations = {
  read: 'authorized reads',
  change: 'changes that publish an event',
  event: 'inbound billing events',
  delivery: 'outbound deliveries',
  oneRead: 'a read',
  oneChange: 'a change that publishes an event',
  create: 'creating a tenant',
  bulk: 'the same in bulk, by SQL',
} as const

export type Operation = keyof typeof operations

export type Run = { operation: Operation; tenants: number; contender: string; spent: Spent }

const served = ['read', 'change', 'event', 'delivery'] as const

/** Rates, and the coordinator's share of the work, at `tenants`; then both extremes of their number. */
export function ratiosOf(
  runs: readonly Run[],
  tenants: number,
  [few, many]: readonly [number, number],
): Ratio[] {
  const at = figuresOf(runs)
  return [
    ...served.map((operation) => ({
      measure: `${operations[operation]}/s with Citus ÷ one PostgreSQL, all servers on one machine`,
      value: divided(
        at(operation, tenants, citusName).perSecond,
        at(operation, tenants, singleName).perSecond,
      ),
      goal: '–',
    })),
    ...served.map((operation) => ({
      measure: `${operations[operation]}: CPU time of the coordinator ÷ of one PostgreSQL`,
      value: divided(
        at(operation, tenants, citusName).firstCpu,
        at(operation, tenants, singleName).firstCpu,
      ),
      goal: '–',
    })),
    ...(['oneRead', 'oneChange', 'create'] as const).map((operation) => ({
      measure: `${operations[operation]} with Citus: CPU time of all servers at ${many} tenants ÷ at ${few}`,
      value: divided(at(operation, many, citusName).allCpu, at(operation, few, citusName).allCpu),
      goal: '–',
    })),
  ]
}

/** Rates, times, and what each server uses for one. */
export function requestTable(runs: readonly Run[], tenants: number): Table {
  const at = figuresOf(runs)
  const head = [
    ...[`${tenants} tenants, 64 connections`, 'Per second', 'p50 ms', 'p99 ms', 'Failed'],
    ...['CPU µs: one PostgreSQL or coordinator', 'CPU µs: both nodes'],
    ...['WAL bytes: the same', 'WAL bytes: both nodes'],
  ]
  const rows = served.flatMap((operation) =>
    [singleName, citusName].map((contender) => {
      const figures = at(operation, tenants, contender)
      return [
        `${operations[operation]}, ${contender}`,
        shown(figures.perSecond),
        shown(figures.p50Ms, 2),
        shown(figures.p99Ms, 1),
        String(figures.failed),
        shown(figures.firstCpu),
        contender === citusName ? shown(figures.nodesCpu) : '–',
        shown(figures.firstWal),
        contender === citusName ? shown(figures.nodesWal) : '–',
      ]
    }),
  )
  return [head, ...rows]
}

/** CPU time of one of each by the number of tenants. */
export function tenantTable(runs: readonly Run[], counts: readonly number[]): Table {
  const at = figuresOf(runs)
  const head = [
    ...['CPU µs, one at a time', 'Tenants', 'One PostgreSQL', 'Coordinator', 'Both nodes'],
    ...['p50 ms, one PostgreSQL', 'p50 ms, Citus'],
  ]
  const rows = (['oneRead', 'oneChange', 'create', 'bulk'] as const).flatMap((operation) =>
    counts.map((tenants) => {
      const single = at(operation, tenants, singleName)
      const citus = at(operation, tenants, citusName)
      return [
        ...[operations[operation], String(tenants)],
        ...[shown(single.firstCpu), shown(citus.firstCpu), shown(citus.nodesCpu)],
        ...[shown(single.p50Ms, 2), shown(citus.p50Ms, 2)],
      ]
    }),
  )
  return [head, ...rows]
}

export function sizeTable(sizes: readonly Size[]): Table {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)
  return [
    [
      ...['Tenants', 'Server', 'Tables copied to every node, MB'],
      ...['Tables distributed by tenant, MB', 'All others, MB'],
    ],
    ...sizes.map(({ tenants, server, reference, distributed, others }) => [
      ...[String(tenants), server, megabytes(reference)],
      ...[megabytes(distributed), megabytes(others)],
    ]),
  ]
}

/** Medians of the runs: what one took, in ms, µs of CPU time and bytes of WAL. */
function figuresOf(runs: readonly Run[]) {
  return (operation: Operation, tenants: number, contender: string) => {
    const own = runs.filter(
      (run) =>
        run.operation === operation && run.tenants === tenants && run.contender === contender,
    )
    const middle = (of: (spent: Spent) => number) => median(own.map(({ spent }) => of(spent)))
    return {
      perSecond: middle((spent) => spent.perSecond),
      p50Ms: middle((spent) => spent.p50Ms),
      p99Ms: middle((spent) => spent.p99Ms),
      failed: own.reduce((total, { spent }) => total + spent.failed, 0),
      firstCpu: middle(({ first, count }) => (first.cpuSeconds / count) * 1e6),
      nodesCpu: middle(({ nodes, count }) => (nodes.cpuSeconds / count) * 1e6),
      allCpu: middle(
        ({ first, nodes, count }) => ((first.cpuSeconds + nodes.cpuSeconds) / count) * 1e6,
      ),
      firstWal: middle(({ first, count }) => first.walBytes / count),
      nodesWal: middle(({ nodes, count }) => nodes.walBytes / count),
    }
  }
}

function divided(a: number, b: number): string {
  return shown(a / b, 2)
}

/** What was not measured has no number. */
function shown(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–'
}
