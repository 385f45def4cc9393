import type { LightMyRequestResponse } from 'fastify'
import pLimit from 'p-limit'
import type { Actor } from './actors.ts'
import type { Entry } from './entries.ts'
import { expectedStatus } from './expected.ts'
import { fieldFault } from './guarded-fields.ts'
import type { Kind, Kinds, Placed } from './kind.ts'
import type { Locks } from './locks.ts'
import { commonPlaces, type Place, placeFor, placesFor } from './objects.ts'
import { comparable, isAbout, isSafe, listFault, send } from './request.ts'
import type { Contract } from './rules.ts'
import { type Trace, traceOf } from './trace.ts'
import type { Caller, Running, World } from './world.ts'

/** One request and its result. */
export type Verdict = {
  route: string
  actor: string
  place: Place | null
  expected: number
  actual: number
  /** Faults of the response other than its status. */
  fault: string | null
}

export type Setup<T extends Running = Running> = {
  contract: Contract
  /** Every kind of object that a route names or lists. */
  kinds: Kinds
  test: T
  locks: Locks
  world: World<T>
  /** Makes another world, and a caller who joins one. */
  createWorld(): Promise<World<T>>
  createCaller(world: World, actor: Actor): Promise<Caller>
  /** Sets the time of day of the program's clock, UTC. */
  setTime(time: string): void
  /** Until lists that may be delayed show the objects. */
  settle?(): Promise<void>
}

/** Every actor, with every object in its places. */
type Fixtures = {
  members: readonly { caller: Caller; places: ReadonlyMap<string, readonly Placed[]> }[]
  /** Every object, by kind. */
  known: ReadonlyMap<string, readonly Placed[]>
  /** The 404 of each route. */
  notFound: Map<string, string>
}

export type Options = {
  callers: readonly Actor[]
  /** Ends after the first caller with a fault. */
  stopsEarly?: boolean
  /** Known differences that are not faults. */
  isExcused?: (verdict: Verdict) => boolean
}

const requestsAtOnce = 4 // fewer than the connections of any pool, so that none has to wait

export function isWrong({ expected, actual, fault }: Verdict): boolean {
  return expected !== actual || fault !== null
}

/**
 * Runs every entry for every actor with its object in every place. Also returns the rows of their
 * tenants before and after, which no refused request may change.
 */
export async function runMatrix(
  setup: Setup,
  entries: readonly Entry[],
  { callers, stopsEarly = false, isExcused = () => false }: Options,
): Promise<{ verdicts: Verdict[]; before: Trace; after: Trace }> {
  const fixtures = await createFixtures(setup, callers, kindsOf(setup.kinds, entries))
  if (entries.some(({ row }) => row.lags)) await setup.settle?.()
  const before = await traceOf(setup.world)
  const verdicts: Verdict[] = []
  const next = pLimit(requestsAtOnce)
  for (const { caller, places } of fixtures.members) {
    setup.setTime(caller.time)
    const cases = entries.flatMap((entry) => {
      const objects = entry.row.object === undefined ? [null] : places.get(entry.row.object)
      return (objects ?? []).map((object) => () => runCase(setup, fixtures, entry, caller, object))
    })
    verdicts.push(...(await Promise.all(cases.map((run) => next(run)))))
    if (stopsEarly && verdicts.some((one) => isWrong(one) && !isExcused(one))) break
  }
  return { verdicts, before, after: await traceOf(setup.world) }
}

/** The objects that the entries name or list. */
function kindsOf(kinds: Kinds, entries: readonly Entry[]): [string, Kind][] {
  const named = new Set(entries.flatMap(({ row }) => [row.object, row.lists]))
  return Object.entries(kinds).filter(([name]) => named.has(name))
}

async function createFixtures(
  { world, createCaller }: Setup,
  all: readonly Actor[],
  needed: readonly [string, Kind][],
): Promise<Fixtures> {
  const common = new Map<string, Placed[]>()
  for (const [name, kind] of needed) {
    common.set(name, await commonPlaces(kind, world))
  }
  const members = await Promise.all(
    all.map(async (actor) => {
      const caller = await createCaller(world, actor)
      const places = new Map<string, Placed[]>()
      for (const [name, kind] of needed) {
        places.set(name, await placesFor(kind, world, caller, common.get(name) ?? []))
      }
      return { caller, places }
    }),
  )
  const known = needed.map(([name]) => {
    const placed = members.flatMap(({ places }) => places.get(name) ?? [])
    return [name, [...new Set(placed)]] as const
  })
  return { members, known: new Map(known), notFound: new Map() }
}

async function runCase(
  setup: Setup,
  fixtures: Fixtures,
  entry: Entry,
  caller: Caller,
  object: Placed | null,
): Promise<Verdict> {
  const { contract, test } = setup
  const expected = expectedStatus(contract, entry.row, entry, caller, object)
  const changes = !isSafe(entry.method) && expected === entry.row.answer
  const own = changes ? await separately(setup, entry, caller, object) : { caller, object }
  const answer = await send(contract, test, entry, own.caller, own.object)
  const passes = entry.row.passes && expected === entry.row.answer
  return {
    route: entry.name,
    actor: caller.name,
    place: object?.place ?? null,
    expected,
    actual: passes && isLetThrough(answer) ? expected : answer.statusCode,
    fault: await faultOf(setup, fixtures, entry, caller, object, answer),
  }
}

function isLetThrough({ statusCode }: LightMyRequestResponse): boolean {
  return statusCode < 500 && ![401, 403, 404].includes(statusCode)
}

/** Runs an allowed change in its own world, so that it does not affect other cases. */
async function separately(
  { kinds, createWorld, createCaller }: Setup,
  { row }: Entry,
  actor: Caller,
  object: Placed | null,
): Promise<{ caller: Caller; object: Placed | null }> {
  const world = await createWorld()
  const kind = row.object === undefined ? undefined : kinds[row.object]
  const caller = await createCaller(world, actor)
  if (object === null || kind === undefined) return { caller, object: null }
  return { caller, object: await placeFor(kind, world, caller, object.place) }
}

/** A response must be the requested object, the one 404, or exactly the actor's list. */
async function faultOf(
  { contract, test, locks }: Setup,
  { known, notFound }: Fixtures,
  entry: Entry,
  caller: Caller,
  object: Placed | null,
  answer: LightMyRequestResponse,
): Promise<string | null> {
  const { name, method, row } = entry
  if (answer.statusCode === 404) {
    const text = JSON.stringify(comparable(answer))
    const first = notFound.get(name) ?? text
    notFound.set(name, first)
    return text === first ? null : `another 404: ${text}`
  }
  const field = fieldFault(contract, row, caller, answer)
  if (field !== null) return field
  if (method !== 'GET' || answer.statusCode !== 200) return null
  if (row.lists !== undefined) {
    const isComplete = locks.queryScope && !row.lags
    return listFault(contract, test, entry, caller, known.get(row.lists) ?? [], isComplete)
  }
  if (object === null || row.object === undefined) return null
  return isAbout(answer, object) ? null : 'not the object that was asked for'
}
