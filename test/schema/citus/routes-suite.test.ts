import { runOnCluster } from './on-cluster.ts'

/*
 * What Citus once refused on a cluster: a folder that moves with everything in it, a change of an order with
 * If-Match, sign-ins at the same moment, new encryption keys, `gatehouse trace`.
 */
await runOnCluster([
  () => import('#test/routes/api/folders.test.ts'),
  () => import('#test/plugins/api/preconditions.test.ts'),
  () => import('#test/routes/auth/callback.test.ts'),
  () => import('#test/operations/key-rotation.test.ts'),
  () => import('#test/commands/database/trace.test.ts'),
])
