import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins, url } from '#test/support/callers/webhook-admin.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

t.test('ids: malformed is 400, missing and foreign are the same 404', async (t) => {
  const { test, send, sendAsOther } = await twoAdmins(shared)
  const { id } = (await send('POST', '/webhook-endpoints', { url })).json()
  const missing = '00000000-0000-4000-8000-000000000000'
  const routes = [
    ['GET', ''],
    ['PATCH', '', { description: 'mine' }],
    ['DELETE', ''],
    ['POST', '/rotate-secret', {}],
    ['POST', '/enable', {}],
    ['POST', '/pause', { keep: true }],
    ['POST', '/resume', {}],
    ['POST', '/test', {}],
    ['POST', '/replay', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }],
    ['GET', '/deliveries'],
    ['GET', `/replays/${missing}`],
  ] as const
  for (const [method, path, body] of routes) {
    const name = `${method} …${path}`
    for (const odd of [
      '1',
      'x',
      `${missing}0`,
      `{${missing}}`,
      missing.replaceAll('-', ''),
      '%00',
    ]) {
      const answer = await send(method, `/webhook-endpoints/${odd}${path}`, body)
      t.equal(answer.statusCode, 400, `${name} ${odd}`)
    }
    const gone = await sendAsOther(method, `/webhook-endpoints/${missing}${path}`, body)
    const foreign = await sendAsOther(method, `/webhook-endpoints/${id}${path}`, body)
    t.equal(foreign.statusCode, 404, name)
    t.strictSame(comparable(foreign), comparable(gone), name)
  }
  t.strictSame((await sendAsOther('GET', '/webhook-endpoints')).json().data, [])
  const { rows } = await test.database.admin.query(
    'SELECT description, secret_rotated_at, tenant_id FROM webhook_endpoints',
  )
  t.match(rows, [{ description: null, secret_rotated_at: null }], 'nothing was changed')
})

t.test('every route needs user:manage; a limited token must name it', async (t) => {
  const { test, one, send } = await twoAdmins(shared)
  const { id } = (await send('POST', '/webhook-endpoints', { url })).json()
  const routes = [
    ['GET', '/webhook-endpoints'],
    ['POST', '/webhook-endpoints', { url }],
    ['GET', `/webhook-endpoints/${id}`],
    ['PATCH', `/webhook-endpoints/${id}`, { description: 'x' }],
    ['DELETE', `/webhook-endpoints/${id}`],
    ['POST', `/webhook-endpoints/${id}/rotate-secret`, {}],
    ['POST', `/webhook-endpoints/${id}/enable`, {}],
    ['POST', `/webhook-endpoints/${id}/test`, {}],
    ['POST', `/webhook-endpoints/${id}/replay`, {}],
    ['GET', `/webhook-endpoints/${id}/replays/${id}`],
    ['GET', `/webhook-endpoints/${id}/deliveries`],
    ['GET', `/deliveries/${id}`],
    ['POST', `/deliveries/${id}/replay`, {}],
    ['GET', '/events'],
  ] as const
  const refused: ReturnType<typeof as>[] = []
  for (const role of ['viewer', 'editor']) {
    const user = await createUser(test.database, { role, tenantId: one.tenantId })
    refused.push(as(test, await cookieOf(user)))
  }
  refused.push(as(test, await tokenOf(['post:read', 'post:write'])))
  for (const [method, path, body] of routes) {
    t.equal((await as(test, {})(method, path, body)).statusCode, 401, `${method} ${path}`)
    for (const ask of refused) {
      t.equal((await ask(method, path, body)).statusCode, 403, `${method} ${path}`)
    }
  }
  const withToken = as(test, await tokenOf(['user:manage']))
  t.equal((await withToken('GET', `/webhook-endpoints/${id}`)).statusCode, 200)
  const next = { url: `${url}/next` }
  t.equal((await withToken('POST', '/webhook-endpoints', next)).statusCode, 201)

  async function cookieOf(user: { userId: number; tenantId: string }) {
    return { cookie: (await signIn(test, user)).cookie }
  }
  async function tokenOf(permissions: string[]) {
    const made = await send('POST', '/auth/tokens', { name: 'program', permissions })
    return { authorization: `Bearer ${made.json().token}` }
  }
})

type Answer = { statusCode: number; headers: Record<string, unknown>; body: string }

function comparable({ statusCode, headers, body }: Answer) {
  const { date, 'x-request-id': id, ...rest } = headers
  return { statusCode, headers: rest, body: body.replaceAll(String(id), 'id') }
}
