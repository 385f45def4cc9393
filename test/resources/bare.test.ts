import t from 'tap'
import { production } from '#test/support/app/production.ts'
import { createUnmigratedDatabase } from '#test/support/database/database.ts'
import { addresses, runProgram } from '#test/support/processes/program.ts'

/* An installation without an app, in processes of its own: what stands in front of a program of another kind. */

const ofShop =
  /.{0,40}(\b(orders|posts|documents|shipping)\b|\b(order|post)\.(updated|deleted)).{0,40}/i

t.test('without an app nothing of one is served, described or stored', async (t) => {
  const database = await createUnmigratedDatabase(t)
  const env = { ...production(database), DATABASE_OWNER_URL: database.ownerUrl }
  const run = (...args: string[]) => runProgram(t, [...args, '--app', 'none'], env)
  const migrated = await run('migrate')
  t.equal(await migrated.ended, 0, migrated.output())

  const { rows } = await database.admin.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace UNION ALL
     SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace UNION ALL
     SELECT migration_name FROM _prisma_migrations`,
  )
  t.ok(rows.length > 100)
  t.strictSame(
    rows.filter(({ name }) => /^(orders|posts|documents)|_order_tenant|^app:/.test(name)),
    [],
  )

  const program = await run('serve')
  const { address } = await addresses(program)
  const read = async (path: string) => {
    const response = await fetch(`${address}${path}`, { headers: { accept: 'text/html' } })
    return { status: response.status, text: await response.text() }
  }
  for (const path of ['/orders', '/posts', '/documents', '/app/orders', '/app/documents']) {
    t.equal((await read(path)).status, 404, path)
  }
  const home = await read('/')
  t.equal(home.status, 200)
  t.match(home.text, 'Sign in to see your account and your tenant.')
  t.notMatch(home.text, ofShop)
  t.match((await read('/docs/api/teams')).text, 'Teams')
  for (const path of ['/docs', '/docs/guide', '/docs/events']) {
    const { status, text } = await read(path)
    t.equal(status, 200, path)
    t.equal(ofShop.exec(wordsOf(text))?.[0], undefined, path)
  }

  const described = await run('openapi')
  t.equal(await described.ended, 0)
  const { paths, webhooks, components } = JSON.parse(described.results())
  t.ok(Object.keys(paths).includes('/invoices'), 'billing writes them')
  const names = [
    ...Object.keys(paths),
    ...Object.keys(webhooks),
    ...Object.keys(components.schemas),
  ]
  t.strictSame(
    names.filter((name) =>
      /^\/(orders|posts|documents)|^(order|post|document)\.|^(Order|Post|Document)/.test(name),
    ),
    [],
  )
  // Those of the roles stay: a program behind Gatehouse asks for them (`/auth/verify?permission=post:write`).
  const [listed] = components.schemas.NewApiToken.properties.permissions.anyOf
  t.strictSame(listed.items.enum, [
    ...['post:read', 'post:write', 'post:delete', 'user:manage'],
    'invoice:read',
  ])
  program.child.kill('SIGTERM')
  t.equal(await program.ended, 0)
})

/** The text of a page, without its markup. */
function wordsOf(page: string): string {
  return page.replaceAll(/<(script|style|svg)[\s\S]*?<\/\1>/g, '').replaceAll(/<[^>]*>/g, ' ')
}
