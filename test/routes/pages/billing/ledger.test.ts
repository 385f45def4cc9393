import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { runLedgerBefore } from '#src/ledger/ledger.ts'
import { visitor, webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const dayMs = 86_400_000
const ownClean = '<b>All deliveries accounted for</b>'

t.test('findings are shown on their day and to their tenant, and 0 elsewhere', async (t) => {
  const { operator, admin, stranger, viewer, test, one, check } = await open(t)
  const endpointId = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/hook' })
  t.match((await operator.open('/app/billing')).body, 'The ledger has not been checked yet.')
  await check()
  const clean = daysOf((await operator.open('/app/billing')).body)
  t.same(new Set(clean.values()), new Set(['0']))
  t.equal(clean.size, 14)
  for (const anyone of [admin, stranger]) {
    t.match((await anyone.open('/app/webhooks')).body, ownClean)
  }

  // Waiting deliveries without a next attempt, on two days that the page shows and on one before.
  const days = [3, 3, 8, 30].map((ago) => new Date(Date.now() - ago * dayMs).toISOString())
  for (const createdAt of days) {
    await createDelivery(test.database, { ...one, endpointId, status: 'pending', createdAt })
  }
  await checkWhole(test.database, check)
  const { body } = await operator.open('/app/billing')
  t.match(body, 'unaccounted: 4 (4 delivery-without-job)')
  const [three = '', , eight = '', thirty = ''] = days.map((day) => day.slice(0, 10))
  t.strictSame(
    [...daysOf(body)].filter(([, findings]) => findings !== '0'),
    [
      [three, '2'],
      [eight, '1'],
    ],
  )
  t.match(body, 'unaccounted on earlier days: 1')
  t.match(body, tenantRow(one.tenantId, `${three}: 2, ${eight}: 1, ${thirty}: 1`))
  t.equal(body.match(/data-label="Tenant"/g)?.length, 1, 'no other tenant')
  const own = (await admin.open('/app/webhooks')).body
  t.match(own, `not accounted for: 4 (${three}: 2, ${eight}: 1, ${thirty}: 1)`)
  t.notMatch(own, ownClean)
  t.match((await stranger.open('/app/webhooks')).body, ownClean)
  t.equal((await viewer.open('/app/webhooks')).statusCode, 403)

  await test.database.admin.query(`UPDATE deliveries SET status = 'succeeded', finished_at = now()`)
  await check()
  t.match((await operator.open('/app/billing')).body, 'unaccounted: 0, of all events')
  t.match((await admin.open('/app/webhooks')).body, ownClean)
})

t.test('a finding of no tenant is shown to operators on its day alone', async (t) => {
  const { operator, admin, test, check } = await open(t)
  await check()
  const at = new Date(Date.now() - dayMs).toISOString()
  await test.database.admin.query(
    `INSERT INTO processed_events (event_id, created_at) VALUES ('evt_lost', $1)`,
    [at],
  )
  await checkWhole(test.database, check)
  const { body } = await operator.open('/app/billing')
  t.strictSame(
    [...daysOf(body)].filter(([, findings]) => findings !== '0'),
    [[at.slice(0, 10), '1']],
  )
  t.notMatch(body, 'data-label="Tenant"')
  t.match((await admin.open('/app/webhooks')).body, ownClean)
})

t.test('the days have the counts of the ledger', async (t) => {
  const { operator, test, one, check } = await open(t)
  const endpointId = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/hook' })
  await check()
  await createDelivery(test.database, { ...one, endpointId, status: 'succeeded' })
  await check(new Date(Date.now() + 600_000))
  const { rows } = await test.database.admin.query(
    `SELECT to_char(window_start AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day FROM ledger
     WHERE kind = 'published'`,
  )
  const { body } = await operator.open('/app/billing')
  t.match(body, new RegExp(`${rows[0]?.day}</span></td>${cells('0', '1', '1', '0')}`))
  t.match(body, new RegExp(cells('–', '–', '–', '0')), 'a day before the ledger began')
})

t.test('more findings than a check lists are shown as at least that many', async (t) => {
  const { operator, admin, test, check } = await open(t)
  await check()
  await test.database.admin.query(
    `INSERT INTO processed_events (event_id, created_at)
     SELECT 'evt_' || n, now() - interval '1 day' FROM generate_series(1, 1100) n`,
  )
  await checkWhole(test.database, check)
  t.match((await operator.open('/app/billing')).body, 'unaccounted: at least 1000 (')
  t.match((await admin.open('/app/webhooks')).body, 'not accounted for: at least 0.')
})

t.test('a check of an earlier release has no days: they are unknown, not 0', async (t) => {
  const { operator, admin, test } = await open(t)
  await test.database.admin.query(
    `INSERT INTO ledger_checks (whole, unaccounted, kinds, open_windows, head)
     VALUES (false, 2, '{"delivery-without-job": 2}', '{}', '')`,
  )
  const { body } = await operator.open('/app/billing')
  t.match(body, 'unaccounted: 2 (2 delivery-without-job)')
  t.same(new Set(daysOf(body).values()), new Set(['–']))
  t.notMatch((await admin.open('/app/webhooks')).body, 'compared with the ledger')
})

t.test('only the newest check names tenants', async (t) => {
  const { test, one, check } = await open(t)
  const endpointId = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/hook' })
  const createdAt = new Date(Date.now() - dayMs).toISOString()
  await createDelivery(test.database, { ...one, endpointId, status: 'pending', createdAt })
  await check()
  await check()
  const { rows } = await test.database.admin.query('SELECT tenants FROM ledger_checks ORDER BY id')
  const found = { [one.tenantId]: { [createdAt.slice(0, 10)]: 1 } }
  t.strictSame(rows, [{ tenants: null }, { tenants: found }])
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

/** A check of everything, as the first one. */
async function checkWhole({ admin }: TestDatabase, check: () => Promise<unknown>): Promise<void> {
  await admin.query(`UPDATE ledger_checks SET checked_to = NULL`)
  await check()
}

/** The findings of each day in the table of days. */
function daysOf(body: string): Map<string, string> {
  const [, section = ''] = body.split('<h2 id="ledger">')
  const rows = section.matchAll(
    /<span class="whole">(\d{4}-\d\d-\d\d)<\/span>.*?data-label="Unaccounted">(?:<strong[^>]*>)?([^<]*)/gs,
  )
  return new Map([...rows].map(([, day = '', findings = '']) => [day, findings]))
}

function tenantRow(tenantId: string, days: string): RegExp {
  return new RegExp(
    `<code>${tenantId}</code></td>.*<strong class="fault">4</strong></td>.*${days}<`,
  )
}

function cells(...texts: string[]): string {
  return texts.map((text) => `\\s*<td[^>]*>${text}</td>`).join('')
}
