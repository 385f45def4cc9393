import type { Test } from 'tap'
import type { Verdict } from '#dev/testing/access/matrix.ts'
import { isRefusedInsert, summaryOf, wrongOf } from '#dev/testing/access/verdicts.ts'
import { entriesOf, lockedEntries } from './entries.ts'
import { openProgram, runMatrix } from './matrix.ts'

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
