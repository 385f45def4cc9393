import t from 'tap'
import { createLedger } from '#test/ledger/world.ts'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase } from './distributed-database.ts'

const hourMs = 3_600_000

t.test('the ledger of a distributed database', { skip: skipWithoutCluster }, async (t) => {
  const { database } = await createDistributedDatabase(t)
  const world = await createLedger(t, database)
  const { admin } = database
  const { tenantId } = world.tenant
  t.strictSame(await world.findings(), [], 'all of it is accounted for')
  const { rows: deliveries } = await admin.query<{ id: string; event_id: string }>(
    'SELECT id, event_id FROM deliveries WHERE tenant_id = $1 ORDER BY created_at, id',
    [tenantId],
  )
  const [first, second] = deliveries
  await admin.query('DELETE FROM due_attempts WHERE tenant_id = $1 AND delivery_id = $2', [
    tenantId,
    first?.id,
  ])
  t.strictSame(
    await world.findings(2 * hourMs),
    [`delivery-without-job ${first?.event_id} delivery`],
    'an attempt that is lost while it waits',
  )
  await admin.query('DELETE FROM deliveries WHERE tenant_id = $1 AND id = $2', [
    tenantId,
    second?.id,
  ])
  t.ok((await world.findings(2 * hourMs)).includes(`event-without-delivery ${second?.event_id}`))
})
