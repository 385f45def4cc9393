import t from 'tap'
import { skipWithoutCitus } from '#test/support/database/citus.ts'
import { startClusterOfRun } from '#test/support/database/citus-run.ts'

/**
 * Runs test files on a cluster of their own, or reports why it cannot.
 * @param files import them
 * @param env variables for them
 */
export async function runOnCluster(
  files: readonly (() => Promise<unknown>)[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (skipWithoutCitus) {
    t.test('on a Citus cluster', { skip: skipWithoutCitus }, () => {})
    return
  }
  const cluster = await startClusterOfRun()
  t.teardown(cluster.stop)
  Object.assign(process.env, cluster.env, env)
  for (const load of files) await load()
}
