import LinkHeader from 'http-link-header'
import t, { type Test } from 'tap'
import type { as } from '#dev/testing/people.ts'
import { createUser } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { createChain, createDocument, createFolder } from '#test/support/callers/chain.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { untilInFeed } from '#test/support/receiver/until-in-feed.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

type Send = ReturnType<typeof as>
type Listed = { data: { id: number | string }[]; nextCursor: string | null }

/** A page of a list, and the URLs that its `Link` header has, read by an independent parser. */
async function readPage(t: Test, send: Send, url: string) {
  const answer = await send('GET', url)
  t.equal(answer.statusCode, 200, url)
  const { refs } = LinkHeader.parse(String(answer.headers.link))
  const links: Record<string, string> = Object.fromEntries(refs.map(({ rel, uri }) => [rel, uri]))
  const body = answer.json<Listed>()
  t.same(Object.keys(body), ['data', 'nextCursor'], 'the body is that of the contract')
  return { ids: body.data.map(({ id }) => id), nextCursor: body.nextCursor, links }
}

async function idsOf(t: Test, send: Send, url: string) {
  return (await readPage(t, send, url)).ids
}

/** The time of a day in January, as text. */
const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`

/** Sets when rows were created: one a day, in the order of their ids. */
async function spread({ database }: TestApp, table: string, ids: readonly (number | string)[]) {
  const column = table === 'audit_log' ? 'at' : 'created_at'
  for (const [index, id] of ids.entries()) {
    const text = `UPDATE ${table} SET ${column} = $1 WHERE id = $2`
    await database.admin.query(text, [day(index + 1), id])
  }
}

async function createPosts(test: TestApp, send: Send, count: number): Promise<number[]> {
  const ids: number[] = []
  for (let made = 0; made < count; made += 1) {
    const answer = await send('POST', '/posts', { title: `Post ${made}`, body: 'x' })
    ids.push(answer.json().id)
  }
  await spread(test, 'posts', ids)
  return ids
}

/** For every test: each has a tenant and users of its own. */
const test = await build(t)

t.test('Link leads to the first, next and previous page, with the same filters', async (t) => {
  const { send, user } = await owner(test, { role: 'admin', department: 'sales' })
  const ids = (await createPosts(test, send, 5)).reverse()
  const url = `/posts?limit=2&authorId=${user.userId}&department=sales`
  const first = await readPage(t, send, url)
  t.same(first.ids, ids.slice(0, 2))
  t.same(Object.keys(first.links), ['first', 'next'])
  t.equal(first.links.first, url)
  t.match(first.links.next, `cursor=${first.nextCursor}`)
  const second = await readPage(t, send, first.links.next ?? '')
  t.same(second.ids, ids.slice(2, 4))
  t.same(Object.keys(second.links), ['first', 'prev', 'next'])
  const third = await readPage(t, send, second.links.next ?? '')
  t.same(third.ids, ids.slice(4))
  t.same(Object.keys(third.links), ['first', 'prev'])
  t.equal(third.nextCursor, null)
  const back = await readPage(t, send, third.links.prev ?? '')
  t.same(back.ids, second.ids, 'the previous page has the same rows in the same order')
  const start = await readPage(t, send, back.links.prev ?? '')
  t.same(start.ids, first.ids)
  t.same(Object.keys(start.links), ['first', 'next'])
})

t.test('a feed is followed with `after`', async (t) => {
  const { send } = await owner(test, { role: 'admin' })
  const [post] = await createPosts(test, send, 1)
  await send('PATCH', `/posts/${post}`, { title: 'Changed' })
  await send('DELETE', `/posts/${post}`)
  await untilInFeed(test.database)
  const first = await readPage(t, send, '/events?limit=1')
  t.match(first.links.next, `after=${first.nextCursor}`)
  const second = await readPage(t, send, first.links.next ?? '')
  t.not(second.ids[0], first.ids[0])
  const deleted = await readPage(t, send, '/events?type=post.deleted')
  t.same(deleted.ids, second.ids)
  const cursor = deleted.nextCursor
  const later = await readPage(t, send, `/events?type=post.deleted&after=${cursor}`)
  t.same(later.ids, [], 'nothing since')
  t.equal((await send('GET', `/events?type=post.updated&after=${cursor}`)).statusCode, 400)
  t.equal((await send('GET', '/events?type=No.such')).statusCode, 400)
})

t.test('orders: by tenant, by time, in both orders', async (t) => {
  const { send, user } = await owner(test)
  const other = await createUser(test.database)
  const ids = [
    await createOrder(test.database, user),
    await createOrder(test.database, user),
    await createOrder(test.database, { ...user, tenantId: other.tenantId }),
  ]
  await createOrder(test.database, other)
  await spread(test, 'orders', ids)
  const [one, two, three] = ids
  t.same(await idsOf(t, send, '/orders'), [three, two, one])
  t.same(await idsOf(t, send, '/orders?sort=createdAt'), [one, two, three])
  t.same(await idsOf(t, send, '/orders?sort=-createdAt'), [three, two, one])
  t.same(await idsOf(t, send, `/orders?tenantId=${user.tenantId}`), [two, one])
  const own = await readPage(t, send, `/orders?tenantId=${other.tenantId}`)
  t.same(own.ids, [three], 'none of another owner')
  t.same(await idsOf(t, send, `/orders?from=${day(2)}`), [three, two])
  t.same(await idsOf(t, send, `/orders?to=${day(2)}`), [one], 'before `to`')
  t.same(await idsOf(t, send, `/orders?from=${day(2)}&to=${day(3)}`), [two])
  t.same(await idsOf(t, send, `/orders?from=${day(3)}&to=${day(2)}`), [])
})

t.test('posts: by author and department', async (t) => {
  const { send, user } = await owner(test, { role: 'admin', department: 'sales' })
  const { tenantId } = user
  const editor = await owner(test, { role: 'editor', department: 'support', tenantId })
  const own = await createPosts(test, send, 2)
  const [theirs] = await createPosts(test, editor.send, 1)
  t.same(await idsOf(t, send, `/posts?authorId=${editor.user.userId}`), [theirs])
  t.same(await idsOf(t, send, '/posts?department=sales&sort=createdAt'), own)
  t.same(await idsOf(t, send, `/posts?department=support&authorId=${user.userId}`), [])
  t.same(await idsOf(t, send, '/posts?authorId=9007199254740993'), [], 'an id of nobody')
})

t.test('invoices: by currency and time', async (t) => {
  const { send, user } = await owner(test)
  const { rows } = await test.database.admin.query<{ id: string }>(
    `INSERT INTO invoices (tenant_id, amount, currency, status)
     SELECT $1, 1, currency, 'paid' FROM unnest('{eur,usd,eur}'::text[]) AS currency RETURNING id`,
    [user.tenantId],
  )
  const ids = rows.map(({ id }) => Number(id))
  await spread(test, 'invoices', ids)
  const [one, two, three] = ids
  t.same(await idsOf(t, send, '/invoices?currency=eur'), [three, one])
  t.same(await idsOf(t, send, `/invoices?currency=eur&from=${day(2)}`), [three])
  t.same(await idsOf(t, send, '/invoices?sort=createdAt'), [one, two, three])
})

t.test('documents: by folder and time, within the chain', async (t) => {
  const { send, user } = await owner(test)
  const chain = await createChain(test.database, user)
  const folder = await createFolder(test.database, user.tenantId, chain.teamId)
  const ids = [chain.documentId, await createDocument(test.database, folder)]
  await spread(test, 'documents', ids)
  const [one, two] = ids
  const stranger = await createUser(test.database)
  const foreign = await createChain(test.database, stranger)
  t.same(await idsOf(t, send, '/documents'), [two, one])
  t.same(await idsOf(t, send, '/documents?sort=createdAt'), [one, two])
  t.same(await idsOf(t, send, `/documents?folderId=${folder}`), [two])
  t.same(await idsOf(t, send, `/documents?folderId=${foreign.folderId}`), [], 'not in reach')
  t.same(await idsOf(t, send, `/documents?to=${day(2)}`), [one])
  const last = await readPage(t, send, '/documents?limit=1')
  const previous = await readPage(t, send, last.links.next ?? '')
  t.same(await idsOf(t, send, previous.links.prev ?? ''), [two])
})

t.test('members: by role, department and time of joining', async (t) => {
  const { send, user } = await owner(test, { role: 'admin' })
  const { tenantId } = user
  const editor = await createUser(test.database, { role: 'editor', department: 'sales', tenantId })
  const viewer = await createUser(test.database, { department: 'sales', tenantId })
  for (const [index, { userId }] of [user, editor, viewer].entries()) {
    const text = 'UPDATE memberships SET created_at = $1 WHERE user_id = $2'
    await test.database.admin.query(text, [day(index + 1), userId])
  }
  t.same(await idsOf(t, send, '/users?role=editor'), [editor.userId])
  t.same(await idsOf(t, send, '/users?department=sales'), [viewer.userId, editor.userId])
  t.same(await idsOf(t, send, '/users?department=sales&sort=createdAt'), [
    editor.userId,
    viewer.userId,
  ])
  t.same(await idsOf(t, send, `/users?from=${day(2)}&to=${day(3)}`), [editor.userId])
  const first = await readPage(t, send, '/users?limit=1')
  const second = await readPage(t, send, first.links.next ?? '')
  t.same(second.ids, [editor.userId])
  t.same(await idsOf(t, send, second.links.prev ?? ''), [viewer.userId])
  t.equal((await send('GET', '/users?role=owner')).statusCode, 400)
})

t.test('the audit log: by action, user and time', async (t) => {
  const { send, user } = await owner(test, { role: 'admin' })
  const { rows } = await test.database.admin.query<{ id: string }>(
    `INSERT INTO audit_log (action, outcome, user_id, tenant_id)
     VALUES ('test-one', 'done', $1, $2), ('test-two', 'done', $1, $2), ('test-one', 'done', 77, $2)
     RETURNING id`,
    [user.userId, user.tenantId],
  )
  const ids = rows.map(({ id }) => Number(id))
  await spread(test, 'audit_log', ids)
  const [one, two, three] = ids
  t.same(await idsOf(t, send, '/audit?action=test-one'), [three, one])
  t.same(await idsOf(t, send, '/audit?action=test-one&sort=at'), [one, three])
  t.same(await idsOf(t, send, '/audit?userId=77'), [three])
  t.same(await idsOf(t, send, `/audit?from=${day(2)}&to=${day(4)}`), [three, two])
  t.same(await idsOf(t, send, '/auth/audit?action=test-two'), [two])
  t.same(await idsOf(t, send, `/auth/audit?to=${day(2)}`), [one])
})

t.test('deliveries: by time, in both orders', async (t) => {
  const { send, user } = await owner(test, { role: 'admin' })
  const endpoint = await createEndpoint(test.database, user, { url: 'https://a.example/' })
  const [post] = await createPosts(test, send, 1)
  for (const title of ['one', 'two']) await send('PATCH', `/posts/${post}`, { title })
  const path = `/webhook-endpoints/${endpoint}/deliveries`
  const { rows } = await test.database.admin.query<{ id: string }>(
    'SELECT id FROM deliveries WHERE tenant_id = $1 ORDER BY created_at, id',
    [user.tenantId],
  )
  const ids = rows.map(({ id }) => id)
  t.equal(ids.length, 2)
  await spread(test, 'deliveries', ids)
  t.same(await idsOf(t, send, path), ids.toReversed())
  t.same(await idsOf(t, send, `${path}?sort=createdAt`), ids)
  t.same(await idsOf(t, send, `${path}?from=${day(2)}`), ids.slice(1))
  const first = await readPage(t, send, `${path}?limit=1&sort=createdAt`)
  const second = await readPage(t, send, first.links.next ?? '')
  t.same(second.ids, ids.slice(1))
  t.same(await idsOf(t, send, second.links.prev ?? ''), ids.slice(0, 1))
})

t.test('every list has a previous page that is the page before', async (t) => {
  const { send, user, make } = await owner(test, { role: 'admin' })
  const { tenantId } = user
  for (const name of ['a', 'b', 'c']) {
    await send('POST', '/teams', { name })
    await make({ name })
    await createUser(test.database, { tenantId })
    await createEndpoint(test.database, user, { url: `https://${name}.example/` })
    await send('POST', '/users', { email: `${name}@list.example`, role: 'viewer' })
  }
  const team = (await send('GET', '/teams?limit=1')).json().data[0].id
  const members = (await send('GET', '/users')).json<Listed>().data
  await test.database.admin.query(
    `INSERT INTO team_members (tenant_id, team_id, user_id) SELECT $1, $2, unnest($3::bigint[])`,
    [tenantId, team, members.slice(0, 3).map(({ id }) => id)],
  )
  for (const name of ['a', 'b', 'c']) await send('POST', '/folders', { name, teamId: team })
  const lists = {
    '/teams': 'id',
    '/folders': 'id',
    '/users': 'id',
    '/auth/tokens': 'id',
    '/webhook-endpoints': 'id',
    '/invitations': 'id',
    [`/teams/${team}/members`]: 'userId',
  }
  for (const [url, key] of Object.entries(lists)) {
    const keysOf = async (path: string) => {
      const answer = await send('GET', path)
      t.equal(answer.statusCode, 200, path)
      const { refs } = LinkHeader.parse(String(answer.headers.link))
      const link = (rel: string) => refs.find((ref) => ref.rel === rel)?.uri ?? ''
      const keys = answer.json().data.map((row: Record<string, unknown>) => row[key])
      return { keys, next: link('next'), prev: link('prev') }
    }
    const first = await keysOf(`${url}?limit=1`)
    const second = await keysOf(first.next)
    const third = await keysOf(second.next)
    t.equal(new Set([...first.keys, ...second.keys, ...third.keys]).size, 3, url)
    const back = await keysOf(third.prev)
    t.same(back.keys, second.keys, `${url}: the page before the third`)
    t.same((await keysOf(back.prev)).keys, first.keys, `${url}: the page before the second`)
  }
})

t.test('an unknown parameter is refused, and named', async (t) => {
  const { send, make } = await owner(test, { role: 'admin' })
  const { id, use } = await make()
  for (const url of ['/orders?status=paid', '/posts/1?expand=author', '/me?x=1', '/audit?at=1']) {
    const answer = await send('GET', url)
    t.equal(answer.statusCode, 400, url)
    t.match(answer.json(), { errors: [{ in: 'query', detail: 'is not a known query parameter' }] })
  }
  t.equal((await use('GET', '/me?utm_source=x')).statusCode, 400)
  t.equal((await send('DELETE', `/auth/tokens/${id}?force=true`)).statusCode, 400)
  t.equal((await send('DELETE', `/auth/tokens/${id}`)).statusCode, 204, 'nothing was done before')
  const page = await send('GET', '/app/access?utm_source=mail')
  t.equal(page.statusCode, 200, 'a page takes any')
})

t.test('a forged or foreign cursor has a clear answer', async (t) => {
  const { send } = await owner(test, { role: 'admin', department: 'sales' })
  await createPosts(test, send, 3)
  const { nextCursor } = await readPage(t, send, '/posts?limit=1&department=sales')
  const refused = [
    '/posts?cursor=forged',
    `/posts?cursor=${nextCursor}`,
    `/posts?department=support&cursor=${nextCursor}`,
    `/posts?department=sales&sort=createdAt&cursor=${nextCursor}`,
    `/orders?cursor=${nextCursor}`,
    `/posts?department=sales&cursor=${nextCursor?.toUpperCase()}`,
  ]
  for (const url of refused) {
    const answer = await send('GET', url)
    t.equal(answer.statusCode, 400, url)
    t.match(answer.json().detail, /cursor does not belong to this list with these filters/, url)
  }
  t.equal((await send('GET', `/posts?department=sales&cursor=${nextCursor}`)).statusCode, 200)
})

t.test('a filter with a bad value is refused by name', async (t) => {
  const { send } = await owner(test, { role: 'admin' })
  const refused = {
    '/orders?from=yesterday': '/from',
    '/orders?tenantId=x': '/tenantId',
    '/posts?authorId=-1': '/authorId',
    '/posts?authorId=99999999999999999999': '/authorId',
    '/posts?sort=title': '/sort',
    '/audit?action=DROP%20TABLE': '/action',
    '/invoices?currency=': '/currency',
  }
  for (const [url, pointer] of Object.entries(refused)) {
    const answer = await send('GET', url)
    t.equal(answer.statusCode, 400, url)
    t.match(answer.json(), { errors: [{ in: 'query', pointer }] }, url)
  }
})
