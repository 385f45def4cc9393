import type pg from 'pg'
import t from 'tap'
import { seed } from '#src/commands/development/sample/seed.ts'
import { distributedTables, referenceTables } from '#src/schema/citus/placement.ts'
import { migrate } from '#src/schema/migrate.ts'
import { readMigrations } from '#src/schema/migrations/applied.ts'
import { describeDatabase, verifyDatabase } from '#src/schema/verification/verify.ts'
import { query } from '#test/support/database/raw-sql.ts'
import {
  createClusterDatabase,
  prepareDatabase,
  skipWithoutCluster,
  startCluster,
} from './cluster.ts'
import { adminUrl, distributeAll, isVerified } from './distributed.ts'

t.test('migrate --distribute and the verification', { skip: skipWithoutCluster }, async (t) => {
  const cluster = await startCluster(t)

  await t.test(
    'distributes a database with its rows, and a second run changes nothing',
    async (t) => {
      const database = await createClusterDatabase(t, cluster, { prepared: false })
      await migrate(database)
      await seed(database.ownerUrl, 'demo')
      const before = await countAll(database)
      const keysBefore = await countKeys(database)
      await prepareDatabase(cluster, database)
      const first = await distributeAll(database)
      t.match(first, [
        /^\d+ foreign keys set aside$/,
        /^scope_keys: moving \d+ rows$/,
        /^scope_keys copied to every node in \d+\.\d s$/,
      ])
      t.ok(first.includes(`orders: moving ${before.orders} rows`))
      const again = first.at(-1) ?? ''
      t.equal(Number.parseInt(again, 10), Number.parseInt(first[0] ?? '', 10), again)
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
    const database = await createClusterDatabase(t, cluster)
    await distributeAll(database)
    const later = {
      name: '99990101000000_later',
      sql: `
        ALTER TABLE "orders" ADD COLUMN "note" text;

        CREATE INDEX "orders_note_idx" ON "orders" ("note");`,
    }
    const known = await readMigrations()
    t.match(await migrate(database, { migrations: [...known, later] }), { applied: [later.name] })
    await isVerified(t, database)
    const refused = {
      name: '99990101000001_refused',
      sql: 'ALTER TABLE posts DROP COLUMN tenant_id;',
    }
    await t.rejects(migrate(database, { migrations: [...known, later, refused] }), {
      message: /99990101000001_refused failed and was rolled back: /,
    })
    await isVerified(t, database)
  })

  await t.test('a run that was interrupted is continued', async (t) => {
    const database = await createClusterDatabase(t, cluster)
    await migrate(database)
    const controller = stopAfter('posts distributed in')
    await t.rejects(
      migrate(database, undefined, { distribute: true, progress: controller }),
      /stopped/,
    )
    t.match(await verifyDatabase(database.url, 'web'), [{ problem: /was interrupted/ }])
    await distributeAll(database)
    await isVerified(t, database)
  })

  await t.test('what a cluster lacks is named, and nothing is changed', async (t) => {
    const database = await createClusterDatabase(t, cluster, { prepared: false })
    await t.rejects(distributeAll(database), { message: /has no Citus/ })
    await query(adminUrl(cluster, database), 'CREATE EXTENSION citus')
    await t.rejects(distributeAll(database), { message: /Everyone may call/ })
    const { rows } = await database.admin.query(`SELECT to_regclass('tenants') AS made`)
    t.strictSame(rows, [{ made: null }])
  })

  await t.test('a table that was distributed by hand', async (t) => {
    const database = await createClusterDatabase(t, cluster)
    await migrate(database)
    await database.admin.query(`
      ALTER TABLE invoices DROP CONSTRAINT invoices_tenant_id_fkey;
      DROP POLICY tenant_scope ON invoices`)
    await database.admin.query(`SELECT create_reference_table('invoices')`)
    await t.rejects(distributeAll(database), {
      message: /The table invoices is not distributed by tenant_id/,
    })
  })

  await t.test('migrate restores policies on every node', async (t) => {
    const database = await createClusterDatabase(t, cluster)
    await distributeAll(database)
    await query(database.ownerUrl, 'DROP POLICY tenant_scope ON posts')
    await query(database.ownerUrl, 'ALTER TABLE orders NO FORCE ROW LEVEL SECURITY')
    t.match(await migrate(database), { defined: true })
    await isVerified(t, database)
  })

  await t.test('a node that is down', async (t) => {
    const database = await createClusterDatabase(t, cluster)
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

function stopAfter(line: string): (said: string) => void {
  return (said) => {
    if (said.startsWith(line)) throw new Error('stopped')
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
