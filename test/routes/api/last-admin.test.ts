import t from 'tap'
import { build, type TestApp } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

async function admins({ database }: TestApp, tenantId: string): Promise<number | null> {
  const { rowCount } = await database.admin.query(
    `SELECT FROM memberships WHERE tenant_id = $1 AND role = 'admin'`,
    [tenantId],
  )
  return rowCount
}

/** For every test that changes nothing outside of tenants and users of its own. */
const test = await build(t)

t.test(
  'the last admin cannot be demoted or removed, not even by themselves or a token',
  async (t) => {
    const test = await build(t)
    const { user, send, make } = await owner(test, { role: 'admin' })
    await owner(test, { role: 'editor', tenantId: user.tenantId })
    const { use } = await make()
    const url = `/users/${user.userId}`
    for (const one of [send, use]) {
      const answers = [
        await one('PATCH', url, { role: 'viewer' }),
        await one('PATCH', url, { role: 'editor', department: 'sales' }),
        await one('DELETE', url),
      ]
      for (const answer of answers) {
        t.equal(answer.statusCode, 409)
        t.match(answer.json(), {
          type: '/docs/errors/last-admin',
          detail: 'Make another member an admin first.',
        })
      }
    }
    t.match(
      (await send('GET', '/me')).json(),
      { role: 'admin', department: null },
      'nothing changed',
    )
    t.equal((await send('PATCH', url, { role: 'admin', department: 'board' })).statusCode, 200)
    const { rows } = await test.database.admin.query(
      `SELECT DISTINCT action, reason FROM audit_log WHERE outcome = 'refused' ORDER BY action`,
    )
    t.strictSame(rows, [
      { action: 'user-remove', reason: 'last-admin' },
      { action: 'user-update', reason: 'last-admin' },
    ])
  },
)

t.test('with another admin, an admin can step down or leave', async (t) => {
  const first = await owner(test, { role: 'admin' })
  const { tenantId } = first.user
  const second = await owner(test, { role: 'admin', tenantId })
  const third = await owner(test, { role: 'admin', tenantId })
  const stepDown = await first.send('PATCH', `/users/${first.user.userId}`, { role: 'viewer' })
  t.equal(stepDown.statusCode, 200)
  t.equal((await first.send('GET', '/users')).statusCode, 403, 'with the next request')
  t.equal((await second.send('DELETE', `/users/${second.user.userId}`)).statusCode, 204)
  t.equal((await second.send('GET', '/me')).statusCode, 401)
  t.equal((await third.send('DELETE', `/users/${third.user.userId}`)).statusCode, 409)
})

t.test('when two admins demote or remove each other, one stays', async (t) => {
  for (const method of ['PATCH', 'DELETE'] as const) {
    const body = method === 'PATCH' ? { role: 'viewer' } : undefined
    for (const _ of Array.from({ length: 8 })) {
      const one = await owner(test, { role: 'admin' })
      const { tenantId } = one.user
      const other = await owner(test, { role: 'admin', tenantId })
      const answers = await Promise.all([
        one.send(method, `/users/${other.user.userId}`, body),
        other.send(method, `/users/${one.user.userId}`, body),
      ])
      const done = method === 'PATCH' ? 200 : 204
      const [winner, loser] = answers.map(({ statusCode }) => statusCode).toSorted()
      t.equal(winner, done)
      t.ok(loser === 403 || loser === 401, `the other is no longer an admin: ${loser}`)
      t.equal(await admins(test, tenantId), 1)
    }
  }
})

t.test('when all admins step down at once, one stays', async (t) => {
  const first = await owner(test, { role: 'admin' })
  const { tenantId } = first.user
  const all = [first]
  for (const _ of Array.from({ length: 4 }))
    all.push(await owner(test, { role: 'admin', tenantId }))
  const answers = await Promise.all(
    all.map(({ send, user }) => send('PATCH', `/users/${user.userId}`, { role: 'editor' })),
  )
  t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 200, 200, 200, 409])
  t.equal(await admins(test, tenantId), 1)
})

t.test('a user who is removed from both tenants at once is deleted', async (t) => {
  for (const _ of Array.from({ length: 8 })) {
    const here = await owner(test, { role: 'admin' })
    const there = await owner(test, { role: 'admin' })
    const { user } = await owner(test, { tenantId: here.user.tenantId })
    await test.database.admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
      [there.user.tenantId, user.userId],
    )
    const url = `/users/${user.userId}`
    const answers = await Promise.all([here.send('DELETE', url), there.send('DELETE', url)])
    t.strictSame(
      answers.map(({ statusCode }) => statusCode),
      [204, 204],
    )
    const left = await test.database.admin.query('SELECT FROM users WHERE id = $1', [user.userId])
    t.equal(left.rowCount, 0)
  }
})
