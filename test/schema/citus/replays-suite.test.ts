import { runOnCluster } from './on-cluster.ts'

/* Replays and the recovery of endpoints on a Citus cluster: Citus refuses statements that one PostgreSQL takes. */
await runOnCluster([
  () => import('#test/webhooks/history/replays.test.ts'),
  () => import('#test/webhooks/delivery/held/recovery.test.ts'),
])
