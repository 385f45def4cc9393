import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { checkUsage } from '#src/auth/members/usage.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { patient } from '#test/support/database/open.ts'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase } from './distributed-database.ts'
import { fillTenant } from './tenant-rows.ts'

t.test(
  'the counters of usage on a distributed database',
  { skip: skipWithoutCluster },
  async (t) => {
    const { database } = await createDistributedDatabase(t)
    const { admin } = database
    const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
    t.teardown(() => systemDb.close())
    const tenants = [await createUser(database), await createUser(database)]
    for (const tenant of tenants) {
      await fillTenant(admin, tenant)
      await admin.query(
        `INSERT INTO invitations (tenant_id, email, role, expires_at)
       VALUES ($1, 'a@people.example', 'viewer', now())`,
        [tenant.tenantId],
      )
    }
    const [first] = tenants
    // It stored a change of usage without rows.
    await admin.query('DELETE FROM usage_changes')

    t.strictSame(await checkUsage(systemDb, false), { tenants: 2, wrong: [] })
    await admin.query(
      'UPDATE tenant_usage SET resource_rows = 1000, event_bytes = 0 WHERE tenant_id = $1',
      [first?.tenantId],
    )
    const found = await checkUsage(systemDb, false)
    t.match(found, { tenants: 2, wrong: [{ tenantId: first?.tenantId }] })
    t.strictSame(await checkUsage(systemDb, true), found, 'which a repair reports')
    t.strictSame(await checkUsage(systemDb, false), { tenants: 2, wrong: [] }, 'and corrects')

    await t.test('with writers of the tenant meanwhile', async (t) => {
      let isDone = false
      const writing = (async () => {
        while (!isDone) {
          await admin.query(
            `INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'a title', 'a body')`,
            [first?.tenantId],
          )
        }
      })()
      const wrong: number[] = []
      for (let round = 0; round < 10; round++)
        wrong.push((await checkUsage(systemDb, true)).wrong.length)
      isDone = true
      await writing
      t.strictSame(new Set(wrong), new Set([0]))
      t.strictSame(await checkUsage(systemDb, false), { tenants: 2, wrong: [] })
    })
  },
)
