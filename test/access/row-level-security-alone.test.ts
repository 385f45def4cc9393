import t from 'tap'
import { entriesOf, lockedEntries } from '#test/access/matrix/entries.ts'
import { openProgram, runMatrix, type Verdict } from '#test/access/matrix/matrix.ts'
import { summaryOf, wrongOf } from '#test/access/matrix/verdicts.ts'

t.test('row-level security alone hides every foreign object', async (t) => {
  const { setup, routes } = await openProgram(t, { queryScope: false, rowLevelSecurity: true })
  const entries = lockedEntries(entriesOf(routes)).filter(({ row }) => !row.narrowedByQuery)
  const options = { isExcused: isRefusedInsert }
  const { verdicts, before, after } = await runMatrix(setup, entries, options)
  t.strictSame(wrongOf(verdicts.filter((verdict) => !isRefusedInsert(verdict))), [])
  t.strictSame(after, before, 'no refused request changed anything')
  t.comment(`row-level security alone: ${summaryOf(verdicts)}`)
})

/** A row that only a policy refuses to insert is an error instead of a 404. It is still not inserted. */
function isRefusedInsert({ route, expected, actual }: Verdict): boolean {
  return route.startsWith('POST ') && expected === 404 && actual === 500
}
