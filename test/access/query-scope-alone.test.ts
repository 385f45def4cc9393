import t from 'tap'
import { summaryOf, wrongOf } from '#dev/testing/access/verdicts.ts'
import { entriesOf, lockedEntries } from '#test/access/matrix/entries.ts'
import { openProgram, runMatrix } from '#test/access/matrix/matrix.ts'

t.test('the query scope alone hides every foreign object', async (t) => {
  const { setup, routes } = await openProgram(t, { queryScope: true, rowLevelSecurity: false })
  const { verdicts, before, after } = await runMatrix(setup, lockedEntries(entriesOf(routes)))
  t.strictSame(wrongOf(verdicts), [])
  t.strictSame(after, before, 'no refused request changed anything')
  t.comment(`query scope alone: ${summaryOf(verdicts)}`)
})
