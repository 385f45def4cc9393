import type { LightMyRequestResponse } from 'fastify'
import pLimit from 'p-limit'
import type { Test } from 'tap'
import type { Limits } from '#src/db/connections/pool-options.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { type CollectedRoute, collectRoutes } from '#test/support/app/collected-routes.ts'
import { comparable } from '#test/support/app/probes.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { untilInFeed } from '#test/support/receiver/until-in-feed.ts'
import { type Actor, actors, chosenActors } from './actors.ts'
import type { Entry } from './entries.ts'
import { expectedStatus } from './expected.ts'
import type { Kind, Placed } from './kind.ts'
import { type Locks, switchLocks } from './locks.ts'
import { commonPlaces, kinds, type Place, placeFor, placesFor } from './objects.ts'
import { isAbout, isSafe, listFault, send } from './request.ts'
import { type Trace, traceOf } from './trace.ts'
import { type Caller, createCaller, createWorld, type World } from './world.ts'

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

export type Setup = {
  test: TestApp
  locks: Locks
  world: World
  operators: Set<string>
  /** Sets the time of day of the program's clock, UTC. */
  setTime(time: string): void
}

/** Every actor, with every object in its places. */
type Fixtures = {
  members: readonly { caller: Caller; places: ReadonlyMap<string, readonly Placed[]> }[]
  /** Every object, by kind. */
  known: ReadonlyMap<string, readonly Placed[]>
  /** The 404 of each route. */
  notFound: Map<string, string>
}

type Options = {
  /** All that were chosen by default. */
  callers?: readonly Actor[]
  /** Known differences that are not faults. */
  isExcused?: (verdict: Verdict) => boolean
}

const requestsAtOnce = 4 // fewer than the connections of any pool, so that none has to wait
// `npm run mutate` only needs the first fault.
const stopsEarly = process.env.TAP_BAIL === '1'

export function isWrong({ expected, actual, fault }: Verdict): boolean {
  return expected !== actual || fault !== null
}

/**
 * The whole server with a test clock, and both locks, one or none.
 * @param limits of its connections, if they are not those of a test
 */
export async function openProgram(
  t: Test,
  locks: Locks,
  limits: Partial<Limits> = {},
): Promise<{ setup: Setup; routes: CollectedRoute[] }> {
  let now = new Date()
  const today = now.toISOString().slice(0, 10)
  const operators = new Set<string>()
  // A host that never answered gets few requests; one that the operator allows gets them all.
  const settings = { OUTBOUND_ALLOW: '8.8.8.8:443' }
  const overrides = { clock: { now: () => now }, operators, limits }
  const { built: test, routes } = await collectRoutes(() => build(t, settings, overrides))
  await switchLocks(test, locks)
  await startCallers(t, test)
  // Allows an actor with an unknown role.
  await test.database.admin.query('ALTER TABLE memberships DROP CONSTRAINT memberships_role_check')
  const setTime = (time: string) => {
    now = new Date(`${today}T${time}Z`)
  }
  return { setup: { test, locks, world: await createWorld(test), operators, setTime }, routes }
}

/**
 * Runs every entry for every actor with its object in every place. Also returns the rows of their
 * tenants before and after, which no refused request may change.
 */
export async function runMatrix(
  setup: Setup,
  entries: readonly Entry[],
  { callers = chosenActors, isExcused = () => false }: Options = {},
): Promise<{ verdicts: Verdict[]; before: Trace; after: Trace }> {
  const fixtures = await createFixtures(setup, callers, kindsOf(entries))
  // The feed shows an event once every older transaction of the server has ended.
  if (entries.some(({ row }) => row.lags)) await untilInFeed(setup.test.database)
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
function kindsOf(entries: readonly Entry[]): [string, Kind][] {
  const named = new Set(entries.flatMap(({ row }) => [row.object, row.lists]))
  return Object.entries(kinds).filter(([name]) => named.has(name))
}

async function createFixtures(
  { world, operators }: Setup,
  all: readonly Actor[],
  needed: readonly [string, Kind][],
): Promise<Fixtures> {
  const common = new Map<string, Placed[]>()
  for (const [name, kind] of needed) {
    common.set(name, await commonPlaces(kind, world))
  }
  const members = await Promise.all(
    all.map(async (actor) => {
      const caller = await createCaller(world, actor, operators)
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
  const expected = expectedStatus(entry.row, entry, caller, object)
  const changes = !isSafe(entry.method) && expected === entry.row.answer
  const own = changes ? await separately(setup, entry, caller, object) : { caller, object }
  const answer = await send(setup.test, entry, own.caller, own.object)
  return {
    route: entry.name,
    actor: caller.name,
    place: object?.place ?? null,
    expected,
    actual: answer.statusCode,
    fault: await faultOf(setup, fixtures, entry, caller, object, answer),
  }
}

/** Runs an allowed change in its own world, so that it does not affect other cases. */
async function separately(
  { test, operators }: Setup,
  { row }: Entry,
  { name }: Caller,
  object: Placed | null,
): Promise<{ caller: Caller; object: Placed | null }> {
  const world = await createWorld(test)
  const actor = actors.find((one) => one.name === name)
  const kind = row.object === undefined ? undefined : kinds[row.object]
  if (actor === undefined) throw new Error(`There is no actor ${name}.`)
  const caller = await createCaller(world, actor, operators)
  if (object === null || kind === undefined) return { caller, object: null }
  return { caller, object: await placeFor(kind, world, caller, object.place) }
}

/** A response must be the requested object, the one 404, or exactly the actor's list. */
async function faultOf(
  { test, locks }: Setup,
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
  if (method !== 'GET' || answer.statusCode !== 200) return null
  if (row.lists !== undefined) {
    const isComplete = locks.queryScope && !row.lags
    return listFault(test, entry, caller, known.get(row.lists) ?? [], isComplete)
  }
  if (object === null || row.object === undefined) return null
  return isAbout(answer, object) ? null : 'not the object that was asked for'
}
