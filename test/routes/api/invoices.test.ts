import t from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { badPageQueries, edgeIds, pagesOf } from '#test/support/app/probes.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const invoiceKeys = [
  'id',
  'tenantId',
  'amount',
  'currency',
  'digits',
  'status',
  'amountRefunded',
  'createdAt',
]

/** For every test: each has tenants and users of its own. */
const test = await build(t)

t.test('an invoice belongs to the tenant of the session', async (t) => {
  const user = await createUser(test.database)
  const stranger = await createUser(test.database, { role: 'admin' })
  const id = await createTestInvoice(test.database, user.tenantId)
  const own = await signIn(test, user)
  const url = `/invoices/${id}`
  const read = await test.app.inject({ url, headers: own })
  t.equal(read.statusCode, 200)
  t.match(read.json(), { id, tenantId: user.tenantId, amount: 4900, currency: 'eur', digits: 2 })

  const { cookie } = await signIn(test, stranger)
  const attempts = [
    { url, headers: { cookie } },
    { url, headers: { cookie, 'x-tenant-id': user.tenantId, tenant: user.tenantId } },
  ]
  for (const attempt of attempts) t.equal((await test.app.inject(attempt)).statusCode, 404)
  const named = `${url}?tenantId=${user.tenantId}`
  const refused = await test.app.inject({ url: named, headers: { cookie } })
  t.equal(refused.statusCode, 400, 'no query names a tenant')
})

t.test('an invoice of another tenant is the same 404 as a missing one', async (t) => {
  const { tenantId } = await createUser(test.database)
  const id = await createTestInvoice(test.database, tenantId)
  const { send } = await owner(test, { role: 'admin' })
  const [foreign, missing] = [
    await send('GET', `/invoices/${id}`),
    await send('GET', '/invoices/987654321'),
  ]
  t.equal(foreign.statusCode, 404)
  t.strictSame(comparable(foreign), comparable(missing))
  for (const [edge, status] of edgeIds) {
    t.equal((await send('GET', `/invoices/${edge}`)).statusCode, status, edge)
  }
})

t.test(
  'the list has the tenant’s invoices, newest first, and new rows do not shift pages',
  async (t) => {
    const { send, make, user } = await owner(test)
    const { tenantId: elsewhere } = await createUser(test.database)
    const ids: number[] = []
    for (const _ of Array.from({ length: 5 })) {
      ids.unshift(await createTestInvoice(test.database, user.tenantId))
      await createTestInvoice(test.database, elsewhere)
    }
    const pages = await pagesOf(send, '/invoices', () =>
      createTestInvoice(test.database, user.tenantId),
    )
    const listed = pages.flatMap(({ data }) => data)
    t.strictSame(
      listed.map(({ id }) => id),
      ids,
    )
    for (const invoice of listed) t.strictSame(Object.keys(invoice), invoiceKeys)
    for (const query of badPageQueries) {
      t.equal((await send('GET', `/invoices?${query}`)).statusCode, 400, query)
    }
    t.equal((await (await make()).use('GET', '/invoices')).statusCode, 200)
    const reading = await make({ permissions: ['invoice:read'] })
    t.equal((await reading.use('GET', '/invoices')).statusCode, 200)
    const limited = await make({ permissions: ['order:read'] })
    t.equal((await limited.use('GET', '/invoices')).statusCode, 403)
    t.equal((await test.app.inject('/invoices')).statusCode, 401)
  },
)
