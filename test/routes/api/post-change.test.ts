import t from 'tap'
import { buildAt, noon } from '#test/support/app/at-time.ts'
import { createTestPost } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { untilBlocked } from '#test/support/database/until.ts'

t.test('an editor changes posts of their own department, 09:00 ≤ now < 17:00 UTC', async (t) => {
  const test = await buildAt(t)
  const {
    send,
    user: { tenantId },
  } = await owner(test, { role: 'editor', department: 'sales' })
  const own = await createTestPost(test.database, tenantId, 'sales')
  const otherDepartment = await createTestPost(test.database, tenantId, 'support')
  const withoutDepartment = await createTestPost(test.database, tenantId, null)
  const times: [string, number][] = [
    ['2026-03-04T00:00:00.000Z', 403],
    ['2026-03-04T08:59:59.999Z', 403],
    ['2026-03-04T09:00:00.000Z', 200],
    ['2026-03-04T16:59:59.999Z', 200],
    ['2026-03-04T17:00:00.000Z', 403],
    ['2026-03-04T23:59:59.999Z', 403],
    ['2026-03-04T10:30:00+02:00', 403],
    ['2026-03-04T18:30:00+02:00', 200],
  ]
  for (const [time, status] of times) {
    test.clock.time = time
    const title = `At ${time}`
    const answer = await send('PATCH', `/posts/${own}`, { title })
    t.equal(answer.statusCode, status, time)
    const now = (await send('GET', `/posts/${own}`)).json()
    t.equal(now.title === title, status === 200, `changed or not at ${time}`)
    if (status === 200) t.equal(now.updatedAt, new Date(time).toISOString())
    else t.match(answer.json(), { detail: /between 09:00 and 17:00 UTC/ })
  }
  test.clock.time = noon
  for (const id of [otherDepartment, withoutDepartment]) {
    const answer = await send('PATCH', `/posts/${id}`, { title: 'Mine' })
    t.equal(answer.statusCode, 403)
    t.match(answer.json(), {
      type: '/docs/errors/forbidden',
      detail: /their own department/,
    })
    t.equal((await send('GET', `/posts/${id}`)).json().title, 'A title')
  }
  for (const reason of ['editor-outside-hours', 'editor-of-another-department']) {
    const line = test.log.find((one) => one.includes(reason))
    t.match(JSON.parse(line ?? '{}'), { reason, msg: 'refused' }, 'the reason is in the log')
  }
})

t.test(
  'an editor without a department changes nothing; the rule does not apply to admins',
  async (t) => {
    const test = await buildAt(t)
    const editor = await owner(test, { role: 'editor' })
    const admin = await owner(test, { role: 'admin', tenantId: editor.user.tenantId })
    for (const department of ['sales', null]) {
      const url = `/posts/${await createTestPost(test.database, editor.user.tenantId, department)}`
      test.clock.time = noon
      t.equal((await editor.send('PATCH', url, { title: 'x' })).statusCode, 403)
      test.clock.time = '2026-03-04T03:00:00Z'
      t.equal((await admin.send('PATCH', url, { title: 'x' })).statusCode, 200)
    }
  },
)

t.test('the rule uses the department of the post at the time of the change', async (t) => {
  const test = await buildAt(t)
  const {
    send,
    user: { tenantId },
  } = await owner(test, { role: 'editor', department: 'sales' })
  const id = await createTestPost(test.database, tenantId, 'sales')
  const client = await test.database.admin.connect()
  try {
    await client.query('BEGIN')
    await client.query(`UPDATE posts SET department = 'support' WHERE id = $1`, [id])
    const answer = send('PATCH', `/posts/${id}`, { title: 'Mine' })
    await untilBlocked(test.database)
    await client.query('COMMIT')
    t.equal((await answer).statusCode, 403)
  } finally {
    client.release()
  }
  t.equal((await send('GET', `/posts/${id}`)).json().title, 'A title')
})

t.test('a change of role or department takes effect with the next request', async (t) => {
  const test = await buildAt(t)
  const {
    send,
    user: { userId, tenantId },
  } = await owner(test, { role: 'viewer', department: 'sales' })
  const id = await createTestPost(test.database, tenantId, 'sales')
  const steps: [string, string | null, number][] = [
    ['viewer', 'sales', 403],
    ['editor', 'sales', 200],
    ['editor', 'support', 403],
    ['admin', null, 200],
    ['viewer', 'sales', 403],
  ]
  for (const [role, department, status] of steps) {
    await test.database.admin.query(
      'UPDATE memberships SET role = $2, department = $3 WHERE user_id = $1',
      [userId, role, department],
    )
    const answer = await send('PATCH', `/posts/${id}`, { title: 'x' })
    t.equal(answer.statusCode, status, `${role} ${department}`)
  }
  await test.database.admin.query('DELETE FROM memberships WHERE user_id = $1', [userId])
  t.equal((await send('GET', `/posts/${id}`)).statusCode, 401, 'a removed member has no session')
})

t.test('a token has the current permissions of its owner that it names', async (t) => {
  const test = await buildAt(t)
  const { user, make } = await owner(test, { role: 'editor', department: 'sales' })
  const url = `/posts/${await createTestPost(test.database, user.tenantId, 'sales')}`
  const unlimited = await make()
  const reading = await make({ permissions: ['post:read'] })
  const writing = await make({ permissions: ['post:write'] })
  const orders = await make({ permissions: ['order:read', 'invoice:read'] })
  const statuses = async ({ use }: typeof unlimited) => [
    (await use('GET', '/posts')).statusCode,
    (await use('GET', url)).statusCode,
    (await use('POST', '/posts', { title: 'a', body: 'b' })).statusCode,
    (await use('PATCH', url, { title: 'a' })).statusCode,
    (await use('DELETE', url)).statusCode,
  ]
  t.strictSame(await statuses(unlimited), [200, 200, 201, 200, 403])
  t.strictSame(await statuses(reading), [200, 200, 403, 403, 403])
  t.strictSame(await statuses(writing), [403, 403, 201, 200, 403])
  t.strictSame(await statuses(orders), [403, 403, 403, 403, 403])
  test.clock.time = '2026-03-04T17:00:00.000Z'
  t.equal(
    (await writing.use('PATCH', url, { title: 'a' })).statusCode,
    403,
    'the hours apply to tokens',
  )
  await test.database.admin.query(`UPDATE memberships SET role = 'viewer'`)
  t.strictSame(
    await statuses(writing),
    [403, 403, 403, 403, 403],
    'the owner has lost the permissions',
  )
})
