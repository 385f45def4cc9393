import t from 'tap'
import { skipWithoutCitus } from '#test/support/citus.ts'
import { startClusterOfRun } from '#test/support/citus-run.ts'

/*
 * The access matrix on each lock alone, on a Citus cluster, for one actor. `npm run citus` runs these and
 * other files of the suite there for all of them.
 */
if (skipWithoutCitus) {
  t.test('the access matrix on a Citus cluster', { skip: skipWithoutCitus }, () => {})
} else {
  const { env, stop } = await startClusterOfRun()
  t.teardown(stop)
  Object.assign(process.env, env, { MATRIX_ACTORS: 'admin, at night' })
  await import('#test/access/row-level-security-alone.test.ts')
  await import('#test/access/query-scope-alone.test.ts')
}
