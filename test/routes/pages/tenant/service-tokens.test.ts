import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'

const path = '/app/service-tokens'

async function visitor(test: TestApp, role = 'admin') {
  const user = await createUser(test.database, { role })
  const { cookie } = await signIn(test, user)
  const open = (url = path, draft = '') =>
    test.app.inject({ url, headers: { cookie: `${cookie}${draft}`, accept: 'text/html' } })
  const send = (url: string, fields: readonly (readonly [string, string])[], more = {}) =>
    test.app.inject({
      method: 'POST',
      url,
      headers: {
        ...{ cookie, accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
        ...more,
      },
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
  const created = await send(`${path}/new`, form('nightly', ['post:read', 'invoice:read']))
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
  const { user, open, send } = await visitor(test)
  const refuse = async (name: string, permissions: readonly string[]) => {
    const fields = [['sender', String(user.userId)] as const, ...form(name, permissions)]
    const refused = await send(`${path}/new`, fields, { 'sec-fetch-site': 'same-origin' })
    t.equal(refused.statusCode, 400)
    const draft = refused.cookies.find((cookie) => cookie.name === 'draft')
    return (await open(`${path}/new`, `; draft=${draft?.value}`)).body
  }
  const long = await refuse('x'.repeat(101), ['post:delete'])
  t.match(long, `value="${'x'.repeat(101)}"`)
  t.match(long, 'aria-invalid="true" aria-describedby="fault-name" autofocus')
  t.match(long, 'id="fault-name">Must have at most 100 characters.')
  t.match(long, 'value="post:delete" checked')
  t.match(long, '<option value="30" selected>')
  t.notMatch(long, 'fault-permissions')
  const empty = await refuse(' ', [])
  t.match(empty, 'id="fault-name">Must be one line that is not blank')
  t.match(empty, 'id="fault-permissions">Select at least one permission.')
  t.match(empty, 'aria-describedby="fault-permissions"')
  t.equal(
    (await send(`${path}/new`, form('x', ['user:create']))).statusCode,
    400,
    'not for services',
  )
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
  await send(`${path}/new`, form('ci', ['post:read']))
  await test.database.admin.query('UPDATE service_tokens SET created_by = $1', [other.userId])
  t.match((await open()).body, 'creator@example.com')
  await test.database.admin.query('DELETE FROM memberships WHERE user_id = $1', [other.userId])
  t.match((await open()).body, 'Former member')
})
