import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { untilBlocked } from '#test/support/database/until.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

const form = { 'content-type': 'application/x-www-form-urlencoded' }

t.test('signing out ends the session, clears the cookie and is recorded', async (t) => {
  const { app, database } = test
  const { cookie } = await signIn(test, await createUser(database))
  const response = await app.inject({ method: 'POST', url: '/auth/logout', headers: { cookie } })
  t.equal(response.statusCode, 204)
  t.equal(response.headers['cache-control'], 'no-store')
  t.match(
    String(response.headers['set-cookie']),
    /^sid=; Max-Age=0; Path=\/;.* HttpOnly; SameSite=Lax$/,
  )
  t.equal((await app.inject({ url: '/me', headers: { cookie } })).statusCode, 401)
  const { rows } = await database.admin.query('SELECT action, outcome FROM audit_log')
  t.strictSame(rows, [{ action: 'sign-out', outcome: 'done' }])
})

t.test('a form is answered with 303 to the signed-out page', async (t) => {
  const { cookie } = await signIn(test, await createUser(test.database))
  const headers = { cookie, ...form, 'sec-fetch-site': 'same-origin' }
  const response = await test.app.inject({ method: 'POST', url: '/auth/logout', headers })
  t.equal(response.statusCode, 303)
  t.equal(response.headers.location, '/auth/signed-out?provider=demo')
})

t.test('another site cannot sign a user out', async (t) => {
  const { cookie } = await signIn(test, await createUser(test.database))
  const headers = { cookie, ...form, 'sec-fetch-site': 'cross-site' }
  const response = await test.app.inject({ method: 'POST', url: '/auth/logout', headers })
  t.equal(response.statusCode, 403)
  t.equal((await test.app.inject({ url: '/me', headers: { cookie } })).statusCode, 200)
})

t.test('if the session cannot be ended the response is 5xx and the cookie stays', async (t) => {
  const { app, database } = test
  const { cookie } = await signIn(test, await createUser(database))
  await database.admin.query('REVOKE INSERT ON audit_log FROM test_app')
  const response = await app.inject({ method: 'POST', url: '/auth/logout', headers: { cookie } })
  t.equal(response.statusCode, 500)
  t.equal(response.headers['set-cookie'], undefined)
  t.equal((await app.inject({ url: '/me', headers: { cookie } })).statusCode, 200, 'rolled back')
})

t.test('without a session signing out is 401', async (t) => {
  const { app } = test
  t.equal((await app.inject({ method: 'POST', url: '/auth/logout' })).statusCode, 401)
})

t.test('a concurrent request does not restore an ended session', async (t) => {
  const test = await build(t)
  const { app, database } = test
  const { cookie } = await signIn(test, await createUser(database))
  const blocker = await database.admin.connect()
  await blocker.query('BEGIN; LOCK TABLE posts')
  const inFlight = app.inject({ url: '/posts', headers: { cookie } })
  inFlight.then(() => {})
  await untilBlocked(database)
  await app.inject({ method: 'POST', url: '/auth/logout', headers: { cookie } })
  await blocker.query('COMMIT')
  blocker.release()
  const late = await inFlight
  t.equal(late.headers['set-cookie'], undefined)
  const { rows } = await database.admin.query('SELECT FROM sessions')
  t.equal(rows.length, 0)
  t.equal((await app.inject({ url: '/me', headers: { cookie } })).statusCode, 401)
})
