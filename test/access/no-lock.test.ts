import t from 'tap'
import { leaks } from '#dev/testing/access/verdicts.ts'
import { actors } from '#test/access/matrix/actors.ts'
import { entriesOf, isWhole, lockedEntries } from '#test/access/matrix/entries.ts'
import { openProgram, runMatrix } from '#test/access/matrix/matrix.ts'
import { createWorld } from '#test/access/matrix/world.ts'

/*
 * Proves that the two runs with one lock test something: with both locks disabled in the same way,
 * each of their routes leaks foreign objects.
 */
t.test('with neither lock every route leaks, so the switches work', async (t) => {
  const { setup, routes } = await openProgram(t, { queryScope: false, rowLevelSecurity: false })
  const entries = lockedEntries(entriesOf(routes)).filter(({ row }) => !row.heldByKeys)
  const tight: string[] = []
  for (const entry of entries) {
    // One at a time, each in its own world, because a leaked object may be deleted.
    const world = await createWorld(setup.test)
    // No session of a person opens the portal.
    const caller = entry.url.startsWith('/portal/') ? 'portal session' : 'admin, at night'
    const callers = actors.filter(({ name }) => name === caller)
    const { verdicts } = await runMatrix({ ...setup, world }, [entry], { callers })
    if (!leaks(verdicts)) tight.push(entry.name)
  }
  t.strictSame(tight, [])
  t.ok(entries.length > (isWhole ? 20 : 0), `${entries.length} routes leak`)
})
