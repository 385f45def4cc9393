import t from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { withSettings } from '#src/db/entry.ts'
import { exceededQuota } from '#src/db/errors.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase } from './distributed-database.ts'

t.test(
  'budgets hold on the nodes of a distributed database',
  { skip: skipWithoutCluster },
  async (t) => {
    const { database } = await createDistributedDatabase(t)
    const db = openPatiently(t, database.url, 2)
    const tenant = await createUser(database)
    const entry = (await allowScopes<TestUser>(database))(tenant)
    const publishWithin = (quota: string) =>
      db.write(
        withSettings(entry, () => ({ 'app.quota': quota })),
        (tx) => publish(tx, tenant, anyEvent('order.updated', {}), new Date()),
      )
    const count = async () => {
      const { rows } = await database.admin.query<{ count: number }>(
        'SELECT count(*)::int FROM outbound_events WHERE tenant_id = $1',
        [tenant.tenantId],
      )
      return rows[0]?.count
    }
    await publishWithin('{10,1000,1,100000}')
    t.equal(await count(), 1, 'what is within the budget is stored')
    const error: unknown = await publishWithin('{10,1000,1,100000}').catch((thrown) => thrown)
    t.equal(exceededQuota(error), 'events')
    t.equal(await count(), 1, 'what is beyond it is not')
    await publishWithin('{10,1000,2,100000}')
    t.equal(await count(), 2, 'and a larger one takes it')
  },
)
