import t, { type Test } from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { notRecordedYet } from '#src/auth/operators/operators.ts'
import { maxAppTokens } from '#src/auth/tokens/app-tokens.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity, authenticatedAgo } from '#test/support/callers/account.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'

const path = '/app/app-tokens'
type Fields = readonly (readonly [string, string])[]

async function setUp(t: Test) {
  const test = await build(t, { OPERATORS: 'demo:op' })
  const user = await createUser(test.database)
  await addIdentity(test, user.userId, 'op')
  const { cookie } = await signIn(test, user)
  const html = { cookie, accept: 'text/html' }
  const open = (url = path, draft = '') =>
    test.app.inject({ url, headers: { ...html, cookie: `${cookie}${draft}` } })
  const send = (url: string, fields: Fields, more = {}) =>
    test.app.inject({
      method: 'POST',
      url,
      headers: { ...html, 'content-type': 'application/x-www-form-urlencoded', ...more },
      payload: new URLSearchParams(fields.map(([name, value]) => [name, value])).toString(),
    })
  return { test, user, open, send }
}

const submission = () => ['submission', crypto.randomUUID()] as const
const form = (name: string, permissions: readonly string[]): Fields => [
  submission(),
  ['name', name],
  ['days', '30'],
  ...permissions.map((one) => ['permissions', one] as const),
]

t.test('an operator creates, rotates and revokes an app token by forms', async (t) => {
  const { test, user, open, send } = await setUp(t)
  t.match((await open('/app/orders')).body, `href="${path}"`)
  t.match((await open()).body, 'No app tokens yet.')
  const created = await send(`${path}/new`, form('<backend>', ['event-type:read', 'event:publish']))
  t.equal(created.statusCode, 303, created.body)
  const location = String(created.headers.location)
  const shown = await open(location)
  const [token = ''] = /gtha_[0-9A-Za-z]{49}/.exec(shown.body) ?? []
  t.not(token, '')
  t.match((await open(location)).body, /was shown already/)
  const list = (await open()).body
  t.notMatch(list, token)
  for (const text of ['&lt;backend&gt;', 'event-type:read, event:publish', `user ${user.userId}`]) {
    t.match(list, text)
  }
  const use = async (secret: string) =>
    (await as(test, { authorization: `Bearer ${secret}` })('GET', '/event-types')).statusCode
  t.equal(await use(token), 200)

  const { rows } = await test.database.admin.query<{ id: string }>('SELECT id FROM app_tokens')
  const id = ['id', rows[0]?.id ?? ''] as const
  const confirm = ['confirm', 'yes'] as const
  t.equal((await send(`${path}/rotate`, [submission(), id])).statusCode, 400, 'not confirmed')
  const rotation = [submission(), id, confirm]
  const rotated = await send(`${path}/rotate`, rotation)
  t.equal(rotated.statusCode, 303, rotated.body)
  const page = await open(String(rotated.headers.location))
  const [second = ''] = /gtha_[0-9A-Za-z]{49}/.exec(page.body) ?? []
  t.equal(await use(token), 401, 'the previous secret has ended')
  t.equal((await send(`${path}/rotate`, rotation)).headers.location, rotated.headers.location)
  t.equal(await use(second), 200, 'the same form again rotates nothing')

  t.equal((await send(`${path}/remove`, [id])).statusCode, 400, 'not confirmed')
  const removed = await send(`${path}/remove`, [id, confirm])
  t.equal(removed.headers.location, `${path}?done=removed`)
  t.match((await open(`${path}?done=removed`)).body, 'Token revoked')
  t.equal(await use(second), 401)
  t.equal((await send(`${path}/remove`, [id, confirm])).statusCode, 404)
  t.equal((await send(`${path}/rotate`, [submission(), id, confirm])).statusCode, 404)
})

t.test('a refused form keeps what was typed and creates no token', async (t) => {
  const { test, user, open, send } = await setUp(t)
  const fields: Fields = [['sender', String(user.userId)], ...form(' ', [])]
  const refused = await send(`${path}/new`, fields, { 'sec-fetch-site': 'same-origin' })
  t.equal(refused.statusCode, 400)
  const draft = refused.cookies.find((cookie) => cookie.name === 'draft')
  const { body } = await open(`${path}/new`, `; draft=${draft?.value}`)
  t.match(body, 'id="fault-name">Must be one line that is not blank')
  t.match(body, 'id="fault-permissions">Select at least one permission.')
  t.match(body, '<option value="30" selected>')
  t.equal((await send(`${path}/new`, form('x', ['post:read']))).statusCode, 400, 'not for apps')
  const count = async () => (await test.database.admin.query('SELECT FROM app_tokens')).rowCount
  t.equal(await count(), 0)
  for (let made = 0; made < maxAppTokens; made += 1) await addAppToken(test.database)
  const full = await send(`${path}/new`, form('one more', ['event:publish']))
  t.equal(full.statusCode, 409)
  t.match(full.body, 'which is the most')
  t.match(full.body, 'value="one more"', 'the page of the form shows it again')
  t.equal(await count(), maxAppTokens)
})

t.test('an expired token is marked, and one of the command line has no user', async (t) => {
  const { test, open } = await setUp(t)
  await addAppToken(test.database)
  t.notMatch((await open()).body, 'Expired')
  await addAppToken(test.database, { seconds: -60 })
  t.match((await open()).body, /Command line.*badge bad">Expired/s)
})

t.test('only operators see the page; making a token needs a recent sign-in', async (t) => {
  const { test, send } = await setUp(t)
  const admin = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, admin)
  const headers = { cookie, accept: 'text/html' }
  t.equal((await test.app.inject({ url: path, headers })).statusCode, 403)
  t.notMatch((await test.app.inject({ url: '/app/orders', headers })).body, `href="${path}"`)
  await authenticatedAgo(test, 301)
  t.equal((await send(`${path}/new`, form('late', ['event:publish']))).statusCode, 403)
  t.equal((await test.database.admin.query('SELECT FROM app_tokens')).rowCount, 0)
})

t.test('an operator whom no worker has recorded yet reads what to do', async (t) => {
  const { test, open, send } = await setUp(t)
  t.notMatch((await open()).body, notRecordedYet)
  await addAppToken(test.database)
  await test.database.admin.query('DELETE FROM operators')
  const page = await open()
  t.equal(page.statusCode, 200)
  t.match(page.body, notRecordedYet)
  t.notMatch(page.body, 'Revoke the token')
  const made = await send(`${path}/new`, form('x', ['event:publish']))
  t.equal(made.statusCode, 403)
  t.match(made.body, notRecordedYet)
  t.equal((await test.database.admin.query('SELECT FROM app_tokens')).rowCount, 1)
})
