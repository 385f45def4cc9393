import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'

t.test(
  'the page of an invoice has its amounts as the provider counts, and what its dispute came to',
  async (t) => {
    const test = await build(t)
    const user = await createUser(test.database)
    const id = await createTestInvoice(test.database, user.tenantId)
    const headers = await signIn(test, user)
    const pageOf = async (change: string) => {
      await test.database.admin.query(`UPDATE invoices SET ${change} WHERE id = ${id}`)
      return (await test.app.inject({ url: `/app/invoices/${id}`, headers })).body
    }
    t.match(await pageOf(`amount = 490000, currency = 'isk'`), /4,900\.00 ISK/)
    t.match(await pageOf(`digits = 0`), /490,000 ISK/)
    t.match(await pageOf(`status = 'disputed'`), /billing provider decides/)
    const lost = await pageOf(`status = 'lost'`)
    t.match(lost, /has the money back/)
    t.notMatch(lost, /provider decides/)
  },
)
