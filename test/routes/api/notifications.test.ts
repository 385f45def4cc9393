import t from 'tap'
import { createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const server = await build(t)

/** Notifications of a new endpoint of the tenant, oldest first. */
async function notify(server: TestApp, tenant: TestUser, messages: readonly string[]) {
  const endpointId = await createEndpoint(server.database, tenant, { url: 'https://a.example/' })
  for (const message of messages) {
    await server.database.admin.query(
      `INSERT INTO notifications (tenant_id, kind, endpoint_id, message)
       VALUES ($1, 'endpoint.failing', $2, $3)`,
      [tenant.tenantId, endpointId, message],
    )
  }
  return endpointId
}

async function reader(role = 'admin') {
  const user = await createUser(server.database, { role })
  const { cookie } = await signIn(server, user)
  const read = (url = '/notifications', headers: Record<string, string> = { cookie }) =>
    server.app.inject({ url, headers })
  return { server, user, read }
}

t.test('administrators read the notifications of the tenant, newest first', async (t) => {
  const { server, user, read } = await reader()
  const endpointId = await notify(server, user, ['first', 'second', 'third'])
  const response = await read()
  t.equal(response.statusCode, 200)
  const { data, nextCursor } = response.json()
  t.same(
    data.map(({ message }: { message: string }) => message),
    ['third', 'second', 'first'],
  )
  t.equal(nextCursor, null)
  t.match(data[0], { kind: 'endpoint.failing', endpointId, mailedAt: null })
  t.same(Object.keys(data[0]).toSorted(), [
    'createdAt',
    'endpointId',
    'id',
    'kind',
    'mailedAt',
    'message',
  ])
  const page = (await read('/notifications?limit=2')).json()
  t.equal(page.data.length, 2)
  const rest = (await read(`/notifications?limit=2&cursor=${page.nextCursor}`)).json()
  t.match(rest, { data: [{ message: 'first' }], nextCursor: null })
})

t.test('notifications of another tenant are not listed', async (t) => {
  const { server, read } = await reader()
  const other = await createUser(server.database, { role: 'admin' })
  await notify(server, other, ['theirs'])
  t.same((await read()).json(), { data: [], nextCursor: null })
})

t.test('403 without user:manage, 401 without an identity', async (t) => {
  for (const role of ['viewer', 'editor']) {
    const { read } = await reader(role)
    t.equal((await read()).statusCode, 403, role)
  }
  const { read } = await reader()
  t.equal((await read('/notifications', {})).statusCode, 401)
})

t.test('an invalid query is 400', async (t) => {
  const { read } = await reader()
  for (const query of ['limit=0', 'limit=101', 'cursor=x', 'tenantId=1']) {
    t.equal((await read(`/notifications?${query}`)).statusCode, 400, query)
  }
})
