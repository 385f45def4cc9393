import t from 'tap'
import { entriesOf, lockedEntries } from '#test/access/matrix/entries.ts'
import { judgeAll, openProgram, type Verdict } from '#test/access/matrix/matrix.ts'
import { summaryOf, wrongOf } from '#test/access/matrix/verdicts.ts'

t.test('row-level security alone keeps every object from whom it does not belong to', async (t) => {
  const { setup, routes } = await openProgram(t, { queryScope: false, rowLevelSecurity: true })
  const entries = lockedEntries(entriesOf(routes))
  const options = { isExcused: isRefusedInsert }
  const { verdicts, before, after } = await judgeAll(setup, entries, options)
  t.strictSame(wrongOf(verdicts.filter((verdict) => !isRefusedInsert(verdict))), [])
  t.strictSame(after, before, 'nothing that was refused left a trace')
  t.comment(`row-level security alone: ${summaryOf(verdicts)}`)
})

/** A new row that only the policy refuses is an error and no 404; it is not there all the same. */
function isRefusedInsert({ route, expected, actual }: Verdict): boolean {
  return route.startsWith('POST ') && expected === 404 && actual === 500
}
