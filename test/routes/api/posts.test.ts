import t from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { buildAt, noon } from '#test/support/app/at-time.ts'
import { createTestPost } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'

t.test('a post has the author’s tenant and, by default, department', async (t) => {
  const test = await buildAt(t)
  const editor = await owner(test, { role: 'editor', department: 'sales' })
  const made = await editor.send('POST', '/posts', { title: 'News', body: 'All\nof it' })
  t.equal(made.statusCode, 201)
  t.strictSame(made.json(), {
    id: made.json().id,
    tenantId: editor.user.tenantId,
    authorId: editor.user.userId,
    department: 'sales',
    title: 'News',
    body: 'All\nof it',
    createdAt: noon,
    updatedAt: noon,
  })
  const read = await editor.send('GET', `/posts/${made.json().id}`)
  t.equal(read.statusCode, 200)
  t.strictSame(read.json(), made.json())

  const other = { title: 'News', body: 'x', department: 'support' }
  t.equal((await editor.send('POST', '/posts', other)).json().department, 'support')
  const admin = await owner(test, { role: 'admin', tenantId: editor.user.tenantId })
  t.equal((await admin.send('POST', '/posts', { title: 'a', body: 'b' })).json().department, null)
})

t.test('roles: viewer reads, editor reads and writes, admin also deletes', async (t) => {
  const test = await buildAt(t)
  const statuses = { viewer: [200, 403, 403, 403], editor: [200, 201, 200, 403] }
  for (const [role, expected] of Object.entries({ ...statuses, admin: [200, 201, 200, 204] })) {
    const {
      send,
      user: { tenantId },
    } = await owner(test, { role, department: 'sales' })
    const url = `/posts/${await createTestPost(test.database, tenantId, 'sales')}`
    const answers = [
      await send('GET', url),
      await send('POST', '/posts', { title: 'a', body: 'b' }),
      await send('PATCH', url, { title: 'a' }),
      await send('DELETE', url),
    ]
    t.strictSame(
      answers.map(({ statusCode }) => statusCode),
      expected,
      role,
    )
    t.equal((await send('GET', '/posts')).statusCode, 200)
    const left = await test.database.admin.query('SELECT FROM posts WHERE tenant_id = $1', [
      tenantId,
    ])
    t.equal(left.rowCount, role === 'viewer' ? 1 : role === 'editor' ? 2 : 1)
  }
})

t.test('the permission is checked first: a viewer gets 403 for any object', async (t) => {
  const test = await buildAt(t)
  const { send } = await owner(test, { role: 'viewer' })
  for (const url of ['/posts/987654321', '/posts/x']) {
    t.equal((await send('PATCH', url, { title: 'a' })).statusCode, 403, url)
    t.equal((await send('DELETE', url)).statusCode, 403, url)
  }
})

t.test('403 without an active tenant, 401 without an identity', async (t) => {
  const test = await buildAt(t)
  const user = await createUser(test.database, { role: 'admin' })
  const headers = await signIn(test, { userId: user.userId, tenantId: null })
  const requests = [
    ['GET', '/posts'],
    ['POST', '/posts'],
    ['GET', '/posts/1'],
    ['PATCH', '/posts/1'],
    ['DELETE', '/posts/1'],
  ] as const
  for (const [method, url] of requests) {
    t.equal((await as(test, headers)(method, url)).statusCode, 403, `${method} ${url}`)
    t.equal((await as(test, {})(method, url)).statusCode, 401, `${method} ${url}`)
  }
})

t.test(
  'a post of another tenant is the same 404 as a missing one, and stays unchanged',
  async (t) => {
    const test = await buildAt(t)
    const { tenantId } = await createUser(test.database)
    const id = await createTestPost(test.database, tenantId, 'sales')
    const admin = await owner(test, { role: 'admin', department: 'sales' })
    const editor = await owner(test, { role: 'editor', department: 'sales' })
    for (const { send } of [admin, editor]) {
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
        const body = method === 'PATCH' ? { title: 'Mine' } : undefined
        const foreign = await send(method, `/posts/${id}`, body)
        const missing = await send(method, '/posts/987654321', body)
        if (send === editor.send && method === 'DELETE') t.equal(foreign.statusCode, 403)
        else t.equal(foreign.statusCode, 404)
        t.strictSame(comparable(foreign), comparable(missing))
      }
      t.strictSame((await send('GET', '/posts')).json(), { data: [], nextCursor: null })
    }
    const { rows } = await test.database.admin.query('SELECT title FROM posts')
    t.strictSame(rows, [{ title: 'A title' }])
  },
)
