import { runOnCluster } from './on-cluster.ts'

/* Folders and teams over the API on a Citus cluster: a folder moves there with everything in it. */
await runOnCluster([
  () => import('#test/routes/api/folders.test.ts'),
  () => import('#test/routes/api/teams.test.ts'),
])
