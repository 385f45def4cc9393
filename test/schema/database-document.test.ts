import t from 'tap'
import { databaseDocument } from '#dev/release/database.ts'
import { logins } from '#dev/testing/logins.ts'
import { createDatabase } from '#test/support/database/database.ts'

t.test('docs/database.md has every table and who may call which function', async (t) => {
  const { admin } = await createDatabase(t)
  const client = await admin.connect()
  t.teardown(() => client.release())
  const roles = { web: logins.app.name, worker: logins.worker.name }
  const document = await databaseDocument(client, roles)
  const { rows } = await client.query(
    `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
       AND relname <> '_prisma_migrations'`,
  )
  for (const { relname } of rows) {
    t.equal(document.split(`\n| \`${relname}\` | `).length, 2, relname)
  }
  const lines = document.split('\n')
  t.ok(
    lines.includes(
      '| `invoices` | tenant | `tenant_scope`, `visible` | SELECT | INSERT, SELECT, UPDATE (amount_refunded, status) |',
    ),
  )
  t.ok(lines.includes('| `is_operator()` | web |'))
  t.ok(lines.includes('| `operator_user_id()` | functions and triggers of the owner |'))
})
