import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { badPageQueries, edgeIds, pagesOf, smuggling } from '#test/support/app/probes.ts'
import { createTestPost } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'

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

t.test('a body with unlisted fields is 400 and changes nothing', async (t) => {
  const test = await build(t)
  const { user, sendText } = await owner(test, { role: 'admin' })
  const url = `/posts/${await createTestPost(test.database, user.tenantId)}`
  const create = (body: string) => sendText('POST', '/posts', body)
  const change = (body: string) => sendText('PATCH', url, body)
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

t.test('ids at the limits', async (t) => {
  const test = await build(t)
  const { send } = await owner(test, { role: 'admin' })
  for (const [id, status] of edgeIds) {
    t.equal((await send('GET', `/posts/${id}`)).statusCode, status, `GET ${id}`)
    t.equal((await send('PATCH', `/posts/${id}`, { title: 'a' })).statusCode, status, `PATCH ${id}`)
    t.equal((await send('DELETE', `/posts/${id}`)).statusCode, status, `DELETE ${id}`)
  }
})

t.test('the list is newest first and paged, and new rows do not shift pages', async (t) => {
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
  const pages = await pagesOf(send, '/posts', () => createTestPost(test.database, tenantId))
  t.strictSame(
    pages.flatMap(({ data }) => data.map(({ id }) => id)),
    ids,
  )
  for (const page of pages) {
    t.strictSame(Object.keys(page), ['data', 'nextCursor'])
    for (const post of page.data) t.strictSame(Object.keys(post), postKeys)
  }
  for (const query of badPageQueries) {
    t.equal((await send('GET', `/posts?${query}`)).statusCode, 400, query)
  }
})

t.test('the API rate limit counts posts too', async (t) => {
  const test = await build(t, { RATE_LIMIT_API: '2/60' })
  const { send } = await owner(test, { role: 'viewer' })
  t.equal((await send('GET', '/posts')).statusCode, 200)
  t.equal((await send('DELETE', '/posts/1')).statusCode, 403)
  t.equal((await send('GET', '/posts')).statusCode, 429)
})
