import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { start } from '#src/server.ts'
import { repeatWhenAsked } from '#test/support/app/repeat-when-asked.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabaseWithRole } from '#test/support/database/own-role.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'

const scope = 'tenant_id = (SELECT current_tenant_id())'
const policy = `CREATE POLICY tenant_scope ON invoices USING (${scope})`
const good = { ready: 200, failing: undefined, invoice: 200, order: 200, signIn: 200 }
// Requests that read no tenant rows still work, for example the sign-in page.
const red = { ready: 503, failing: ['tenant lock'], invoice: 503, order: 503, signIn: 200 }

t.test('the next verification notices a broken tenant lock, and its repair', async (t) => {
  const { database, proveAgain, look, logged } = await serve(t)
  t.match(await look(), good, 'at the start')
  const breaks: [string, string, string, RegExp][] = [
    ['a policy dropped', 'DROP POLICY tenant_scope ON invoices', policy, /invoices has no policy/],
    [
      'row-level security disabled',
      'ALTER TABLE invoices DISABLE ROW LEVEL SECURITY',
      'ALTER TABLE invoices ENABLE ROW LEVEL SECURITY',
      /invoices is not under row-level security/,
    ],
    [
      'not forced on the owner',
      'ALTER TABLE invoices NO FORCE ROW LEVEL SECURITY',
      'ALTER TABLE invoices FORCE ROW LEVEL SECURITY',
      /invoices is not forced/,
    ],
    [
      'a policy replaced by USING (true)',
      'ALTER POLICY tenant_scope ON invoices USING (true)',
      `ALTER POLICY tenant_scope ON invoices USING (${scope})`,
      /policy tenant_scope of the table invoices/,
    ],
    [
      'BYPASSRLS granted',
      `ALTER ROLE ${database.roleName} BYPASSRLS`,
      `ALTER ROLE ${database.roleName} NOBYPASSRLS`,
      /can bypass row-level security/,
    ],
    [
      'a policy that names the scope and shows more',
      'CREATE POLICY wide ON invoices FOR SELECT USING (current_tenant_id() = tenant_id OR amount > 0)',
      'DROP POLICY wide ON invoices',
      /policy wide of the table invoices is in no file/,
    ],
  ]
  for (const [name, spoil, mend, problem] of breaks) {
    await database.admin.query(spoil)
    t.match(await look(), { ready: 200, order: 200 }, `${name}: until the next proof`)
    await proveAgain()
    t.match(await look(), red, name)
    await proveAgain()
    t.match(logged(), [{ level: 'error', problem, remedy: /./ }], `${name}: said once`)
    await database.admin.query(mend)
    t.match(await look(), red, `${name}: until a later proof passes`)
    await proveAgain()
    t.match(await look(), good, `${name}, and back`)
    t.match(logged(), [{ level: 'info', msg: /holds again/ }])
  }
})

t.test('an unavailable database changes nothing', async (t) => {
  const { database, proxy, proveAgain, look, logged } = await serve(t)
  proxy.pause()
  await proveAgain()
  t.match(await look(), { ready: 503, failing: ['database', 'queue'], invoice: 503, order: 503 })
  proxy.resume()
  t.match(await look(), good, 'at once, without a proof')
  await database.admin.query('DROP POLICY tenant_scope ON invoices')
  await proveAgain()
  t.equal(logged().length, 1)
  proxy.pause()
  await proveAgain()
  proxy.resume()
  t.match(await look(), red, 'a broken lock stays broken until a proof passes')
  t.strictSame(logged(), [], 'no word of it')
})

/** A serving program whose verification the test triggers. */
async function serve(t: Test) {
  const database = await createDatabaseWithRole(t)
  const user = await createUser(database)
  const invoiceId = await createTestInvoice(database, user.tenantId)
  const orderId = await createOrder(database, user)
  const proxy = await startProxy(t, database.url)
  const config = testConfig({ ...database, url: proxy.through(database.url) }, { ROLE: 'web' })
  let lines: Record<string, unknown>[] = []
  const logger = createLogger('info', {
    write(line) {
      const entry = JSON.parse(line)
      if (String(entry.msg).startsWith('row-level security')) lines.push(entry)
    },
  })
  const { repeat, again } = repeatWhenAsked()
  const running = await start(config, logger, repeat)
  t.teardown(() => running.stop())
  const { cookie } = await signIn({ config, database }, user)
  const get = (path: string) => fetch(`${running.address}${path}`, { headers: { cookie } })
  return {
    database,
    proxy,
    proveAgain: again,
    async look() {
      const ready = await fetch(`${running.adminAddress}/readyz`)
      const [invoice, order, signIn] = await Promise.all([
        get(`/invoices/${invoiceId}`),
        get(`/orders/${orderId}`),
        fetch(`${running.address}/`),
      ])
      for (const answer of [invoice, order]) {
        if (answer.status !== 503) continue
        t.match(answer.headers.get('content-type'), /^application\/problem\+json/)
        t.ok(answer.headers.get('retry-after'))
      }
      const { failing } = (await ready.json()) as { failing?: string[] }
      const statuses = { invoice: invoice.status, order: order.status, signIn: signIn.status }
      return { ready: ready.status, failing, ...statuses }
    },
    /** Log lines about the tenant lock since the last call. */
    logged() {
      const said = lines
      lines = []
      return said
    },
  }
}
