import type { Test } from 'tap'
import { entriesOf, lockedEntries } from './entries.ts'
import { openProgram, runMatrix, type Verdict } from './matrix.ts'
import { summaryOf, wrongOf } from './verdicts.ts'

/**
 * Runs the access matrix without the query scope.
 * @param isRefused further answers that show no row, though not those of the contract
 */
export async function runOnRowLevelSecurity(
  t: Test,
  isRefused: (verdict: Verdict) => boolean = () => false,
): Promise<void> {
  const isExcused = (verdict: Verdict) => isRefusedInsert(verdict) || isRefused(verdict)
  const { setup, routes } = await openProgram(t, { queryScope: false, rowLevelSecurity: true })
  const entries = lockedEntries(entriesOf(routes)).filter(({ row }) => !row.narrowedByQuery)
  const { verdicts, before, after } = await runMatrix(setup, entries, { isExcused })
  t.strictSame(wrongOf(verdicts.filter((verdict) => !isExcused(verdict))), [])
  t.strictSame(after, before, 'no refused request changed anything')
  t.comment(`row-level security alone: ${summaryOf(verdicts)}`)
}

/**
 * A row that only a policy refuses to insert is an error instead of a 404, or instead of a 400 if it refers to a row
 * out of reach. It is still not inserted.
 */
function isRefusedInsert({ route, expected, actual }: Verdict): boolean {
  return /^(POST|PUT) /.test(route) && (expected === 404 || expected === 400) && actual === 500
}
