import pg from 'pg'
import t, { type Test } from 'tap'
import { openPacketPool } from '#src/db/connections/packet-pool.ts'
import { distributedTables } from '#src/schema/citus/placement.ts'
import { migrate } from '#src/schema/migrate.ts'
import {
  type ClusterDatabase,
  createClusterDatabase,
  skipWithoutCluster,
  startCluster,
} from './cluster.ts'
import { type CitusTenant, createCitusTenant, placeOf } from './tenant-rows.ts'

const denied = '42501'

t.test('the scope on the nodes of a Citus cluster', { skip: skipWithoutCluster }, async (t) => {
  const database = await createClusterDatabase(t, await startCluster(t))
  await migrate(database, undefined, { distribute: true })
  // Several, so that both nodes have some.
  const tenants = await Promise.all([1, 2, 3, 4, 5, 6].map(() => createCitusTenant(database.admin)))
  const [one, other] = tenants
  if (one === undefined || other === undefined) throw new Error('no tenants')

  await t.test('every distributed table shows a tenant its own rows alone', async (t) => {
    const web = await connect(t, database.url)
    for (const table of distributedTables) {
      if (table === 'member_usage') continue // no program may read it
      const seen = await Promise.all(
        tenants.map((tenant) => inside(t, database, tenant, (web) => tenantsIn(web, table))),
      )
      t.strictSame(
        seen,
        tenants.map(({ tenantId }) => [tenantId]),
        table,
      )
      t.strictSame(await tenantsIn(web, table), [], `${table} without a scope`)
    }
    await t.rejects(tenantsIn(web, 'member_usage'), { code: denied })
  })

  await t.test('a policy accepts no row of another tenant', async (t) => {
    const insert = `INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'x', '')`
    await inside(t, database, one, async (web) => {
      await t.rejects(web.query(insert, [other.tenantId]), { code: denied })
    })
    await inside(t, database, one, async (web) => {
      const { rowCount } = await web.query(insert, [one.tenantId])
      t.equal(rowCount, 1, 'its own')
    })
  })

  await t.test('documents are shown to the members of their team', async (t) => {
    const { tenantId, userId } = one
    await database.admin.query('DELETE FROM team_members WHERE tenant_id = $1', [tenantId])
    const [left] = await inside(t, database, one, (web) => tenantsIn(web, 'documents'))
    t.equal(left, undefined, 'who has left the team sees none')
    const { rows } = await database.admin.query('SELECT id FROM teams WHERE tenant_id = $1', [
      tenantId,
    ])
    await database.admin.query(
      'INSERT INTO team_members (tenant_id, team_id, user_id) VALUES ($1, $2, $3)',
      [tenantId, rows[0]?.id, userId],
    )
    t.strictSame(await inside(t, database, one, (web) => tenantsIn(web, 'documents')), [tenantId])
  })

  await t.test('people and tenants on the coordinator', async (t) => {
    await inside(t, database, one, async (web) => {
      const { rows: people } = await web.query('SELECT id FROM users')
      t.strictSame(
        people.map(({ id }) => Number(id)),
        [one.userId],
      )
      const { rows } = await web.query('SELECT id FROM tenants')
      t.strictSame(
        rows.map(({ id }) => id),
        [one.tenantId],
      )
    })
  })

  await t.test('reads that share a packet have their own scopes, and none stays', async (t) => {
    const pool = openPacketPool(database.url, 1, { access: 'read' })
    t.teardown(() => pool.close())
    const place = { tenant: '', row: '' }
    const read = (credential: Buffer, text = 'SELECT DISTINCT tenant_id FROM posts') => {
      const enter = { text: 'SELECT enter_session($1, 60, false)', values: [credential] }
      return pool.sendOnce<[object, { tenant_id: string }]>([enter, { text }], place)
    }
    const refused = read(one.credential, 'SELECT 1 / 0 FROM posts')
    t.teardown(() => refused.catch(() => {}))
    const all = await Promise.all(tenants.map(({ credential }) => read(credential)))
    t.strictSame(
      all.map(([, rows]) => rows.map(({ tenant_id }) => tenant_id)),
      tenants.map(({ tenantId }) => [tenantId]),
    )
    await t.rejects(refused, { code: '22012' }, 'one that fails takes no other with it')
    const [, unknown] = await read(Buffer.alloc(32))
    t.strictSame(unknown, [], 'a session that is unknown')
    const [rows] = await pool.sendOnce([{ text: 'SELECT tenant_id FROM posts' }])
    t.strictSame(rows, [], 'without a credential')
  })

  await t.test('a statement without BEGIN that enters and reads has the scope', async (t) => {
    const web = await connect(t, database.url)
    const both: unknown = await web.query(
      `SELECT enter_session('\\x${one.credential.toString('hex')}', 60, false);
       SELECT DISTINCT tenant_id FROM posts`,
    )
    t.match(both, [{}, { rows: [{ tenant_id: one.tenantId }] }])
  })

  await t.test('a scope that was not set by a credential in this transaction raises', async (t) => {
    const earlier = await inside(t, database, one, readScope)
    const own = await inside(t, database, other, readScope)
    const madeUp = earlier.replace(/.{64}$/, 'a'.repeat(64))
    const swapped = earlier.replace(one.tenantId, other.tenantId)
    for (const [name, setting] of Object.entries({ earlier, own, madeUp, swapped })) {
      const web = await connect(t, database.url)
      await web.query('BEGIN')
      await web.query(`SET LOCAL citus.propagate_set_commands = 'local'`)
      await web.query(`SET LOCAL app.scope = '${setting}'`)
      await t.rejects(
        web.query('SELECT count(*) FROM posts'),
        { code: denied },
        `${name}, on the nodes`,
      )
      await web.query('ROLLBACK')
      await web.query('BEGIN')
      await web.query(`SET LOCAL app.scope = '${setting}'`)
      await t.rejects(
        web.query('SELECT current_user_id()'),
        { code: denied },
        `${name}, on the coordinator`,
      )
      await web.query('ROLLBACK')
    }
  })

  await t.test('a node accepts a seal until ten minutes after its transaction began', async (t) => {
    const { shard, port } = await placeOf(database.admin, one, 'posts')
    const url = database.nodeUrls.find((each) => new URL(each).port === String(port)) ?? ''
    const node = await connect(t, url) // a superuser, who can make every seal
    const { rows: keys } = await node.query(
      'SELECT id, key FROM scope_keys ORDER BY id DESC LIMIT 1',
    )
    const [key] = keys
    /** The tenants seen on the node with a seal over a transaction that began so long ago. */
    const seenAfter = async (age: string): Promise<string[]> => {
      await node.query('BEGIN')
      try {
        const { rows } = await node.query(
          `SELECT encode(timestamptz_send(now() - $1::interval), 'hex') AS stamp,
             assign_distributed_transaction_id(0, 4711, now() - $1::interval)`,
          [age],
        )
        const content = `${key?.id}:session::${one.userId}:${one.tenantId}:0/4711/${rows[0]?.stamp}:`
        await node.query(
          `SELECT set_config('app.scope', $1::text || ':' || scope_seal($2, $1), true)`,
          [content, key?.key],
        )
        await node.query('SET LOCAL ROLE test_app')
        return await tenantsIn(node, `posts_${shard}`)
      } finally {
        await node.query('ROLLBACK')
      }
    }
    t.strictSame(await seenAfter('9 minutes 59 seconds'), [one.tenantId])
    await t.rejects(seenAfter('10 minutes'), { code: denied })
    await t.rejects(seenAfter('1 day'), { code: denied })
  })

  await t.test('the seal of another person is refused in the same transaction', async (t) => {
    await inside(t, database, one, async (web) => {
      const setting = await readScope(web)
      await web.query(`SET LOCAL citus.propagate_set_commands = 'local'`)
      await web.query(`SET LOCAL app.scope = '${setting.replace(one.tenantId, other.tenantId)}'`)
      await t.rejects(web.query('SELECT count(*) FROM posts'), { code: denied })
    })
  })

  await t.test(
    'no program takes the number of another transaction or reaches a node',
    async (t) => {
      for (const url of [database.url, database.workerUrl]) {
        const client = await connect(t, url)
        for (const statement of [
          'SELECT assign_distributed_transaction_id(0, 1, now())',
          `SELECT run_command_on_workers('SELECT 1')`,
          `SELECT run_command_on_all_nodes('SELECT 1')`,
          `SELECT run_command_on_shards('posts', 'SELECT 1')`,
          'SELECT key FROM scope_keys',
          `SELECT forward_scope('x')`,
          'SELECT node_facts()',
        ]) {
          await t.rejects(client.query(statement), { code: denied }, statement)
        }
      }
    },
  )

  await t.test('after a rotation the nodes verify with the new key', async (t) => {
    const worker = await connect(t, database.workerUrl)
    await worker.query('SELECT rotate_scope_key()')
    t.strictSame(await inside(t, database, one, (web) => tenantsIn(web, 'posts')), [one.tenantId])
    const { rows } = await worker.query('SELECT id FROM list_scope_keys()')
    t.equal(rows.length, 2)
  })

  await t.test('columns that a role may not change', async (t) => {
    await inside(t, database, one, async (web) => {
      await t.rejects(web.query('UPDATE orders SET card_last4 = $1', ['1111']), { code: denied })
    })
    await inside(t, database, one, async (web) => {
      const changed = await web.query(
        `UPDATE orders SET shipping_address = '{}' WHERE tenant_id = $1`,
        [one.tenantId],
      )
      t.equal(changed.rowCount, 1)
    })
  })
})

async function connect(t: Test, connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** Runs `work` as the web role in a transaction that the tenant's session has entered; rolled back. */
async function inside<T>(
  t: Test,
  { url }: ClusterDatabase,
  { credential }: CitusTenant,
  work: (web: pg.Client) => Promise<T>,
): Promise<T> {
  const web = new pg.Client({ connectionString: url })
  await web.connect()
  try {
    await web.query('BEGIN')
    const entered = await web.query('SELECT user_id FROM enter_session($1, 60, false)', [
      credential,
    ])
    t.equal(entered.rowCount, 1)
    return await work(web)
  } finally {
    await web.end()
  }
}

async function tenantsIn(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ tenant_id: string }>(
    `SELECT DISTINCT tenant_id FROM ${table}`,
  )
  return rows.map(({ tenant_id }) => tenant_id)
}

async function readScope(web: pg.Client): Promise<string> {
  const { rows } = await web.query<{ scope: string }>(
    `SELECT current_setting('app.scope') AS scope`,
  )
  return rows[0]?.scope ?? ''
}
