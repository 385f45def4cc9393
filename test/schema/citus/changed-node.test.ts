import t from 'tap'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { query } from '#test/support/database/raw-sql.ts'
import {
  type ClusterDatabase,
  createClusterDatabase,
  skipWithoutCluster,
  startCluster,
} from './cluster.ts'
import { adminUrl, distributeAll, isVerified } from './distributed.ts'

t.test(
  'what was changed on a node or in a role is found',
  { skip: skipWithoutCluster },
  async (t) => {
    const cluster = await startCluster(t)
    const database = await createClusterDatabase(t, cluster)
    await distributeAll(database)
    const [node = ''] = database.nodeUrls
    const [shard] = await query(
      node,
      `SELECT 'posts_' || shardid AS name FROM pg_dist_shard JOIN pg_dist_placement USING (shardid)
     WHERE logicalrelid = 'posts'::regclass
       AND groupid = (SELECT groupid FROM pg_dist_local_group) LIMIT 1`,
    )
    const shardId = shard?.name?.split('_')[1]
    const local = 'SET citus.enable_ddl_propagation = off;'
    const policy = `CREATE POLICY tenant_scope ON ${shard?.name}
    USING (tenant_id = current_tenant_id()) WITH CHECK (tenant_id = current_tenant_id())`
    const cases: { on: string; change: string; undo: string; problem: RegExp }[] = [
      {
        on: node,
        change: `ALTER TABLE ${shard?.name} NO FORCE ROW LEVEL SECURITY`,
        undo: `ALTER TABLE ${shard?.name} FORCE ROW LEVEL SECURITY`,
        problem: /posts_\d+ has other row-level security/,
      },
      {
        on: node,
        change: `ALTER TABLE ${shard?.name} DISABLE ROW LEVEL SECURITY`,
        undo: `ALTER TABLE ${shard?.name} ENABLE ROW LEVEL SECURITY`,
        problem: /posts_\d+ has other row-level security/,
      },
      {
        on: node,
        change: `DROP POLICY tenant_scope ON ${shard?.name}`,
        undo: policy,
        problem: /posts_\d+ has other row-level security/,
      },
      {
        on: node,
        change: `CREATE POLICY wide ON ${shard?.name} USING (true)`,
        undo: `DROP POLICY wide ON ${shard?.name}`,
        problem: /posts_\d+ has other row-level security/,
      },
      {
        on: node,
        change: `GRANT SELECT ON ${shard?.name} TO PUBLIC`,
        undo: `REVOKE SELECT ON ${shard?.name} FROM PUBLIC`,
        problem: /posts_\d+ has other row-level security/,
      },
      {
        on: node,
        change: `ALTER TABLE ${shard?.name} DISABLE TRIGGER count_insert_${shardId}`,
        undo: `ALTER TABLE ${shard?.name} ENABLE TRIGGER count_insert_${shardId}`,
        problem: /posts_\d+ has other row-level security, triggers or/,
      },
      {
        on: node,
        change: `ALTER TRIGGER count_delete_${shardId} ON ${shard?.name} RENAME TO other_${shardId}`,
        undo: `ALTER TRIGGER other_${shardId} ON ${shard?.name} RENAME TO count_delete_${shardId}`,
        problem: /posts_\d+ has other row-level security, triggers or/,
      },
      {
        on: node,
        change: `ALTER TABLE ${shard?.name} DISABLE TRIGGER ALL`,
        undo: `ALTER TABLE ${shard?.name} ENABLE TRIGGER ALL`,
        problem: /posts_\d+ has other row-level security, triggers or/,
      },
      {
        on: adminUrl(cluster, database),
        change: 'ALTER TABLE audit_log DISABLE TRIGGER commit_in_two_phases',
        undo: 'ALTER TABLE audit_log ENABLE TRIGGER commit_in_two_phases',
        problem: /The trigger commit_in_two_phases of the table audit_log was changed by hand/,
      },
      {
        on: adminUrl(cluster, database),
        change: 'ALTER TRIGGER lock_new_jobs ON pgboss.job_common RENAME TO other',
        undo: 'ALTER TRIGGER other ON pgboss.job_common RENAME TO lock_new_jobs',
        problem: /The trigger lock_new_jobs of pgboss.job_common is missing/,
      },
      {
        on: node,
        change: 'ALTER ROLE test_app BYPASSRLS',
        undo: 'ALTER ROLE test_app NOBYPASSRLS',
        problem: /the role test_app can bypass row-level security/,
      },
      {
        on: node,
        change: 'REVOKE test_app_on_nodes FROM test_app',
        undo: 'GRANT test_app_on_nodes TO test_app',
        problem: /the role test_app has no privileges on shards/,
      },
      {
        on: node,
        change: `ALTER DATABASE ${database.name} SET track_activities = on`,
        undo: `ALTER DATABASE ${database.name} SET track_activities = off`,
        problem: /shows the statements of running sessions/,
      },
      {
        on: adminUrl(cluster, database),
        change: 'ALTER FUNCTION forward_scope(text) RESET ALL',
        undo: `ALTER FUNCTION forward_scope(text) SET citus.propagate_set_commands = 'local'`,
        problem: /The function forward_scope\(text\) was changed by hand: settings none/,
      },
      {
        on: adminUrl(cluster, database),
        change:
          'GRANT EXECUTE ON FUNCTION master_run_on_worker(text[], integer[], text[], boolean) TO PUBLIC',
        undo: 'REVOKE EXECUTE ON FUNCTION master_run_on_worker(text[], integer[], text[], boolean) FROM PUBLIC',
        problem: /may call master_run_on_worker/,
      },
    ]
    for (const { on, change, undo, problem } of cases) {
      await query(on, `${local} ${change}`)
      await closeConnections(database)
      t.match(await verifyDatabase(database.url, 'web'), [{ problem }], change)
      await query(on, `${local} ${undo}`)
      await closeConnections(database)
    }
    await isVerified(t, database)
  },
)

/** Connections between the servers keep the settings that they began with. */
async function closeConnections({ nodeUrls }: ClusterDatabase): Promise<void> {
  for (const url of nodeUrls) {
    await query(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND application_name LIKE 'citus_internal%'`,
    )
  }
}
