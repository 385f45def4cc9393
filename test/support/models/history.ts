/*
 * A checker of histories, after Elle (Kingsbury and Alvaro, 2020). Clients append values of their own
 * to lists and read them. Because every value is appended once, a read says which appends came before
 * it, and in which order; so what was lost, doubled or seen too late can be told from the outside.
 */

/** One operation of a client: all its appends and reads are one transaction. */
export type Operation = {
  name: string
  /** When the client sent it and had the response; any clock that all clients share. */
  from: number
  to: number
  /** `unknown`: there was no response, so it may have happened, also later. */
  outcome: 'ok' | 'failed' | 'unknown'
  appends: readonly (readonly [key: string, value: string])[]
  /** Whole lists, oldest value first. */
  reads: readonly (readonly [key: string, values: readonly string[]])[]
}

export type HistoryRules = {
  /** Lists are read in the order of the appends. Without it they are sets. */
  ordered: boolean
}

/** @returns the anomalies; none if there is an order of the operations that explains all of them */
export function findAnomalies(
  operations: readonly Operation[],
  { ordered }: HistoryRules = { ordered: true },
): string[] {
  const writers: Writers = new Map()
  for (const operation of operations) {
    for (const [key, value] of operation.appends) {
      const name = nameOf(key, value)
      writers.set(name, [...(writers.get(name) ?? []), operation])
    }
  }
  const seen = operations.filter(({ outcome }) => outcome === 'ok')
  const reads = seen.flatMap((operation) =>
    operation.reads.map(([key, values]) => ({ operation, key, values })),
  )
  const anomalies = reads.flatMap((read) => faultsOfRead(read, writers))
  for (const [key, some] of Map.groupBy(reads, (read) => read.key)) {
    anomalies.push(...lostAndStale(key, some, seen))
    if (ordered) anomalies.push(...splitsOf(key, some))
  }
  if (ordered && anomalies.length === 0) {
    const cycle = findCycle(operations, writers, reads)
    if (cycle !== null) anomalies.push(`no order explains: ${cycle.join(' → ')}`)
  }
  return anomalies
}

/** The operations that appended a value: several if a client sent it again. */
type Writers = Map<string, Operation[]>

type Read = { operation: Operation; key: string; values: readonly string[] }

function nameOf(key: string, value: string): string {
  return JSON.stringify([key, value])
}

/** What a read shows that no list can have. */
function faultsOfRead({ operation: { name, to }, key, values }: Read, writers: Writers): string[] {
  const faults: string[] = []
  for (const [index, value] of values.entries()) {
    if (values.indexOf(value) !== index) faults.push(`${name}: ${value} of ${key} is doubled`)
    const tries = writers.get(nameOf(key, value)) ?? []
    const sent = tries.filter(({ from }) => from <= to)
    if (tries.length === 0) faults.push(`${name}: ${value} of ${key} was never appended`)
    else if (sent.length === 0) faults.push(`${name}: ${value} of ${key} comes from the future`)
    else if (sent.every(({ outcome }) => outcome === 'failed')) {
      faults.push(`${name}: ${value} of ${key} had failed`)
    }
  }
  return faults
}

/** Appends that succeeded before a read began and are not in it: in no later read, or only not here. */
function lostAndStale(
  key: string,
  reads: readonly Read[],
  operations: readonly Operation[],
): string[] {
  const appends = operations.flatMap((operation) =>
    operation.appends.flatMap(([at, value]) => (at === key ? [{ operation, value }] : [])),
  )
  return appends.flatMap(({ operation, value }) => {
    const later = reads.filter((read) => read.operation.from > operation.to)
    const without = later.filter(({ values }) => !values.includes(value))
    const [first] = without
    if (first === undefined) return []
    return without.length === later.length
      ? [`${value} of ${key} is lost: ${first.operation.name} does not have it`]
      : [`${first.operation.name} is stale: it does not have ${value} of ${key}`]
  })
}

/** Two reads of which neither continues the other. */
function splitsOf(key: string, reads: readonly Read[]): string[] {
  const sorted = reads.toSorted((a, b) => a.values.length - b.values.length)
  return sorted.flatMap((read, index) => {
    const next = sorted[index + 1]
    if (next === undefined || read.values.every((value, n) => value === next.values[n])) return []
    return [`${read.operation.name} and ${next.operation.name} see ${key} in different orders`]
  })
}

/**
 * A circle of operations each of which comes before the next: it ended before the other began, wrote
 * the version before the other's, wrote what the other read, or read what the other overwrote.
 */
function findCycle(
  operations: readonly Operation[],
  writers: Writers,
  reads: readonly Read[],
): string[] | null {
  const after = new Map(operations.map((operation) => [operation, new Set<Operation>()]))
  const add = (before: Operation | undefined, next: Operation | undefined) => {
    if (before !== undefined && next !== undefined && before !== next) after.get(before)?.add(next)
  }
  for (const before of operations) {
    if (before.outcome !== 'ok') continue
    for (const next of operations) if (before.to < next.from) add(before, next)
  }
  for (const [key, some] of Map.groupBy(reads, (read) => read.key)) {
    const versions = some.reduce<readonly string[]>(
      (longest, { values }) => (values.length > longest.length ? values : longest),
      [],
    )
    // Of several tries it is not known which one wrote.
    const writerOf = (index: number) => {
      const [writer, ...others] = writers.get(nameOf(key, versions[index] ?? '')) ?? []
      return others.length === 0 ? writer : undefined
    }
    for (const index of versions.keys()) add(writerOf(index), writerOf(index + 1))
    for (const { operation, values } of some) {
      add(writerOf(values.length - 1), operation)
      add(operation, writerOf(values.length))
    }
  }
  return circleIn(after)
}

/** Depth first; a node that is met again on its own path closes a circle. */
function circleIn(after: ReadonlyMap<Operation, ReadonlySet<Operation>>): string[] | null {
  const done = new Set<Operation>()
  for (const start of after.keys()) {
    if (done.has(start)) continue
    const path = [{ node: start, rest: [...(after.get(start) ?? [])] }]
    const onPath = new Set([start])
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.rest.pop()
      if (next === undefined) {
        done.add(last.node)
        onPath.delete(last.node)
        path.pop()
      } else if (onPath.has(next)) {
        const names = path.map(({ node }) => node)
        return [...names.slice(names.indexOf(next)), next].map(({ name }) => name)
      } else if (!done.has(next)) {
        path.push({ node: next, rest: [...(after.get(next) ?? [])] })
        onPath.add(next)
      }
    }
  }
  return null
}
