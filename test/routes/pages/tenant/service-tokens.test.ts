import t from 'tap'
import { build, type TestApp } from '#test/support/app/app.ts'
import { as, createUser, signIn } from '#test/support/callers/callers.ts'

const path = '/app/service-tokens'

async function visitor(test: TestApp, role = 'admin') {
  const user = await createUser(test.database, { role })
  const { cookie } = await signIn(test, user)
  const open = (url = path) => test.app.inject({ url, headers: { cookie, accept: 'text/html' } })
  const send = (url: string, fields: readonly (readonly [string, string])[]) =>
    test.app.inject({
      method: 'POST',
      url,
      headers: { cookie, accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields.map(([name, value]) => [name, value])).toString(),
    })
  return { user, open, send }
}

const form = (name: string, permissions: readonly string[]) => [
  ['submission', crypto.randomUUID()] as const,
  ['name', name] as const,
  ['days', '30'] as const,
  ...permissions.map((one) => ['permissions', one] as const),
]

t.test('a token is created, shown once, rotated and revoked by forms', async (t) => {
  const test = await build(t)
  const { user, open, send } = await visitor(test)
  const created = await send(path, form('nightly', ['post:read', 'invoice:read']))
  t.equal(created.statusCode, 303, created.body)
  const location = String(created.headers.location)
  const shown = await open(location)
  const [token = ''] = /gths_[0-9A-Za-z]{49}/.exec(shown.body) ?? []
  t.not(token, '')
  t.match((await open(location)).body, /was shown already/)
  const list = (await open()).body
  t.notMatch(list, token)
  for (const text of ['nightly', 'post:read, invoice:read']) t.match(list, text)
  const use = (secret: string) => as(test, { authorization: `Bearer ${secret}` })('GET', '/posts')
  t.equal((await use(token)).statusCode, 200)

  const { rows } = await test.database.admin.query<{ id: string }>('SELECT id FROM service_tokens')
  const id = rows[0]?.id ?? ''
  const rotation = [
    ['submission', crypto.randomUUID()],
    ['id', id],
    ['confirm', 'yes'],
  ] as const
  const rotated = await send(`${path}/rotate`, rotation)
  t.equal(rotated.statusCode, 303, rotated.body)
  const [second = ''] =
    /gths_\w{49}/.exec((await open(String(rotated.headers.location))).body) ?? []
  t.equal((await use(token)).statusCode, 401, 'the previous secret has ended')
  t.equal((await use(second)).statusCode, 200)
  t.equal((await send(`${path}/rotate`, rotation)).headers.location, rotated.headers.location)
  t.equal((await use(second)).statusCode, 200, 'the same form again rotates nothing')

  t.equal((await send(`${path}/remove`, [['id', id]])).statusCode, 400, 'without confirmation')
  const removed = await send(`${path}/remove`, [
    ['id', id],
    ['confirm', 'yes'],
  ])
  t.equal(removed.headers.location, `${path}?done=removed`)
  t.equal((await use(second)).statusCode, 401)
  t.match((await open(`${path}?done=removed`)).body, 'Token revoked')
  t.ok(user.userId)
})

t.test('a refused form keeps what was typed and names each fault beside its field', async (t) => {
  const test = await build(t)
  const { send } = await visitor(test)
  const long = await send(path, form('x'.repeat(101), ['post:delete']))
  t.equal(long.statusCode, 400)
  t.match(long.body, `value="${'x'.repeat(101)}" aria-invalid="true" aria-describedby="name-fault"`)
  t.match(long.body, 'id="name-fault">Use at most 100 characters.')
  t.match(long.body, 'value="post:delete" checked')
  t.match(long.body, '<option value="30" selected>')
  t.notMatch(long.body, 'permissions-fault')
  const empty = await send(path, form(' ', []))
  t.match(empty.body, 'id="name-fault">Enter a name.')
  t.match(empty.body, 'id="permissions-fault">Select at least one permission.')
  t.equal((await send(path, form('x', ['user:create']))).statusCode, 400, 'not for services')
  const { rowCount } = await test.database.admin.query('SELECT FROM service_tokens')
  t.equal(rowCount, 0)
})

t.test('the page is in the navigation of admins alone', async (t) => {
  const test = await build(t)
  const [admin, viewer] = [await visitor(test), await visitor(test, 'viewer')]
  t.match((await admin.open('/app/orders')).body, 'href="/app/service-tokens"')
  t.notMatch((await viewer.open('/app/orders')).body, 'href="/app/service-tokens"')
  t.equal((await viewer.open()).statusCode, 403)
})

t.test('who created a token is a former member after they have left', async (t) => {
  const test = await build(t)
  const { user, open, send } = await visitor(test)
  const other = await createUser(test.database, {
    role: 'admin',
    tenantId: user.tenantId,
    email: 'creator@example.com',
  })
  await send(path, form('ci', ['post:read']))
  await test.database.admin.query('UPDATE service_tokens SET created_by = $1', [other.userId])
  t.match((await open()).body, 'creator@example.com')
  await test.database.admin.query('DELETE FROM memberships WHERE user_id = $1', [other.userId])
  t.match((await open()).body, 'Former member')
})
