import { runOnCluster } from './on-cluster.ts'

/*
 * The access matrix on each lock alone, on a Citus cluster, for one actor. `npm run citus` runs these and
 * other files of the suite there for all of them.
 */
await runOnCluster(
  [
    () => import('#test/access/row-level-security-alone.test.ts'),
    () => import('#test/access/query-scope-alone.test.ts'),
  ],
  { MATRIX_ACTORS: 'admin, at night' },
)
