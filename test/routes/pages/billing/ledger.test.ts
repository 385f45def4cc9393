import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { runLedgerBefore } from '#src/ledger/ledger.ts'
import { visitor, webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { patient } from '#test/support/database/open.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const dayMs = 86_400_000
const ownClean = '<b>All deliveries accounted for</b>'

t.test('findings are shown to their tenant and to operators, and 0 elsewhere', async (t) => {
  const { operator, admin, stranger, viewer, test, one, check } = await open(t)
  const endpointId = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/hook' })
  t.match((await operator.open('/app/billing')).body, 'has not been checked yet.')
  await check()
  t.notMatch((await operator.open('/app/billing')).body, 'Not accounted for')
  for (const anyone of [admin, stranger]) {
    t.match((await anyone.open('/app/webhooks')).body, ownClean)
  }

  // Waiting deliveries without a next attempt, of an hour that two earlier checks have seen.
  const createdAt = new Date(Date.now() - dayMs).toISOString()
  for (const _ of [1, 2]) {
    await createDelivery(test.database, { ...one, endpointId, status: 'pending', createdAt })
  }
  await check(new Date(Date.now() + 3_600_000))
  const { body } = await operator.open('/app/billing')
  t.match(body, 'unaccounted: 2 (2 delivery-without-job)')
  t.match(body, new RegExp(`<code>${one.tenantId}</code></td>.*<strong class="fault">2</strong>`))
  t.equal(body.match(/data-label="Tenant"/g)?.length, 1, 'no other tenant')
  const own = (await admin.open('/app/webhooks')).body
  t.match(own, 'not accounted for: 2.')
  t.notMatch(own, ownClean)
  t.match((await stranger.open('/app/webhooks')).body, ownClean)
  t.equal((await viewer.open('/app/webhooks')).statusCode, 403)

  await test.database.admin.query(`UPDATE deliveries SET status = 'succeeded', finished_at = now()`)
  await check()
  t.match((await operator.open('/app/billing')).body, 'unaccounted: 0, of all events')
  t.match((await admin.open('/app/webhooks')).body, ownClean)
})

t.test('a finding of no tenant is shown to operators alone', async (t) => {
  const { operator, admin, test, check } = await open(t)
  await test.database.admin.query(
    `INSERT INTO processed_events (event_id, created_at) VALUES ('evt_lost', now() - interval '1 day')`,
  )
  await check()
  const { body } = await operator.open('/app/billing')
  t.match(body, 'unaccounted: 1 (1 event-not-recorded)')
  t.notMatch(body, 'data-label="Tenant"')
  t.match((await admin.open('/app/webhooks')).body, ownClean)
})

t.test('more findings than a check lists are shown as at least that many', async (t) => {
  const { operator, admin, test, check } = await open(t)
  await test.database.admin.query(
    `INSERT INTO processed_events (event_id, created_at)
     SELECT 'evt_' || n, date_trunc('day', now()) - interval '1 hour' FROM generate_series(1, 1100) n`,
  )
  await check()
  t.match((await operator.open('/app/billing')).body, 'unaccounted: at least 1000 (')
  t.match((await admin.open('/app/webhooks')).body, 'not accounted for: at least 0.')
})

t.test('only the newest check names tenants', async (t) => {
  const { test, one, check } = await open(t)
  const endpointId = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/hook' })
  const createdAt = new Date(Date.now() - dayMs).toISOString()
  await createDelivery(test.database, { ...one, endpointId, status: 'pending', createdAt })
  await check()
  await check()
  const { rows } = await test.database.admin.query('SELECT tenants FROM ledger_checks ORDER BY id')
  t.strictSame(rows, [{ tenants: null }, { tenants: { [one.tenantId]: 1 } }])
})

async function open(t: Test) {
  const visitors = await webhookVisitors(await build(t, { OPERATORS: 'demo:olga' }))
  const { test } = visitors
  const user = await createUser(test.database, { role: 'viewer' })
  await addIdentity(test, user.userId, 'olga')
  const systemDb = openSystemDatabase(test.database.workerUrl, 1, patient)
  t.teardown(() => systemDb.close())
  return {
    ...visitors,
    operator: await visitor(test, user),
    check: (before = new Date()) => runLedgerBefore(systemDb, before),
  }
}
