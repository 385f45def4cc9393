import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { signIn } from '#dev/testing/people.ts'
import { encryptionKey } from '#dev/testing/settings.ts'
import idempotency from '#plugins/api/idempotency.ts'
import { readEncryptionKeys } from '#src/config/parse.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const order = {
  lineItems: [{ sku: 'GATE', quantity: 1, unitPrice: 900 }],
  shippingAddress: {
    ...{ name: 'Ada', line1: '1 Harbour Street', city: 'Lisbon', postalCode: '1100-012' },
    country: 'PT',
  },
  cardLast4: '4242',
}
const post = { title: 'A title', body: 'A body' }

t.test('a request that is sent again has one effect and the first response', async (t) => {
  const { test, post: send } = await open(t)
  const first = await send('/orders', order, 'one')
  const again = await send('/orders', order, 'one')
  t.equal(first.statusCode, 201)
  t.equal(first.headers['idempotent-replayed'], undefined)
  t.equal(again.statusCode, 201)
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(again.body, first.body)
  t.equal(again.headers.location, first.headers.location)
  t.equal(await countOf(test, 'orders'), 1)
  const other = await send('/orders', order, 'two')
  t.not(other.json().id, first.json().id, 'another key is another order')
  const without = await send('/orders', order)
  t.not(without.json().id, first.json().id)
  t.equal(await countOf(test, 'orders'), 3)
})

t.test('of many at once one has an effect, and all get its response', async (t) => {
  const { test, post: send } = await open(t)
  const answers = await Promise.all(Array.from({ length: 8 }, () => send('/orders', order, 'one')))
  t.strictSame(new Set(answers.map(({ statusCode }) => statusCode)), new Set([201]))
  t.equal(new Set(answers.map(({ body }) => body)).size, 1)
  t.equal(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true').length, 7)
  t.equal(await countOf(test, 'orders'), 1)
})

t.test('a key belongs to one request: another body, path or tenant is 422', async (t) => {
  const { test, user, post: send } = await open(t)
  t.equal((await send('/posts', post, 'one')).statusCode, 201)
  const other = await send('/posts', { ...post, title: 'Another' }, 'one')
  t.equal(other.statusCode, 422)
  t.match(other.json(), { type: '/docs/errors/idempotency-key-reused', status: 422 })
  t.equal((await send('/teams', { name: 'A team' }, 'one')).statusCode, 422, 'another path')
  const { rows } = await test.database.admin.query(
    `WITH made AS (INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'Second') RETURNING id)
     INSERT INTO memberships (tenant_id, user_id, role) SELECT id, $1, 'admin' FROM made
     RETURNING tenant_id`,
    [user.userId],
  )
  const elsewhere = { userId: user.userId, tenantId: rows[0]?.tenant_id }
  const { cookie } = await signIn(test, elsewhere)
  t.equal((await sender(test, cookie)('/posts', post, 'one')).statusCode, 422, 'another tenant')
  t.equal(await countOf(test, 'posts'), 1)
  t.equal((await send('/posts', post, 'one')).statusCode, 201, 'the first stays')
})

t.test('keys of different people are different keys', async (t) => {
  const { test, post: send } = await open(t)
  const { cookie } = await owner(test, { role: 'admin' })
  const mine = await send('/orders', order, 'one')
  const theirs = await sender(test, cookie)('/orders', order, 'one')
  t.equal(theirs.statusCode, 201)
  t.equal(theirs.headers['idempotent-replayed'], undefined)
  t.not(theirs.json().id, mine.json().id)
})

t.test('the first response is not given to who may no longer do it', async (t) => {
  const { test, post: send, user } = await open(t)
  t.equal((await send('/posts', post, 'one')).statusCode, 201)
  await test.database.admin.query(`UPDATE memberships SET role = 'viewer' WHERE user_id = $1`, [
    user.userId,
  ])
  t.equal((await send('/posts', post, 'one')).statusCode, 403)
  await test.database.admin.query('DELETE FROM sessions')
  t.equal((await send('/posts', post, 'one')).statusCode, 401)
})

t.test('what was refused is tried again', async (t) => {
  const { test, post: send } = await open(t)
  const path = '/documents'
  const document = { title: 'A title', body: 'A body', folderId: 1 }
  t.equal((await send(path, document, 'one')).statusCode, 404)
  t.equal((await send('/posts', { title: '' }, 'two')).statusCode, 400)
  t.equal((await send('/posts', post, 'two')).statusCode, 201, 'a malformed request takes no key')
  t.equal((await send(path, document, 'one')).statusCode, 404)
  t.equal(await countOf(test, 'documents'), 0)
})

t.test('a secret of the first response is shown again, and stored encrypted only', async (t) => {
  const { test, post: send } = await open(t)
  const first = await send('/auth/tokens', { name: 'ci', permissions: null }, 'one')
  t.equal(first.statusCode, 201)
  const again = await send('/auth/tokens', { name: 'ci', permissions: null }, 'one')
  t.equal(again.body, first.body)
  t.match(first.json().token, /^gth_/)
  t.equal(await countOf(test, 'api_tokens'), 1)
  const { rows } = await test.database.admin.query('SELECT * FROM idempotency_keys')
  const stored = rows.map((row) => JSON.stringify(Object.values(row).map(String))).join()
  t.notMatch(stored, first.json().token)
  t.notOk(stored.includes(first.json().id), 'nothing of the response')

  await test.database.admin.query(
    'UPDATE idempotency_keys SET result = set_byte(result, 40, 255 - get_byte(result, 40))',
  )
  const broken = await send('/auth/tokens', { name: 'ci', permissions: null }, 'one')
  t.equal(broken.statusCode, 409, 'not carried out again')
  t.equal(await countOf(test, 'api_tokens'), 1)
})

t.test('after a day a key is new', async (t) => {
  const { test, post: send } = await open(t)
  const first = await send('/orders', order, 'one')
  const age = (time: string) =>
    test.database.admin.query(`UPDATE idempotency_keys SET created_at = now() - $1::interval`, [
      time,
    ])
  await age('23 hours 59 minutes')
  t.equal((await send('/orders', order, 'one')).body, first.body)
  await age('24 hours 1 minute')
  const other = await send('/posts', post, 'one')
  t.equal(other.statusCode, 201, 'for another request too')
  t.equal((await send('/posts', post, 'one')).body, other.body)
  t.equal((await send('/orders', order, 'one')).statusCode, 422)
})

t.test('the key is 1 to 255 visible ASCII characters', async (t) => {
  const { test, post: send } = await open(t)
  for (const key of ['', ' ', 'a b', 'ä', 'a'.repeat(256), 'a'.repeat(300)]) {
    const answer = await send('/orders', order, key)
    t.equal(answer.statusCode, 400, JSON.stringify(key))
    t.match(answer.json(), { errors: [{ in: 'header', pointer: '/idempotency-key' }] })
  }
  const twice = await test.app.inject({
    ...{ method: 'POST', url: '/orders', payload: order },
    headers: { cookie: (await open(t, test)).cookie, 'idempotency-key': ['a', 'b'] },
  })
  t.equal(twice.statusCode, 400, 'two headers')
  t.equal(await countOf(test, 'orders'), 0)
  for (const key of ['a', '~', '!', 'a'.repeat(255), '"8e03978e"']) {
    t.equal((await send('/orders', order, key)).statusCode, 201, key)
  }
})

t.test('a change with a key happens once, and If-Match is judged once', async (t) => {
  const { test, cookie, post: send } = await open(t)
  const made = await send('/posts', post)
  const url = `/posts/${made.json().id}`
  const change = (title: string, key: string, more: object = {}) =>
    test.app.inject({
      ...{ method: 'PATCH', url, payload: { title } },
      headers: { cookie, 'idempotency-key': key, ...more },
    })
  const tag = { 'if-match': String(made.headers.etag) }
  const first = await change('Changed', 'one', tag)
  t.equal(first.statusCode, 200)
  const again = await change('Changed', 'one', tag)
  t.equal(again.statusCode, 200, 'the object has another tag since the first time')
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(again.body, first.body)
  t.equal(again.headers.etag, first.headers.etag)
  t.equal((await change('Other', 'one')).statusCode, 422)
  t.equal((await change('Changed', 'two', tag)).statusCode, 412, 'another key is another request')
  const { rows } = await test.database.admin.query(
    `SELECT count(*)::int AS events FROM outbound_events WHERE type = 'post.updated'`,
  )
  t.strictSame(rows, [{ events: 1 }])
})

t.test('an operation that takes no key refuses one, after 401 and 403', async (t) => {
  const { test, cookie } = await open(t)
  const viewer = await owner(test)
  const ask = (
    method: 'GET' | 'PATCH' | 'DELETE',
    url: string,
    headers: object,
    payload?: object,
  ) =>
    test.app.inject({
      ...{ method, url, ...(payload && { payload }) },
      headers: { 'idempotency-key': 'one', ...headers },
    })
  t.equal((await ask('GET', '/orders', {})).statusCode, 401)
  t.equal((await ask('GET', '/users', { cookie: viewer.cookie })).statusCode, 403)
  for (const [method, url] of [
    ['GET', '/orders'],
    ['GET', '/me'],
    ['DELETE', '/posts/1'],
  ] as const) {
    const answer = await ask(method, url, { cookie })
    t.equal(answer.statusCode, 400, `${method} ${url}`)
    t.match(answer.json().detail, 'takes no Idempotency-Key')
  }
})

t.test('the effect and the key are one commit', async (t) => {
  const { test, post: send } = await open(t)
  await test.database.admin.query(
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = '53100'; END $$;
     CREATE TRIGGER fail BEFORE UPDATE ON idempotency_keys FOR EACH ROW
       WHEN (OLD.result IS NULL AND NEW.result IS NOT NULL) EXECUTE FUNCTION fail()`,
  )
  t.ok((await send('/orders', order, 'one')).statusCode >= 500)
  t.equal(await countOf(test, 'orders'), 0, 'without its result the order is not there')
  t.equal(await countOf(test, 'idempotency_keys'), 0)
  await test.database.admin.query('DROP TRIGGER fail ON idempotency_keys')
  t.equal((await send('/orders', order, 'one')).statusCode, 201)
})

t.test('a create or change that does not say whether it takes a key stops the start', async (t) => {
  const app = Fastify()
  await app.register(idempotency, { keys: readEncryptionKeys(encryptionKey, []) })
  t.throws(() => {
    app.post(
      '/things',
      { config: { access: { resource: 'order', action: 'create' } }, schema: {} },
      () => ({}),
    )
  }, /does not state config.idempotencyKey/)
  t.throws(() => {
    app.patch(
      '/things',
      { config: { access: { resource: 'order', action: 'update' } }, schema: {} },
      () => ({}),
    )
  }, /does not state config.idempotencyKey/)
})

function sender({ app }: Pick<TestApp, 'app'>, cookie: string) {
  return (url: string, payload: object, key?: string) =>
    app.inject({
      ...{ method: 'POST', url, payload },
      headers: { cookie, ...(key !== undefined && { 'idempotency-key': key }) },
    })
}

async function open(t: Test, known?: TestApp) {
  const test = known ?? (await build(t))
  const { user, cookie } = await owner(test, { role: 'admin' })
  return { test, user, cookie, post: sender(test, cookie) }
}

async function countOf({ database }: TestApp, table: string): Promise<number> {
  const { rows } = await database.admin.query(`SELECT count(*)::int AS rows FROM ${table}`)
  return rows[0]?.rows
}
