import pg from 'pg'
import t, { type Test } from 'tap'
import { eraseAll } from '#test/auth/erasure/support.ts'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase } from './distributed-database.ts'
import { type CitusTenant, createCitusTenant } from './tenant-rows.ts'

const denied = { code: '42501' }
const remove = 'DELETE FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2'

// On a cluster the web role has the privilege to delete an endpoint. The id of a test tenant is also that of
// its endpoint (tenant-rows.ts).
t.test('an endpoint of a cluster', { skip: skipWithoutCluster }, async (t) => {
  const { database } = await createDistributedDatabase(t)
  const { admin } = database
  const tenant = await createCitusTenant(admin)
  const id = tenant.tenantId
  const second = crypto.randomUUID()
  await admin.query(
    `INSERT INTO webhook_endpoints (tenant_id, id, url, signature, secret)
     VALUES ($1, $2, 'https://receiver.example', 'spec', '')`,
    [id, second],
  )
  const enter = () => enterTenant(t, database.url, tenant)

  await t.test('is not deleted without the deletion of its history', async (t) => {
    const web = await enter()
    t.equal((await web.query('SELECT id FROM webhook_endpoints')).rowCount, 2, 'both are seen')
    t.equal((await web.query(remove, [id, id])).rowCount, 0)
    await web.query('ROLLBACK')
  })

  await t.test('is not deleted by a seal that was made up or is of another endpoint', async (t) => {
    const web = await enter()
    await web.query('SELECT delete_endpoint($1, $2)', [id, second])
    t.equal((await web.query(remove, [id, id])).rowCount, 0, 'another endpoint')
    const { rows } = await web.query(`SELECT current_setting('app.deletion') AS seal`)
    await web.query(`SELECT put_setting('app.deletion', $1)`, ['a'.repeat(64)])
    t.equal((await web.query(remove, [id, second])).rowCount, 0, 'made up')
    await web.query('ROLLBACK')

    const later = await enter()
    await later.query(`SELECT put_setting('app.deletion', $1)`, [rows[0]?.seal])
    t.equal((await later.query(remove, [id, second])).rowCount, 0, 'of an earlier transaction')
    await t.rejects(later.query('SELECT deletion_seal($1)', [second]), denied)
    await later.query('ROLLBACK')
  })

  await t.test('of another tenant is not deleted', async (t) => {
    const other = await enterTenant(t, database.url, await createCitusTenant(admin))
    const { rows } = await other.query('SELECT drop_endpoint($1, $1) AS deleted', [id])
    t.strictSame(rows, [{ deleted: false }])
  })

  await t.test('keeps its replays as long as it exists', async (t) => {
    const removeReplays = 'DELETE FROM endpoint_replays WHERE tenant_id = $1'
    const web = await enter()
    t.equal((await web.query('SELECT id FROM endpoint_replays')).rowCount, 1, 'one is seen')
    t.equal((await web.query(removeReplays, [id])).rowCount, 0)
    await web.query('ROLLBACK')
    const other = await enter()
    await other.query('SELECT delete_endpoint($1, $2)', [id, second])
    t.equal((await other.query(removeReplays, [id])).rowCount, 0, 'of another endpoint')
    await other.query('ROLLBACK')
    const worker = await connect(t, database.workerUrl)
    for (const table of ['webhook_endpoints', 'endpoint_replays']) {
      await t.rejects(worker.query(`DELETE FROM ${table}`), denied)
    }
  })

  await t.test('keeps its history if its deletion was queued and it still exists', async (t) => {
    const web = await enter()
    await web.query('SELECT delete_endpoint($1, $1)', [id])
    await web.query('COMMIT')
    await eraseAll(database)
    const { rows } = await admin.query(
      'SELECT count(*)::int FROM deliveries WHERE tenant_id = $1',
      [id],
    )
    t.strictSame(rows, [{ count: 1 }])
    t.equal((await admin.query('SELECT FROM erasures')).rowCount, 0, 'nothing is left to do')
  })

  await t.test('that was locked is deleted with its history', async (t) => {
    const web = await enter()
    await web.query(
      'SELECT id FROM webhook_endpoints WHERE tenant_id = $1 AND id = $1 FOR UPDATE',
      [id],
    )
    const { rows } = await web.query('SELECT drop_endpoint($1, $1) AS deleted', [id])
    t.strictSame(rows, [{ deleted: true }])
    await web.query('COMMIT')
    await eraseAll(database)
    for (const table of ['deliveries', 'endpoint_replays', 'notifications', 'endpoint_states']) {
      const left = await admin.query(`SELECT 1 FROM ${table} WHERE tenant_id = $1`, [id])
      t.equal(left.rowCount, 0, table)
    }
    const { rows: endpoints } = await admin.query(
      'SELECT id FROM webhook_endpoints WHERE tenant_id = $1',
      [id],
    )
    t.strictSame(endpoints, [{ id: second }], 'and no other')
  })
})

async function connect(t: Test, connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, lock_timeout: 5_000 })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** A transaction of the web role that the session of the tenant's member has entered. */
async function enterTenant(t: Test, url: string, { credential }: CitusTenant): Promise<pg.Client> {
  const web = await connect(t, url)
  await web.query('BEGIN')
  await web.query('SELECT enter_session($1, 60, true)', [credential])
  return web
}
