import t from 'tap'
import { createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { receive } from '#test/billing/received.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'

/* Every list has the filters of its route in the API, and a count of what its reader may see. */

const test = await build(t, { OPERATORS: 'demo:olga' })
const { admin: db } = test.database
const admin = await createUser(test.database, { role: 'admin' })
const stranger = await createUser(test.database, { role: 'admin' })
const operator = await createUser(test.database, { role: 'viewer' })
await addIdentity(test, operator.userId, 'olga')

for (const { tenantId } of [admin, stranger]) {
  for (let n = 0; n < 3; n += 1) await createTestInvoice(test.database, tenantId)
  await db.query(
    `INSERT INTO outbound_events (tenant_id, id, type, body, created_at)
     SELECT $1::uuid, 'msg_' || n || left($1::text, 4), 'post.updated', '{}', ('2026-01-0' || n)::timestamptz
     FROM generate_series(1, 3) AS n`,
    [tenantId],
  )
  await db.query(
    `INSERT INTO audit_log (action, outcome, reason, tenant_id, user_id, at)
     SELECT 'unlink', 'done', 'own-request', $1, $2, ('2026-01-0' || n)::timestamptz
     FROM generate_series(1, 3) AS n`,
    [tenantId, admin.userId],
  )
}
await db.query(`UPDATE invoices SET created_at = '2026-01-02'`)
for (const user of [admin, admin, stranger]) await createOrder(test.database, user)
await db.query(`UPDATE orders SET created_at = '2026-01-02'`)
for (const id of ['evt_1', 'evt_2']) await receive(test.database, { id, status: 'dead' })
await db.query(`UPDATE received_events SET received_at = '2026-01-02' WHERE event_id = 'evt_1'`)
const colleague = await createUser(test.database, { role: 'viewer', tenantId: admin.tenantId })
await db.query(
  `UPDATE memberships SET created_at = '2026-01-02', department = 'a' WHERE user_id = $1`,
  [colleague.userId],
)

async function open(user: TestUser, url: string) {
  const { cookie } = await signIn(test, user)
  const headers = { cookie, accept: 'text/html' }
  const { statusCode, body } = await test.app.inject({ url, headers })
  return { statusCode, body: body as string }
}

/** The rows of the list on a page, by what its links match. */
async function rowsOf(user: TestUser, url: string, row: RegExp) {
  const { statusCode, body } = await open(user, url)
  t.equal(statusCode, 200, url)
  const count = /([\d,]+) in all\./.exec(body)?.[1] ?? null
  return { rows: new Set([...body.matchAll(row)].map(([, id]) => id)).size, count, body }
}

const early = 'to=2026-01-02T00%3A00'
const late = 'from=2026-01-02T00%3A00'

const lists: Readonly<
  Record<string, { row: RegExp; found: Record<string, [number, string | null]> }>
> = {
  '/app/invoices': {
    row: /"\/app\/invoices\/(\d+)"/g,
    found: { '': [3, '3'], [early]: [0, null], [late]: [3, '3'], 'currency=xyz': [0, null] },
  },
  '/app/orders': {
    row: /"\/app\/orders\/(\d+)"/g,
    found: { '': [2, '2'], [early]: [0, null], [`tenantId=${admin.tenantId}`]: [2, '2'] },
  },
  '/app/events': {
    row: /"\/app\/events\/(msg_\w+)"/g,
    found: { [early]: [1, '1'], [late]: [2, '2'], [`${late}&type=order.updated`]: [0, null] },
  },
  '/app/audit': {
    row: /<time datetime="(2026-01-0\d)T/g,
    found: {
      'action=unlink': [3, '3'],
      [early]: [1, '1'],
      [`${late}&sort=at&action=unlink`]: [2, '2'],
    },
  },
  '/app/tenant': {
    row: /aria-label="Role of ([^"]+)"/g,
    found: { '': [2, '2'], [early]: [0, null], 'role=viewer': [1, '1'], 'department=a': [1, '1'] },
  },
}

for (const [path, { row, found }] of Object.entries(lists)) {
  t.test(`${path} has the filters of the API, and counts what its reader may see`, async (t) => {
    for (const [query, [rows, count]] of Object.entries(found)) {
      const list = await rowsOf(admin, `${path}?${query}`, row)
      t.strictSame([list.rows, list.count], [rows, count], `${path}?${query}`)
      for (const [, name = '', value = ''] of query.matchAll(/(\w+)=(2026-01-02)/g)) {
        t.match(
          list.body,
          new RegExp(`name="${name}" value="${value}T00:00"`),
          'it shows the filter',
        )
      }
    }
    t.equal((await open(admin, `${path}?from=tomorrow`)).statusCode, 400)
  })
}

t.test('the order of a list stays with its pages, and leads back', async (t) => {
  await db.query(
    `INSERT INTO invoices (tenant_id, amount, currency, digits, status, amount_refunded, source_event, payment)
     SELECT tenant_id, amount, 'isk', digits, status, 0, 'x' || n, 'x' || n
     FROM invoices, generate_series(1, 30) AS n WHERE tenant_id = $1 LIMIT 30`,
    [admin.tenantId],
  )
  const { body } = await open(admin, '/app/invoices?currency=isk&sort=createdAt')
  t.match(body, '30 in all.')
  const [, next = ''] = /href="([^"]+)" rel="next"/.exec(body) ?? []
  t.match(next, 'currency=isk&amp;sort=createdAt&amp;cursor=')
  const second = await open(admin, next.replaceAll('&amp;', '&'))
  t.equal(new Set(second.body.match(/"\/app\/invoices\/\d+"/g)).size, 5)
  t.match(second.body, '<option value="createdAt" selected>Oldest first</option>')
})

t.test('operators filter received events by their time', async (t) => {
  const { body } = await open(
    operator,
    `/app/billing?to=2026-01-03T00%3A00&status=dead&sort=receivedAt`,
  )
  t.match(body, 'evt_1')
  t.notMatch(body, 'evt_2')
  t.equal((await open(admin, '/app/billing')).statusCode, 403)
})
