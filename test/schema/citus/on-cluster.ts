import t from 'tap'
import { skipWithoutCluster } from './cluster.ts'
import { startClusterOfRun } from './cluster-run.ts'

/**
 * Runs test files on a cluster of their own, or reports why it cannot.
 * @param files import them
 * @param env variables for them
 */
export async function runOnCluster(
  files: readonly (() => Promise<unknown>)[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (skipWithoutCluster) {
    t.test('on a cluster', { skip: skipWithoutCluster }, () => {})
    return
  }
  const cluster = await startClusterOfRun()
  t.teardown(cluster.stop)
  Object.assign(process.env, cluster.env, env)
  for (const load of files) await load()
}
