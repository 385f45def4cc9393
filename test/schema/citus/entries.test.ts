import pg from 'pg'
import t, { type Test } from 'tap'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase } from './distributed-database.ts'
import { type CitusTenant, createCitusTenant } from './tenant-rows.ts'

t.test('writes that enter a distributed database', { skip: skipWithoutCluster }, async (t) => {
  const { database } = await createDistributedDatabase(t)
  const [one, other] = [
    await createCitusTenant(database.admin),
    await createCitusTenant(database.admin),
  ]

  await t.test('one does not wait for a write of another tenant', async (t) => {
    const writers = [await enter(t, database.url, one), await enter(t, database.url, other)]
    for (const { client, tenantId } of writers) {
      await client.query(`INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'x', 'y')`, [
        tenantId,
      ])
    }
    for (const { client } of writers) await client.query('COMMIT')
    const { rows } = await database.admin.query(
      `SELECT count(*)::int FROM posts WHERE title = 'x' AND body = 'y'`,
    )
    t.strictSame(rows, [{ count: 2 }])
  })

  await t.test('a member is not removed while their write goes on', async (t) => {
    const { client } = await enter(t, database.url, one)
    const remove = (timeout: string) =>
      database.admin.query(
        `SET lock_timeout = '${timeout}'; SELECT remove_membership('${one.tenantId}', ${one.userId})`,
      )
    await t.rejects(remove('200ms'), { code: '55P03' }, 'waits for the write')
    await client.query('COMMIT')
    await remove('5s')
    const { rows } = await client.query('SELECT user_id FROM enter_session($1, 3600, true)', [
      one.credential,
    ])
    t.strictSame(rows, [], 'the session has ended with the membership')
  })
})

/** A transaction of the person of the tenant, which is entered for writing. */
async function enter(t: Test, url: string, { tenantId, credential }: CitusTenant) {
  const client = new pg.Client({ connectionString: url, lock_timeout: 5_000 })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('BEGIN')
  await client.query('SELECT * FROM enter_session($1, 3600, true)', [credential])
  return { client, tenantId }
}
