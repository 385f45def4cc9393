import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { appPermissions } from '#src/access/policy.ts'
import { notRecordedYet } from '#src/auth/operators/operators.ts'
import { maxAppTokens } from '#src/auth/tokens/app-tokens.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { addIdentity, authenticatedAgo } from '#test/support/callers/account.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'
import { cookieOf, linkOf, portalVisitor } from '#test/support/callers/portal.ts'
import { until, untilBlocked } from '#test/support/database/until.ts'
import { auditTrail } from '#test/support/provider/sign-in-journey.ts'

/** A signed-in operator, and a function that creates app tokens. */
async function operatorOf(test: TestApp) {
  const user = await createUser(test.database, { role: 'admin' })
  await addIdentity(test, user.userId, 'op')
  const { cookie } = await signIn(test, user)
  const send = as(test, { cookie })
  const make = async (permissions: readonly string[] = ['event-type:read'], body: object = {}) => {
    const answer = await send('POST', '/app-tokens', { name: 'backend', permissions, ...body })
    const { id, token } = answer.json()
    return { id, token, answer, use: as(test, { authorization: `Bearer ${token}` }) }
  }
  return { user, cookie, send, make }
}

const settings = { OPERATORS: 'demo:op' }

t.test('an operator makes, limits, rotates and revokes an app token', async (t) => {
  const test = await build(t, settings)
  const { user, send, make } = await operatorOf(test)
  const { id, token, answer, use } = await make()
  t.equal(answer.statusCode, 201, answer.body)
  t.equal(answer.headers.location, `/app-tokens/${id}`)
  t.match(token, /^gtha_[0-9A-Za-z]{49}$/)
  t.equal((await use('GET', '/event-types')).statusCode, 200)
  t.equal((await use('PUT', '/event-types/x', { description: 'x' })).statusCode, 403)
  await until(test.database, 'SELECT FROM app_tokens WHERE last_used_at IS NOT NULL')
  const shown = (await send('GET', `/app-tokens/${id}`)).json()
  t.match(shown, { id, name: 'backend', createdBy: user.userId, lastUsedAt: String })
  t.equal(shown.hint, `gtha_…${token.slice(-4)}`)
  t.notOk('token' in shown || 'hash' in shown)
  t.strictSame((await send('GET', '/app-tokens')).json(), { data: [shown], nextCursor: null })

  const limited = await send('PATCH', `/app-tokens/${id}`, { permissions: ['event-type:update'] })
  t.equal(limited.statusCode, 200, limited.body)
  t.equal((await use('GET', '/event-types')).statusCode, 403)
  t.equal((await use('PUT', '/event-types/x', { description: 'x' })).statusCode, 201)

  const rotated = await send('POST', `/app-tokens/${id}/rotate-secret`)
  t.equal(rotated.statusCode, 200, rotated.body)
  t.equal((await use('PUT', '/event-types/x', { description: 'x' })).statusCode, 401)
  t.equal(rotated.json().hint, `gtha_…${rotated.json().token.slice(-4)}`)
  const next = as(test, { authorization: `Bearer ${rotated.json().token}` })
  t.equal((await next('PUT', '/event-types/x', { description: 'y' })).statusCode, 200)
  t.equal((await send('DELETE', `/app-tokens/${id}`)).statusCode, 204)
  t.equal((await next('PUT', '/event-types/x', { description: 'z' })).statusCode, 401)
  t.equal((await send('DELETE', `/app-tokens/${id}`)).statusCode, 404)
  t.strictSame(await auditTrail(test), [
    'app-token-create done own-request',
    'app-token-change done permissions',
    'app-token-rotate done own-request',
    'app-token-delete done own-request',
  ])
  const { rows } = await test.database.admin.query('SELECT app_tokens::text FROM app_tokens')
  t.notMatch(JSON.stringify(rows) + test.log.join(''), token)
})

t.test(
  'a portal that ended with the permission or the time of its token stays ended',
  async (t) => {
    const test = await build(t, settings)
    const { user, send, make } = await operatorOf(test)
    const permissions = ['portal-link:create']
    const { id, use } = await make(permissions)
    const link = async () => linkOf(await use('POST', `/tenants/${user.tenantId}/portal-links`))
    const open = (secret: string) =>
      as(test, { accept: 'text/html' })('POST', '/portal/open', { link: secret })
    const change = async (body: object) => {
      const answer = await send('PATCH', `/app-tokens/${id}`, body)
      t.equal(answer.statusCode, 200, answer.body)
    }
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    for (const endAndReturn of [
      async () => {
        await change({ permissions: ['event:publish'] })
        await change({ permissions })
      },
      async () => {
        await test.database.admin.query('UPDATE app_tokens SET expires_at = now()')
        await change({ expiresAt })
      },
    ]) {
      const [unopened, opened] = [await link(), await open(await link())]
      const visitor = portalVisitor(test, cookieOf(opened))
      t.equal((await visitor.open('/portal/events')).statusCode, 200)
      await change({ name: 'other', permissions: [...permissions, 'event:publish'] })
      t.equal((await visitor.open('/portal/events')).statusCode, 200, 'another change ends nothing')
      await endAndReturn()
      t.equal((await visitor.open('/portal/events')).statusCode, 401)
      t.equal((await open(unopened)).statusCode, 401)
      const later = portalVisitor(test, cookieOf(await open(await link())))
      t.equal((await later.open('/portal/events')).statusCode, 200, 'a new link opens')
    }
  },
)

t.test('a portal link that is made while a rotation waits ends with the old secret', async (t) => {
  const test = await build(t, settings)
  const { user, send, make } = await operatorOf(test)
  const { id, use } = await make(['portal-link:create'])
  const link = () => use('POST', `/tenants/${user.tenantId}/portal-links`)
  await link()
  // The next use need not be noted, so nothing else changes the token's row.
  await until(test.database, 'SELECT FROM app_tokens WHERE last_used_at IS NOT NULL')
  const write = await test.database.admin.connect()
  await write.query('BEGIN')
  await write.query('SELECT FROM app_tokens FOR KEY SHARE') // as a write with the token does
  const rotated = send('POST', `/app-tokens/${id}/rotate-secret`)
  await untilBlocked(test.database)
  const made = await link()
  t.equal(made.statusCode, 201, made.body)
  await write.query('COMMIT')
  write.release()
  t.equal((await rotated).statusCode, 200)
  const opened = await as(test, { accept: 'text/html' })('POST', '/portal/open', {
    link: linkOf(made),
  })
  t.equal(opened.statusCode, 401)
  t.strictSame(opened.cookies, [])
})

t.test('only an operator with a fresh session, and never a token', async (t) => {
  const test = await build(t, settings)
  const { send, make } = await operatorOf(test)
  const { id } = await make()
  const admin = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, admin)
  const { token } = await addAppToken(test.database)
  const body = { name: 'x', permissions: ['event:publish'] }
  for (const other of [as(test, { cookie }), as(test, { authorization: `Bearer ${token}` })]) {
    for (const [method, url, sent] of [
      ['GET', '/app-tokens'],
      ['POST', '/app-tokens', body],
      ['GET', `/app-tokens/${id}`],
      ['PATCH', `/app-tokens/${id}`, { permissions: appPermissions }],
      ['POST', `/app-tokens/${id}/rotate-secret`],
      ['DELETE', `/app-tokens/${id}`],
    ] as const) {
      t.equal((await other(method, url, sent)).statusCode, 403, `${method} ${url}`)
    }
  }
  await authenticatedAgo(test, 301)
  for (const [method, url, sent] of [
    ['POST', '/app-tokens', body],
    ['PATCH', `/app-tokens/${id}`, { name: 'y' }],
    ['POST', `/app-tokens/${id}/rotate-secret`],
  ] as const) {
    t.match((await send(method, url, sent)).json(), {
      type: '/docs/errors/reauthentication-required',
    })
  }
  t.equal((await send('DELETE', `/app-tokens/${id}`)).statusCode, 204, 'revoking always works')
})

t.test('what is no app token is refused', async (t) => {
  const test = await build(t, settings)
  const { send, make } = await operatorOf(test)
  for (const body of [
    { permissions: [] },
    { permissions: ['post:read'] },
    { permissions: ['*'] },
    { permissions: ['event:publish', 'event:publish'] },
    { name: '' },
    { tenantId: crypto.randomUUID() },
    { expiresAt: '2020-01-01T00:00:00Z' },
    { expiresAt: new Date(Date.now() + 367 * 86_400_000).toISOString() },
  ]) {
    t.equal((await make(['event:publish'], body)).answer.statusCode, 400, JSON.stringify(body))
  }
  // Whatever the row says: names that are not in the policy permit nothing.
  const { use } = await make()
  await test.database.admin.query(
    `UPDATE app_tokens SET permissions = '{post:read,app-token:read,*,billing-event:read}'`,
  )
  for (const url of ['/posts', '/app-tokens', '/event-types', '/billing/events', '/me']) {
    t.equal((await use('GET', url)).statusCode, 403, url)
  }
  for (let count = 1; count < maxAppTokens; count += 1) await addAppToken(test.database)
  const { answer } = await make()
  t.equal(answer.statusCode, 409, answer.body)
  const expected = { 'if-match': '"other"' }
  const [first] = (await send('GET', '/app-tokens')).json().data
  const changed = await send('PATCH', `/app-tokens/${first.id}`, { name: 'y' }, expected)
  t.equal(changed.statusCode, 412)
})

t.test('an operator whom no worker has recorded yet reads what to do', async (t) => {
  const test = await build(t, settings)
  const { send, make } = await operatorOf(test)
  await test.database.admin.query('DELETE FROM operators')
  for (const answer of [(await make()).answer, await send('GET', '/app-tokens')]) {
    t.equal(answer.statusCode, 403, answer.body)
    t.equal(answer.json().detail, notRecordedYet)
  }
  t.equal((await test.database.admin.query('SELECT FROM app_tokens')).rowCount, 0)
})
