import pg from 'pg'
import t from 'tap'
import { verifyIsolation } from '#src/schema/verification/verify-isolation.ts'
import { eraseAll } from '#test/auth/erasure/support.ts'
import { buildAt } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'

/* Members whom rows name, by the issues of the small app. */

const test = await buildAt(t)
const { admin } = test.database
const ours = await owner(test, { role: 'admin' })
const theirs = await owner(test, { role: 'admin' })
const { tenantId } = ours.user
const projectId = (await ours.send('POST', '/projects', { title: 'A fence' })).json().id
async function colleague(name: string) {
  const person = await owner(test, { role: 'editor', tenantId })
  await admin.query('UPDATE users SET name = $1 WHERE id = $2', [name, person.user.userId])
  return person
}

let created = 0
async function create(body: object): Promise<number> {
  created += 1
  const answer = await ours.send('POST', '/issues', { title: `x${created}`, projectId, ...body })
  if (answer.statusCode !== 201) throw new Error(answer.body)
  return answer.json().id
}
const read = async (query: string) => (await ours.send('GET', `/issues${query}`)).json()

t.test('somebody who is no member of the tenant is like nobody', async (t) => {
  const id = await create({})
  const stranger = theirs.user.userId
  for (const [method, url, body] of [
    ['POST', '/issues', { title: 'y', projectId }],
    ['PATCH', `/issues/${id}`, {}],
  ] as const) {
    for (const key of ['assigneeId', 'reviewerId']) {
      const [foreign, none] = await Promise.all(
        [stranger, 987_654_321].map((person) => ours.send(method, url, { ...body, [key]: person })),
      )
      t.equal(foreign?.statusCode, 400, `${method} ${key}`)
      const detail = 'must be the id of a member of your tenant'
      t.strictSame(foreign?.json().errors, [{ in: 'body', pointer: `/${key}`, detail }])
      t.strictSame({ ...foreign?.json(), instance: '' }, { ...none?.json(), instance: '' })
    }
  }
  t.match(await read(`/${id}`), { assigneeId: null, reviewerId: null }, 'nothing was changed')
  const update = 'UPDATE issues SET assignee_id = $1 WHERE id = $2'
  await t.rejects(admin.query(update, [stranger, id]), { code: '23503' }, 'in SQL of one’s own')
  const form = { title: 'z', projectId: String(projectId), assetId: '', blockedById: '' }
  const refused = await test.app.inject({
    ...{ method: 'POST', url: '/app/issues/new' },
    payload: new URLSearchParams({
      ...{ ...form, assigneeId: String(stranger), reviewerId: '' },
      submission: crypto.randomUUID(),
    }).toString(),
    headers: { cookie: ours.cookie, 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.equal(refused.statusCode, 400, 'in a form')
})

t.test('a member is found by filter, and by name where it was asked for', async (t) => {
  const { user } = await colleague('Ada <b>')
  const id = await create({ assigneeId: user.userId })
  const other = await create({ assigneeId: ours.user.userId })
  const idsOf = async (query: string) =>
    (await read(query)).data.map((one: { id: number }) => one.id)
  t.strictSame(await idsOf(`?assigneeId=${user.userId}`), [id])
  t.strictSame(await idsOf(`?assigneeId[in]=${user.userId},${ours.user.userId}`), [other, id])
  t.match(await read(`/${id}?expand=assignee,reviewer`), {
    assigneeId: user.userId,
    assignee: { id: user.userId, name: 'Ada <b>' },
    reviewer: null,
  })
  t.match((await read(`?assigneeId=${user.userId}&expand=assignee,project`)).data, [
    { assignee: { id: user.userId, name: 'Ada <b>' }, project: { title: 'A fence' } },
  ])
  const limited = await (await colleague('Dan')).make({ permissions: ['task:read'] })
  t.equal((await limited.use('GET', `/issues/${id}?expand=assignee`)).statusCode, 200)
  t.equal((await theirs.send('GET', `/issues/${id}?expand=assignee`)).statusCode, 404)
})

t.test('a page shows members by name, and offers those of the tenant', async (t) => {
  const { user } = await colleague('Bob <b>')
  const stranger = await owner(test, { role: 'admin', email: 'mallory@other.example' })
  const id = await create({ assigneeId: user.userId })
  const open = async (url: string) =>
    (await ours.send('GET', url, undefined, { accept: 'text/html' })).body
  const page = await open(`/app/issues/${id}`)
  t.ok(page.includes('<dt>Assignee</dt><dd><bdi>Bob &lt;b&gt;</bdi></dd>'), 'a fact')
  t.notMatch(page, /by <bdi>Bob/, 'not as its author')
  t.match(page, new RegExp(`<option value="${user.userId}" selected><bdi>Bob`))
  const list = await open('/app/issues')
  t.match(list, /<td[^>]*><bdi>Bob &lt;b&gt;<\/bdi>/, 'a cell')
  t.notOk(`${page}${list}`.includes('mallory'), `not ${stranger.user.userId} of another tenant`)
})

t.test('who leaves is taken out of the rows, or kept as a number without a name', async (t) => {
  const { user } = await colleague('Carol')
  const named = { assigneeId: user.userId, reviewerId: user.userId }
  const id = await create(named)
  t.equal((await ours.send('DELETE', `/users/${user.userId}`)).statusCode, 204)

  t.match(await read(`/${id}?expand=assignee`), { assignee: { id: user.userId, name: null } })
  const changed = await ours.send('PATCH', `/issues/${id}`, { title: 'before the erasure' })
  t.equal(changed.statusCode, 200, 'the row can be changed in between')
  const again = await ours.send('POST', '/issues', { title: 'late', projectId, ...named })
  t.equal(again.statusCode, 400, 'but names them no more')

  await eraseAll(test.database)
  t.match(await read(`/${id}?expand=reviewer`), {
    ...{ assigneeId: null, reviewerId: user.userId },
    reviewer: { id: user.userId, name: null },
  })
  t.equal((await ours.send('PATCH', `/issues/${id}`, { title: 'after it' })).statusCode, 200)
  const page = await ours.send('GET', `/app/issues/${id}`, undefined, { accept: 'text/html' })
  t.ok(page.body.includes(`<dt>Reviewer</dt><dd>User ${user.userId}, who has left</dd>`))
})

t.test(
  'a row of another tenant is refused by its policy before its members are asked about',
  async (t) => {
    const client = new pg.Client({ connectionString: test.database.url })
    await client.connect()
    t.teardown(() => client.end())
    await client.query('BEGIN')
    t.strictSame(await verifyIsolation(client), [], 'as every start of the program asks')
    await client.query('ROLLBACK')
  },
)
