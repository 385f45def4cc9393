import t from 'tap'
import { switchLocks } from '#dev/testing/access/locks.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { addIdentity, owners } from '#test/support/callers/account.ts'
import { untilBlocked } from '#test/support/database/until.ts'
import { auditTrail } from '#test/support/provider/sign-in-journey.ts'

/** A user with this number of identities: `s0`, `s1` and so on. */
async function createLinkedUser(test: TestApp, identities: number, prefix = 's') {
  const user = await createUser(test.database)
  for (let index = 0; index < identities; index += 1) {
    await addIdentity(test, user.userId, `${prefix}${index}`)
  }
  const session = await signIn(test, user)
  return { user, ...session, send: as(test, { cookie: session.cookie }) }
}

t.test('an identity is unlinked; other sessions through its provider end', async (t) => {
  const test = await build(t)
  const { user, send, cookie } = await createLinkedUser(test, 2)
  const other = await signIn(test, user)
  t.equal((await send('DELETE', '/auth/identities/demo/s0')).statusCode, 204)
  t.same(await owners(test), { 'demo:s1': user.userId })
  t.same(await auditTrail(test), ['unlink done own-request', 'session-end done identity-unlinked'])
  t.equal((await as(test, { cookie })('GET', '/me')).statusCode, 200)
  t.equal((await as(test, { cookie: other.cookie })('GET', '/me')).statusCode, 401)
})

t.test('the last identity cannot be unlinked', async (t) => {
  const test = await build(t)
  const { user, send } = await createLinkedUser(test, 1)
  const answer = await send('DELETE', '/auth/identities/demo/s0')
  t.equal(answer.statusCode, 409)
  t.match(answer.json(), { type: '/docs/errors/last-sign-in-method' })
  t.same(await owners(test), { 'demo:s0': user.userId })
  t.same(await auditTrail(test), ['unlink refused last-sign-in-method'])
})

t.test('another user’s identity is 404 like a missing one', async (t) => {
  const test = await build(t)
  const { send } = await createLinkedUser(test, 2)
  await createLinkedUser(test, 2, 'other')
  const before = await owners(test)
  const foreign = await send('DELETE', '/auth/identities/demo/other0')
  const missing = await send('DELETE', '/auth/identities/demo/missing')
  t.equal(foreign.statusCode, 404)
  t.same({ ...foreign.json(), instance: '' }, { ...missing.json(), instance: '' })
  t.equal((await send('DELETE', '/auth/identities/another/s0')).statusCode, 404)
  t.equal((await send('DELETE', '/auth/identities/demo/%00')).statusCode, 400)
  t.same(await owners(test), before)
})

for (const rowLevelSecurity of [true, false]) {
  const locks = rowLevelSecurity ? 'both locks' : 'the statement alone'
  t.test(
    `an identity that moved to another user during the request is not unlinked: ${locks}`,
    async (t) => {
      const test = await build(t)
      await switchLocks(test, { queryScope: true, rowLevelSecurity })
      const { send } = await createLinkedUser(test, 2)
      const other = await createUser(test.database)
      const { admin } = test.database
      // The program never moves an identity, and a trigger prevents it.
      await admin.query('ALTER TABLE oauth_identities DISABLE TRIGGER identity_keeps_owner')
      const move = await admin.connect()
      await move.query('BEGIN')
      await move.query(`UPDATE oauth_identities SET user_id = $1 WHERE provider_user_id = 's0'`, [
        other.userId,
      ])
      const unlinking = send('DELETE', '/auth/identities/demo/s0')
      await untilBlocked(test.database)
      await move.query('COMMIT')
      move.release()
      await unlinking
      t.match(await owners(test), { 'demo:s0': other.userId })
    },
  )
}

t.test('a subject may be any 255 printable characters', async (t) => {
  const test = await build(t)
  const { user, send } = await createLinkedUser(test, 1)
  const subject = '/%?#& "<é>'.replace('é', '~').padEnd(255, '/')
  await addIdentity(test, user.userId, subject)
  const url = `/auth/identities/demo/${encodeURIComponent(subject)}`
  t.equal((await send('DELETE', url)).statusCode, 204)
  t.same(await owners(test), { 'demo:s0': user.userId })
})

t.test('concurrent requests never unlink the last identity', async (t) => {
  const test = await build(t)
  for (let round = 0; round < 10; round += 1) {
    const { user, send } = await createLinkedUser(test, 3, `r${round}-`)
    const answers = await Promise.all(
      [0, 1, 2].map((index) => send('DELETE', `/auth/identities/demo/r${round}-${index}`)),
    )
    t.same(answers.map(({ statusCode }) => statusCode).toSorted(), [204, 204, 409])
    const left = Object.values(await owners(test)).filter((owner) => owner === user.userId)
    t.equal(left.length, 1)
  }
})

t.test('the list has pages with the user’s own identities only', async (t) => {
  const test = await build(t)
  const { user, send } = await createLinkedUser(test, 3)
  await addIdentity(test, user.userId, 'a', 'another')
  await createLinkedUser(test, 2, 'other')
  const seen: string[] = []
  let url = '/auth/identities?limit=3'
  for (const last of [false, true]) {
    const { data, nextCursor } = (await send('GET', url)).json()
    seen.push(
      ...data.map((one: { provider: string; subject: string }) => `${one.provider}:${one.subject}`),
    )
    t.equal(nextCursor === null, last)
    url = `/auth/identities?limit=3&cursor=${nextCursor}`
  }
  t.same(seen, ['another:a', 'demo:s0', 'demo:s1', 'demo:s2'])
})

t.test(
  'even the table’s owner and a superuser cannot move an identity to another user',
  async (t) => {
    const test = await build(t)
    const { user } = await createLinkedUser(test, 1)
    const other = await createUser(test.database)
    const before = await owners(test)
    const move = 'UPDATE oauth_identities SET user_id = $1'
    const { admin } = test.database
    await t.rejects(admin.query(move, [other.userId]), { code: '23001' })
    const client = await admin.connect()
    await client.query('SET session_replication_role = replica')
    await t.rejects(client.query(move, [other.userId]), { code: '23001' })
    await client.query('RESET session_replication_role')
    client.release()
    for (const column of ['provider', 'provider_user_id', 'issuer']) {
      await t.rejects(admin.query(`UPDATE oauth_identities SET ${column} = 'x'`), { code: '23001' })
    }
    t.same(await owners(test), before)
    t.equal(before['demo:s0'], user.userId)
  },
)
