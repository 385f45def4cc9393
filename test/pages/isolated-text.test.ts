import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const mark = 'שלום' // right to left

t.test('text from people changes the order of no text around it', async (t) => {
  const test = await build(t)
  const { admin } = test.database
  const user = await createUser(test.database, {
    role: 'admin',
    email: `${mark}@acme.example`,
    emailVerified: true,
    department: mark,
  })
  const { tenantId, userId } = user
  const { documentId } = await createChain(test.database, user)
  const endpointId = await createEndpoint(test.database, user, { url: 'https://one.example' })
  const other = await createUser(test.database, { role: 'admin', email: `${mark}@other.example` })
  await admin.query('UPDATE tenants SET name = $1', [mark])
  await admin.query('UPDATE documents SET title = $1', [mark])
  await admin.query('UPDATE webhook_endpoints SET description = $1', [mark])
  await admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role, department) VALUES ($1, $2, 'viewer', $3)`,
    [tenantId, other.userId, mark],
  )
  const invite = async (inTenant: string, email: string, by: number) => {
    const { rows } = await admin.query<{ id: string }>(
      `INSERT INTO invitations (tenant_id, email, role, department, invited_by, expires_at)
       VALUES ($1, $2, 'viewer', $3, $4, now() + interval '1 day') RETURNING id`,
      [inTenant, email, mark, by],
    )
    return rows[0]?.id
  }
  await invite(tenantId, `${mark}@new.example`, userId)
  const own = await invite(other.tenantId, `${mark}@acme.example`, other.userId)
  await admin.query(
    `INSERT INTO audit_log (action, outcome, tenant_id, user_id, user_agent)
     VALUES ('sign-in', 'done', $1, $2, $3)`,
    [tenantId, userId, mark],
  )
  await admin.query(
    `INSERT INTO api_tokens (last_four, hash, user_id, tenant_id, name, expires_at)
     VALUES ('test', sha256(''), $1, $2, $3, now() + interval '1 day')`,
    [userId, tenantId, mark],
  )
  await admin.query(
    `INSERT INTO service_tokens (last_four, tenant_id, hash, name, permissions, created_by, expires_at)
     VALUES ('test', $1, sha256('x'), $3, '{post:read}', $2, now() + interval '1 day')`,
    [tenantId, userId, mark],
  )
  const { cookie } = await signIn(test, user)
  const pages = [
    '/',
    '/app/account',
    '/app/account/tokens',
    '/app/account/activity',
    '/app/tenant',
    '/app/service-tokens',
    '/app/documents',
    `/app/documents/${documentId}`,
    '/app/webhooks',
    ...['', '/deliveries', '/settings', '/probe'].map((tab) => `/app/webhooks/${endpointId}${tab}`),
    `/app/invitations/${own}`,
  ]
  for (const url of pages) {
    const { body } = await test.app.inject({ url, headers: { cookie, accept: 'text/html' } })
    const texts = body
      .match(/<[^<>]*>[^<>]*/g)
      ?.filter((part) => part.replace(/^[^>]*>/, '').includes(mark))
    t.ok(texts?.length, `${url} shows some`)
    const open = texts?.filter(
      (part) => !part.startsWith('<bdi>') && !part.includes(`\u2068${mark}\u2069`),
    )
    t.strictSame(open, [], url)
  }
})

t.test('a department in a form has no characters that hide or turn text', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, user)
  const invite = async (department: string) => {
    const { statusCode } = await test.app.inject({
      method: 'POST',
      url: '/app/tenant/invitations/new',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ email: 'a@b.example', role: 'viewer', department }).toString(),
    })
    return statusCode
  }
  for (const character of ['\u200B', '\u202E', '\u2028', '\u2066']) {
    t.equal(await invite(`pay${character}gpj.exe`), 400, encodeURIComponent(character))
  }
  t.equal(await invite(mark), 303)
})
