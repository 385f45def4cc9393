import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { personSections, tenantSections } from '#src/auth/erasure/export.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createDocument, createFolder, createTeam } from '#test/support/callers/chain.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

t.test(
  'a person downloads what is kept about them in all their tenants, and nothing else',
  async (t) => {
    const { database } = test
    const { admin } = database
    const facts = { role: 'admin', email: 'ada@example.com', emailVerified: true }
    const { user, send, make } = await owner(test, facts)
    const { token } = await make()
    const other = await createUser(database, { role: 'admin', email: 'eve@example.com' })
    await admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`,
      [other.tenantId, user.userId],
    )
    await addIdentity(test, user.userId, 'ada-subject')
    const orderId = await createOrder(database, user)
    await createOrder(database, other)
    const elsewhere = await createOrder(database, { ...user, tenantId: other.tenantId })
    const invoiceId = await createTestInvoice(database, user.tenantId)
    await createTestInvoice(database, other.tenantId)
    const teamId = await createTeam(database, other.tenantId, [user.userId])
    const documentId = await createDocument(
      database,
      await createFolder(database, other.tenantId, teamId),
    )
    const hidden = await createTeam(database, other.tenantId, [other.userId])
    await createDocument(database, await createFolder(database, other.tenantId, hidden))
    for (const author of [user, other]) {
      await admin.query(
        `INSERT INTO posts (tenant_id, author_id, title, body) VALUES ($1, $2, 'Mine', $3)`,
        [other.tenantId, author.userId, `by ${author.userId}`],
      )
    }
    const changed = { shippingAddress: { ...address, line1: '2 Quay' } }
    t.equal((await send('PATCH', `/orders/${orderId}`, changed)).statusCode, 200)
    await send('POST', '/users', { email: 'guest@example.com', role: 'viewer' })

    const answer = await send('GET', '/auth/account/export')
    t.equal(answer.statusCode, 200)
    t.match(answer.headers, {
      'content-type': /^application\/json/,
      'content-disposition': 'attachment; filename="account.json"',
      'cache-control': /no-store/,
    })
    const data = answer.json()
    t.match(data.profile, [{ id: user.userId, email: 'ada@example.com', emailVerified: true }])
    t.match(data.identities, [{ provider: 'demo', providerUserId: 'ada-subject' }])
    t.match(data.sessions, [{ provider: 'demo', createdAt: /^\d{4}-\d\d-\d\dT.*\+00:00$/ }])
    t.match(data.apiTokens, [{ name: 'ci', allPermissions: true }])
    t.match(data.invitationsSent, [{ email: 'guest@example.com' }])
    t.strictSame(ids(data.orders), [orderId, elsewhere])
    t.match(data.orders[0], { shippingAddress: { line1: '2 Quay' }, lineItems: [{ sku: 'GATE' }] })
    t.strictSame(ids(data.invoices), [invoiceId])
    t.strictSame(ids(data.documents), [documentId])
    t.match(data.posts, [{ body: `by ${user.userId}` }])
    t.equal(data.posts.length, 1)
    t.match(data.teamMemberships, [{ teamId }])
    t.strictSame(
      data.tenants.map(({ id }: { id: string }) => id).toSorted(),
      [user.tenantId, other.tenantId].toSorted(),
    )
    t.match(data.events, [{ type: 'order.updated', body: /2 Quay/ }])
    t.ok(data.auditLog.some(({ action }: { action: string }) => action === 'token-create'))
    for (const secret of [token, 'eve@example.com', 'idHash', 'hash"']) {
      t.notOk(answer.body.includes(secret), secret)
    }
  },
)

t.test('the language of a person is in their own export and in none of a tenant', async (t) => {
  const { rows } = await test.database.admin.query(
    `SELECT kind, 'locale' = ANY (hidden) AS hidden FROM export_sections() WHERE source = 'users'
     ORDER BY kind`,
  )
  t.strictSame(rows, [
    { kind: 'person', hidden: false },
    { kind: 'tenant', hidden: true },
  ])
})

t.test('downloads cover every table with a person or a tenant in it', async (t) => {
  const { admin } = test.database
  const { rows: sections } = await admin.query<{ kind: string; section: string; source: string }>(
    'SELECT kind, section, source FROM export_sections()',
  )
  const namesOf = (kind: string, name: 'section' | 'source') =>
    sections.filter((one) => one.kind === kind).map((one) => one[name])
  const all = [...personSections.once, ...personSections.perTenant]
  const listed = 'src/auth/erasure/export.ts lists every section'
  t.strictSame(namesOf('person', 'section').toSorted(), all.toSorted(), listed)
  t.strictSame(namesOf('tenant', 'section').toSorted(), tenantSections.toSorted(), listed)
  const missing = async (kind: string, columns: readonly string[]) => {
    const { rows } = await admin.query<{ name: string }>(
      `SELECT DISTINCT c.relname AS name FROM pg_class c
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = ANY ($1)
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1`,
      [columns],
    )
    return rows.map(({ name }) => name).filter((name) => !namesOf(kind, 'source').includes(name))
  }
  const ofPerson = await missing('person', ['user_id', 'author_id', 'invited_by'])
  t.strictSame(
    ofPerson,
    ['erasures', 'usage_changes'],
    'the migration adds a section for a new table',
  )
  // Sessions, keys of requests and provider tokens are of people; the counters are numbers of rows.
  const notOfTenants = [
    'due_attempts', // in their deliveries
    ...['erasures', 'member_usage'],
    'posts_words', // of texts that are in the section of their rows
    ...['sessions', 'tenant_usage'],
    'token_revocations',
    ...['usage_changes'],
  ]
  t.strictSame(await missing('tenant', ['tenant_id']), notOfTenants, 'and for a tenant')
})

t.test('no download has the cause of a failed attempt, which is for the operator', async (t) => {
  const { rows } = await test.database.admin.query(
    `SELECT s.source, a.attname AS column FROM export_sections() s
     JOIN pg_attribute a ON a.attrelid = s.source::regclass AND a.attname IN ('cause', 'failure_cause')
     WHERE s.source LIKE ANY ('{delivery%,webhook%}') AND NOT a.attname = ANY (s.hidden)`,
  )
  t.strictSame(rows, [])
})

t.test(
  'no download tells the tenant what became of an invitation until it is accepted',
  async (t) => {
    const { admin } = test.database
    const { user, send } = await owner(test, { role: 'admin' })
    await send('POST', '/users', { email: 'guest@example.com', role: 'viewer' })
    const sent = async () => {
      const { invitationsSent } = (await send('GET', '/auth/account/export')).json()
      const { rows } = await admin.query(
        `SELECT item FROM export_page('tenant', 'invitations', NULL, $1, NULL, 10)`,
        [user.tenantId],
      )
      return { invitationsSent, ofTenant: rows }
    }
    const before = await sent()
    t.match(before, {
      invitationsSent: [{ email: 'guest@example.com' }],
      ofTenant: [{ item: { email: 'guest@example.com' } }],
    })
    await admin.query('UPDATE invitations SET declined_at = now(), mailed_at = now()')
    t.strictSame(await sent(), before, 'neither a decline nor a mail that was held back')
    await admin.query('UPDATE invitations SET accepted_at = now()')
    t.match(await sent(), { invitationsSent: [{ acceptedAt: String }] })
  },
)

t.test('a download of many rows comes in pages and is complete', async (t) => {
  const { user, send } = await owner(test, { role: 'admin' })
  await test.database.admin.query(
    `INSERT INTO audit_log (action, outcome, reason, user_id)
     SELECT 'sign-in', 'done', 'n' || n, $1 FROM generate_series(1, 1200) n`,
    [user.userId],
  )
  const { auditLog } = (await send('GET', '/auth/account/export')).json()
  t.equal(auditLog.length, 1_200)
  t.equal(new Set(ids(auditLog)).size, 1_200)
})

t.test('a download needs a live session', async (t) => {
  const { user, make } = await owner(test)
  const { use } = await make()
  t.equal((await use('GET', '/auth/account/export')).statusCode, 403, 'a token')
  const { cookie } = await signIn(test, user)
  await test.database.admin.query('DELETE FROM sessions')
  t.equal((await as(test, { cookie })('GET', '/auth/account/export')).statusCode, 401)
})

t.test('a download ends where the session ends', async (t) => {
  const { send } = await owner(test)
  const { read } = test.app.db
  let pages = 0
  const ending: typeof read = async (entry, work) => {
    pages += 1
    if (pages === 3) await test.database.admin.query('DELETE FROM sessions')
    return read(entry, work)
  }
  Object.assign(test.app.db, { read: ending })
  await t.rejects(send('GET', '/auth/account/export'), 'the response is cut off')
  t.equal(pages, 3)
})

const address = {
  ...{ name: 'Ada', line1: '1 Quay', city: 'Porto' },
  ...{ postalCode: '4000-001', country: 'PT' },
}

function ids(rows: readonly { id: number }[]): number[] {
  return rows.map(({ id }) => id)
}
