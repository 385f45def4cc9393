import type pg from 'pg'
import t, { type Test } from 'tap'
import { distributedTables, referenceTables } from '#src/schema/citus/placement.ts'
import { readMigrations } from '#src/schema/history.ts'
import { migrate, repair } from '#src/schema/migrate.ts'
import { describeDatabase, verifyDatabase } from '#src/schema/verify.ts'
import {
  type CitusDatabase,
  type Cluster,
  createCitusDatabase,
  prepareDatabase,
  skipWithoutCitus,
  startCluster,
} from '#test/support/citus.ts'
import { query } from '#test/support/raw-sql.ts'
import { seed } from '../../../prisma/seed.ts'

t.test('migrate --citus and the verification', { skip: skipWithoutCitus }, async (t) => {
  const cluster = await startCluster(t)

  await t.test(
    'distributes a database with its rows, and a second run changes nothing',
    async (t) => {
      const database = await createCitusDatabase(t, cluster, { prepared: false })
      await migrate(database)
      await seed(database.ownerUrl, 'demo')
      const before = await countAll(database)
      const keysBefore = await countKeys(database)
      await prepareDatabase(cluster, database)
      const first = await distributeAll(database)
      t.match(first, ['36 foreign keys set aside', /copied/])
      const { rows } = await database.admin.query<{ name: string; kind: string }>(
        'SELECT table_name::text AS name, citus_table_type AS kind FROM citus_tables',
      )
      const named = (kind: string) =>
        rows.filter((row) => row.kind === kind).map(({ name }) => name)
      t.same(named('distributed').toSorted(), distributedTables.toSorted())
      t.same(named('reference').toSorted(), referenceTables.toSorted())
      t.strictSame(await countAll(database), before, 'no row was lost or made')
      t.equal(await countKeys(database), keysBefore, 'every foreign key is there again')
      await isVerified(t, database)
      t.strictSame(await distributeAll(database), [])
      await isVerified(t, database)
      t.match(await describeDatabase(database.url), /distributed with Citus .* over 2 nodes/)
    },
  )

  await t.test('a later migration runs in the form that Citus accepts', async (t) => {
    const database = await createCitusDatabase(t, cluster)
    await distributeAll(database)
    const later = {
      name: '99990101000000_later',
      sql: `
        ALTER TABLE "orders" ADD COLUMN "note" text;
        DROP POLICY "tenant_scope" ON "posts";
        CREATE POLICY "tenant_scope" ON "posts" USING ("tenant_id" = (SELECT current_tenant_id()))
          WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));
        CREATE INDEX "orders_note_idx" ON "orders" ("note");`,
    }
    const known = await readMigrations()
    t.match(await migrate(database, [...known, later]), { applied: [later.name] })
    await isVerified(t, database)
    const refused = {
      name: '99990101000001_refused',
      sql: 'ALTER TABLE posts DROP COLUMN tenant_id;',
    }
    await t.rejects(migrate(database, [...known, later, refused]), {
      message: /99990101000001_refused failed and was rolled back: /,
    })
    await isVerified(t, database)
  })

  await t.test('a run that was interrupted is continued', async (t) => {
    const database = await createCitusDatabase(t, cluster)
    await migrate(database)
    const controller = stopAfter('posts distributed')
    await t.rejects(migrate(database, undefined, { citus: true, progress: controller }), /stopped/)
    t.match(await verifyDatabase(database.url, 'web'), [{ problem: /was interrupted/ }])
    await distributeAll(database)
    await isVerified(t, database)
  })

  await t.test('what a cluster lacks is named, and nothing is changed', async (t) => {
    const database = await createCitusDatabase(t, cluster, { prepared: false })
    await t.rejects(distributeAll(database), { message: /has no Citus/ })
    await query(adminUrl(cluster, database), 'CREATE EXTENSION citus')
    await t.rejects(distributeAll(database), { message: /Everyone may call/ })
    const { rows } = await database.admin.query(`SELECT to_regclass('tenants') AS made`)
    t.strictSame(rows, [{ made: null }])
  })

  await t.test('a table that was distributed by hand', async (t) => {
    const database = await createCitusDatabase(t, cluster)
    await migrate(database)
    await database.admin.query(`
      ALTER TABLE invoices DROP CONSTRAINT invoices_tenant_id_fkey;
      DROP POLICY tenant_scope ON invoices`)
    await database.admin.query(`SELECT create_reference_table('invoices')`)
    await t.rejects(distributeAll(database), {
      message: /The table invoices is not distributed by tenant_id/,
    })
  })

  await t.test('what was changed on a node or in a role is found', async (t) => {
    const database = await createCitusDatabase(t, cluster)
    await distributeAll(database)
    const [node = ''] = database.nodeUrls
    const [shard] = await query(
      node,
      `SELECT 'posts_' || shardid AS name FROM pg_dist_shard JOIN pg_dist_placement USING (shardid)
       WHERE logicalrelid = 'posts'::regclass
         AND groupid = (SELECT groupid FROM pg_dist_local_group) LIMIT 1`,
    )
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
        problem: /does not forward the scope/,
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
  })

  await t.test('migrate --repair restores policies on every node', async (t) => {
    const database = await createCitusDatabase(t, cluster)
    await distributeAll(database)
    await query(database.ownerUrl, 'DROP POLICY tenant_scope ON posts')
    await query(database.ownerUrl, 'ALTER TABLE orders NO FORCE ROW LEVEL SECURITY')
    const { repaired, remaining } = await repair(database)
    t.equal(repaired.length, 2, 'FORCE, and the policy of posts')
    t.strictSame(remaining, [])
    await isVerified(t, database)
  })

  await t.test('a node that is down', async (t) => {
    const database = await createCitusDatabase(t, cluster)
    await distributeAll(database)
    const node = cluster.servers.at(-1)
    await node?.stop()
    t.teardown(() => node?.start())
    const down = [{ problem: new RegExp(`The node 127.0.0.1:${node?.port} does not answer`) }]
    t.match(await verifyDatabase(database.url, 'web'), down, 'at start')
    const running = verifyDatabase(database.url, 'web', 'catalogue')
    await t.rejects(
      running,
      { code: '08006' },
      'while running: no finding, so other tenants are served',
    )
    await t.rejects(distributeAll(database), { message: /does not answer/ })
  })
})

async function distributeAll(database: CitusDatabase): Promise<string[]> {
  const lines: string[] = []
  await migrate(database, undefined, { citus: true, progress: (line) => lines.push(line) })
  return lines
}

function stopAfter(line: string): (said: string) => void {
  return (said) => {
    if (said === line) throw new Error('stopped')
  }
}

async function isVerified(t: Test, { url, workerUrl }: CitusDatabase): Promise<void> {
  t.strictSame(await verifyDatabase(url, 'web'), [])
  t.strictSame(await verifyDatabase(workerUrl, 'worker'), [])
}

function adminUrl({ servers }: Cluster, { name }: CitusDatabase): string {
  return servers[0]?.url(name) ?? ''
}

/** Connections between the servers keep the settings that they began with. */
async function closeConnections({ nodeUrls }: CitusDatabase): Promise<void> {
  for (const url of nodeUrls) {
    await query(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND application_name LIKE 'citus_internal%'`,
    )
  }
}

const countedTables = ['tenants', 'users', 'memberships', ...distributedTables]

async function countAll({ admin }: { admin: pg.Pool }): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of countedTables) {
    const { rows } = await admin.query<{ count: string }>(`SELECT count(*) FROM ${table}`)
    counts[table] = Number(rows[0]?.count)
  }
  return counts
}

async function countKeys({ admin }: { admin: pg.Pool }): Promise<number> {
  const { rows } = await admin.query<{ count: string }>(
    `SELECT count(*) FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
     WHERE c.contype = 'f' AND t.relnamespace = 'public'::regnamespace AND t.relname !~ '_[0-9]+$'`,
  )
  return Number(rows[0]?.count)
}
