import { runOnCluster } from './on-cluster.ts'

/* Replays and the recovery of endpoints on a Citus cluster: Citus refuses statements that one PostgreSQL takes. */
await runOnCluster([
  () => import('#test/webhooks/delivery/replays.test.ts'),
  () => import('#test/webhooks/health/endpoint-recovery.test.ts'),
])
