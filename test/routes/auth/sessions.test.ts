import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { auditTrail } from '#test/support/provider/sign-in-journey.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

t.test('the list has the user’s live sessions, newest first, current marked', async (t) => {
  const test = await build(t, { SESSION_IDLE_SECONDS: '3600' })
  const { admin } = test.database
  const user = await createUser(test.database)
  const first = await signIn(test, user)
  const second = await signIn(test, user)
  await signIn(test, await createUser(test.database))
  for (const end of ["last_seen_at = now() - interval '2 h'", 'expires_at = now()']) {
    const { cookieId } = await signIn(test, user)
    await admin.query(`UPDATE sessions SET ${end} WHERE id_hash = sha256(sha256($1))`, [cookieId])
  }
  await admin.query(
    `UPDATE sessions SET user_agent = 'Browser/1', ip = '192.0.2.0/24' WHERE id_hash = sha256(sha256($1))`,
    [first.cookieId],
  )
  const answer = await as(test, { cookie: first.cookie })('GET', '/auth/sessions')
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['cache-control'], 'no-store')
  const { data, nextCursor } = answer.json()
  t.equal(nextCursor, null)
  t.same(
    data.map(({ current }: { current: boolean }) => current),
    [false, true],
  )
  t.same(Object.keys(data[1]), ['id', 'current', 'createdAt', 'lastSeenAt', 'userAgent', 'ip'])
  t.match(data[1], { userAgent: 'Browser/1', ip: '192.0.2.0/24', id: /^[0-9a-f-]{36}$/ })
  t.notMatch(answer.body, first.cookieId, 'no cookie value')
  const one = await as(test, { cookie: second.cookie })('GET', `/auth/sessions/${data[0].id}`)
  t.same(one.json(), { ...data[0], current: true })
})

t.test('the list has pages with each session once', async (t) => {
  const user = await createUser(test.database)
  const { cookie } = await signIn(test, user)
  for (let count = 1; count < 5; count += 1) await signIn(test, user)
  // All in one microsecond, so that the id decides the order.
  await test.database.admin.query(`UPDATE sessions SET created_at = '2026-11-21T00:00:00.123456Z'`)
  const get = as(test, { cookie })
  const seen: string[] = []
  let url = '/auth/sessions?limit=2'
  for (let pages = 1; pages <= 3; pages += 1) {
    const { data, nextCursor } = (await get('GET', url)).json()
    seen.push(...data.map(({ id }: { id: string }) => id))
    t.equal(nextCursor === null, pages === 3)
    url = `/auth/sessions?limit=2&cursor=${nextCursor}`
  }
  t.equal(new Set(seen).size, 5)
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=1.5',
    'limit=',
    'cursor=',
    'cursor=x',
    'page=1',
  ]) {
    t.equal((await get('GET', `/auth/sessions?${query}`)).statusCode, 400, query)
  }
})

t.test('an ended session is refused at its next request and recorded', async (t) => {
  const user = await createUser(test.database)
  const mine = await signIn(test, user)
  const lost = await signIn(test, user)
  const get = as(test, { cookie: mine.cookie })
  const id = await idOf(test, lost.cookieId)
  const answer = await get('DELETE', `/auth/sessions/${id}`)
  t.equal(answer.statusCode, 204)
  t.equal(answer.headers['set-cookie'], undefined, 'the current cookie stays')
  t.equal((await as(test, { cookie: lost.cookie })('GET', '/me')).statusCode, 401)
  t.equal((await get('GET', '/me')).statusCode, 200)
  t.same(await auditTrail(test), ['session-end done own-request'])
  t.equal((await get('DELETE', `/auth/sessions/${id}`)).statusCode, 404, 'once')
})

t.test('ending the current session clears the cookie', async (t) => {
  const { cookie, cookieId } = await signIn(test, await createUser(test.database))
  const id = await idOf(test, cookieId)
  const answer = await as(test, { cookie })('DELETE', `/auth/sessions/${id}`)
  t.equal(answer.statusCode, 204)
  t.match(String(answer.headers['set-cookie']), /^sid=; Max-Age=0; Path=\//)
  t.equal((await as(test, { cookie })('GET', '/me')).statusCode, 401)
})

t.test('another user’s session is 404 like a missing one', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  const { cookie } = await signIn(test, user)
  const theirs = await signIn(test, await createUser(test.database, { tenantId: user.tenantId }))
  const id = await idOf(test, theirs.cookieId)
  const get = as(test, { cookie })
  for (const method of ['GET', 'DELETE'] as const) {
    const foreign = await get(method, `/auth/sessions/${id}`)
    const missing = await get(method, `/auth/sessions/${crypto.randomUUID()}`)
    t.equal(foreign.statusCode, 404)
    t.same({ ...foreign.json(), instance: '' }, { ...missing.json(), instance: '' })
  }
  for (const bad of ['1', 'x', `${id}0`, id.replaceAll('-', '')]) {
    t.equal((await get('DELETE', `/auth/sessions/${bad}`)).statusCode, 400, bad)
  }
  t.equal((await as(test, { cookie: theirs.cookie })('GET', '/me')).statusCode, 200)
  t.same(await auditTrail(test), [])
})

t.test('ending all other sessions keeps the current one and those of other users', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  const mine = await signIn(test, user)
  const others = [await signIn(test, user), await signIn(test, user)]
  const theirs = await signIn(test, await createUser(test.database))
  const answer = await as(test, { cookie: mine.cookie })('DELETE', '/auth/sessions')
  t.equal(answer.statusCode, 204)
  const status = async (cookie: string) => (await as(test, { cookie })('GET', '/me')).statusCode
  for (const { cookie } of others) t.equal(await status(cookie), 401)
  t.equal(await status(mine.cookie), 200)
  t.equal(await status(theirs.cookie), 200)
  t.same(await auditTrail(test), ['session-end done others-ended', 'session-end done others-ended'])
})

async function idOf({ database }: Parameters<typeof signIn>[0], cookieId: string): Promise<string> {
  const { rows } = await database.admin.query<{ id: string }>(
    'SELECT id FROM sessions WHERE id_hash = sha256(sha256($1))',
    [cookieId],
  )
  return rows[0]?.id ?? ''
}
