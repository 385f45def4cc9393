import t from 'tap'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

/** A tenant with entries of two people, and an entry of another tenant. */
async function withEntries(entries = 0) {
  const visitors = await webhookVisitors(shared)
  const { test, one, other } = visitors
  const { admin: db } = test.database
  await db.query('TRUNCATE audit_log')
  const add = (values: unknown[]) =>
    db.query(
      `INSERT INTO audit_log (at, action, outcome, reason, user_id, tenant_id, user_agent)
       VALUES (now() - $1::interval, $2, $3, $4, $5, $6, $7)`,
      values,
    )
  const { userId, tenantId } = one
  await add(['2 days', 'token-create', 'done', 'own-request', userId, tenantId, '=1+1,"x"'])
  await add(['0', 'endpoint-test', 'refused', '<i>', null, tenantId, null])
  await add(['0', 'unlink', 'done', null, other.userId, other.tenantId, null])
  await db.query(
    `INSERT INTO audit_log (action, outcome, tenant_id)
     SELECT 'sign-out', 'done', $1 FROM generate_series(1, $2)`,
    [tenantId, entries],
  )
  return visitors
}

t.test('the audit log is filtered by action, outcome, time and person', async (t) => {
  const { admin, one, viewer } = await withEntries()
  const rowsOf = async (query: string) => {
    const { body } = await admin.open(`/app/audit${query}`)
    const main = body.slice(body.indexOf('<tbody'))
    return ['Created an API token', 'Tested an endpoint', 'Removed a sign-in method'].filter(
      (text) => main.includes(text),
    )
  }
  const [token, test] = ['Created an API token', 'Tested an endpoint']
  t.same(await rowsOf(''), [token, test], 'nothing of another tenant')
  t.same(await rowsOf('?action=token-create'), [token])
  t.same(await rowsOf('?outcome=refused'), [test])
  t.same(await rowsOf('?since=day'), [test])
  t.same(await rowsOf(`?user=${one.userId}`), [token])
  t.same(
    await rowsOf('?action=&outcome=&since=&user='),
    [token, test],
    'an empty form filters nothing',
  )
  t.match((await admin.open('/app/audit?action=unlink')).body, 'No matching entries')
  for (const bad of ['?outcome=x', '?user=0', '?action=%3Ci%3E', '?since=year', '?cursor=x'])
    t.equal((await admin.open(`/app/audit${bad}`)).statusCode, 400, bad)
  t.equal((await viewer.open('/app/audit')).statusCode, 403)
  t.equal((await viewer.open('/app/audit/export')).statusCode, 403)
})

t.test('an entry names what it is about and leads there, or shows its id', async (t) => {
  const { test, one, other, admin } = await webhookVisitors(shared)
  const { admin: db } = test.database
  const url = 'https://8.8.8.8/hook'
  const endpointId = await createEndpoint(test.database, one, { url })
  const foreignId = await createEndpoint(test.database, other, { url: 'https://8.8.8.8/foreign' })
  const { rows } = await db.query(
    `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
     VALUES ($1, 'new@acme.example', 'viewer', $2, now() + interval '1 day') RETURNING id`,
    [one.tenantId, one.userId],
  )
  const gone = crypto.randomUUID()
  const about = [
    ['endpoint-change', endpointId],
    ['endpoint-delete', gone],
    ['endpoint-create', foreignId],
    ['invitation-create', rows[0].id],
    ['user-update', String(one.userId)],
    ['session-end', crypto.randomUUID()],
  ] as const
  for (const [action, target] of about) {
    await db.query(
      `INSERT INTO audit_log (action, outcome, tenant_id, user_id, target) VALUES ($1, 'done', $2, $3, $4)`,
      [action, one.tenantId, one.userId, target],
    )
  }
  for (const path of ['/app/audit', '/app/tenant', '/app/account/activity']) {
    const { body } = await admin.open(path)
    t.match(body, `<a href="/app/webhooks/${endpointId}"><bdi>${url}</bdi></a>`, path)
    t.match(body, '<a href="/app/tenant#invitations"><bdi>new@acme.example</bdi></a>', path)
    t.match(body, `<code class="quiet">${gone}</code>`, path)
    t.match(body, `<code class="quiet">${foreignId}</code>`, path)
    t.notMatch(body, '8.8.8.8/foreign', path)
    t.notMatch(body, about[5][1], path)
  }
  t.match((await admin.open('/app/audit')).body, `<a href="/app/tenant?search=${one.userId}">`)
})

t.test('a download has every matching entry, as CSV and as JSON Lines', async (t) => {
  const { admin, one } = await withEntries(230)
  const csv = await admin.open('/app/audit/export?format=csv')
  t.match(csv.headers['content-type'], /^text\/csv/)
  t.match(csv.headers['content-disposition'], /attachment; filename="audit-[\d-]+\.csv"/)
  const lines = csv.body.trimEnd().split('\r\n')
  t.equal(
    lines[0],
    'at,action,outcome,reason,userId,provider,target,ip,userAgent,serviceId,serviceName,portalSessionId',
  )
  t.equal(lines.length, 1 + 232, 'three pages of the list')
  t.match(lines.at(-1), `token-create,done,own-request,${one.userId},,,,"'=1+1,""x""",,,`)
  t.notMatch(csv.body, 'unlink', 'nothing of another tenant')

  const json = await admin.open('/app/audit/export?format=jsonl&outcome=refused')
  const entries = json.body.trimEnd().split('\n')
  t.equal(entries.length, 1)
  t.match(JSON.parse(entries[0] ?? ''), { action: 'endpoint-test', reason: '<i>', userId: null })
})
