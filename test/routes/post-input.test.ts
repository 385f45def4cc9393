import t from 'tap'
import { build, createTestPost, createUser, signIn, type TestApp } from '#test/helper.ts'
import { edgeIds, smuggling } from '#test/probes.ts'
import { owner } from '#test/token-owner.ts'

const postKeys = [
  'id',
  'tenantId',
  'authorId',
  'department',
  'title',
  'body',
  'createdAt',
  'updatedAt',
]
t.test('bodies: what is not listed is 400 and changes nothing', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, user)
  const url = `/posts/${await createTestPost(test.database, user.tenantId)}`
  const create = sendText(test, cookie, '/posts', 'POST')
  const change = sendText(test, cookie, url, 'PATCH')
  for (const [name, body] of smuggling({ title: 'a', body: 'b' })) {
    t.equal((await create(body)).statusCode, 400, `POST with ${name}`)
    t.equal((await change(body)).statusCode, 400, `PATCH with ${name}`)
  }
  const malformed: [string, string][] = [
    ['no body', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['empty', '{}'],
    ['a number', '{"title":5,"body":"b"}'],
    ['null for a text', '{"title":null,"body":"b"}'],
    ['a blank title', '{"title":"  ","body":"b"}'],
    ['a title of two lines', '{"title":"a\\nb","body":"b"}'],
    ['a long title', JSON.stringify({ title: 'x'.repeat(201), body: 'b' })],
    ['a blank body', '{"title":"a","body":" \\n "}'],
    ['a long body', JSON.stringify({ title: 'a', body: 'x'.repeat(50_001) })],
    ['a NUL', '{"title":"a","body":"b\\u0000"}'],
    ['half a character', '{"title":"a","body":"\\ud800"}'],
  ]
  for (const [name, body] of malformed) {
    t.equal((await create(body)).statusCode, 400, `POST ${name}`)
    t.equal((await change(body)).statusCode, 400, `PATCH ${name}`)
  }
  t.equal((await create('{"title":"a"}')).statusCode, 400)
  t.equal((await create('{"title":"a","body":"b","department":null}')).statusCode, 400)
  t.equal(
    (await change('{"department":"sales"}')).statusCode,
    400,
    'a post stays in its department',
  )
  const { rows } = await test.database.admin.query('SELECT title, body FROM posts')
  t.strictSame(rows, [{ title: 'A title', body: 'A body' }])
  t.equal((await change(JSON.stringify({ body: '€'.repeat(50_000) }))).statusCode, 200)
})

t.test('ids at the edges', async (t) => {
  const test = await build(t)
  const { send } = await owner(test, { role: 'admin' })
  for (const [id, status] of edgeIds) {
    t.equal((await send('GET', `/posts/${id}`)).statusCode, status, `GET ${id}`)
    t.equal((await send('PATCH', `/posts/${id}`, { title: 'a' })).statusCode, status, `PATCH ${id}`)
    t.equal((await send('DELETE', `/posts/${id}`)).statusCode, status, `DELETE ${id}`)
  }
})

t.test('the list: newest first, page by page, and rows added meanwhile move nothing', async (t) => {
  const test = await build(t)
  const {
    send,
    user: { tenantId },
  } = await owner(test, { role: 'viewer' })
  const { tenantId: elsewhere } = await createUser(test.database)
  const ids: number[] = []
  for (const _ of Array.from({ length: 5 })) {
    ids.unshift(await createTestPost(test.database, tenantId))
    await createTestPost(test.database, elsewhere)
  }
  const seen: number[] = []
  let next: string | null = ''
  while (next !== null) {
    const cursor: string = next === '' ? '' : `&cursor=${next}`
    const page = (await send('GET', `/posts?limit=2${cursor}`)).json()
    t.strictSame(Object.keys(page), ['data', 'nextCursor'])
    t.strictSame(Object.keys(page.data[0]), postKeys)
    seen.push(...page.data.map(({ id }: { id: number }) => id))
    next = page.nextCursor
    await createTestPost(test.database, tenantId)
  }
  t.strictSame(seen, ids)
  const bad = ['limit=0', 'limit=101', 'limit=01', 'limit=1e1', 'cursor=x', 'cursor=', 'x=1']
  for (const query of [...bad, 'limit=1&limit=2', `tenantId=${elsewhere}`]) {
    t.equal((await send('GET', `/posts?${query}`)).statusCode, 400, query)
  }
})

t.test('the limit of the API counts posts too', async (t) => {
  const test = await build(t, { RATE_LIMIT_API: '2/60' })
  const { send } = await owner(test, { role: 'viewer' })
  t.equal((await send('GET', '/posts')).statusCode, 200)
  t.equal((await send('DELETE', '/posts/1')).statusCode, 403)
  t.equal((await send('GET', '/posts')).statusCode, 429)
})

/** Sends bodies that no object serialises to. */
function sendText({ app }: TestApp, cookie: string, url: string, method: 'PATCH' | 'POST') {
  const headers = { cookie, 'content-type': 'application/json' }
  return (payload: string) => app.inject({ method, url, headers, payload })
}
