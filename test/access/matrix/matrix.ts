import type { Test } from 'tap'
import { type CollectedRoute, collectRoutes } from '#dev/testing/access/collected-routes.ts'
import type { Entry } from '#dev/testing/access/entries.ts'
import { type Locks, switchLocks } from '#dev/testing/access/locks.ts'
import * as shared from '#dev/testing/access/matrix.ts'
import type { Limits } from '#src/db/connections/pool-options.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { untilInFeed } from '#test/support/receiver/until-in-feed.ts'
import { chosenActors } from './actors.ts'
import { contract } from './contract.ts'
import { kinds } from './objects.ts'
import { createCaller, createWorld } from './world.ts'

export type Setup = shared.Setup<TestApp> & { readonly operators: Set<string> }

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
  const setup: Setup = {
    ...{ contract, kinds, test, locks, operators, setTime },
    world: await createWorld(test),
    createWorld: () => createWorld(test),
    createCaller: (world, actor) => createCaller({ ...world, test }, actor, operators),
    // The feed shows an event once every older transaction of the server has ended.
    settle: () => untilInFeed(test.database),
  }
  return { setup, routes }
}

// `npm run mutate` only needs the first fault.
const stopsEarly = process.env.TAP_BAIL === '1'

/** Runs every entry for every actor, all that were chosen by default, with its object in every place. */
export function runMatrix(
  setup: Setup,
  entries: readonly Entry[],
  options: Partial<shared.Options> = {},
) {
  const chosen = { callers: chosenActors, stopsEarly }
  return shared.runMatrix(setup, entries, { ...chosen, ...options })
}
