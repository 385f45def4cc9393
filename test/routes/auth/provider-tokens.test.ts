import t from 'tap'
import { randomPending } from '#src/auth/oidc/client.ts'
import { createProviders } from '#src/auth/oidc/clients.ts'
import { keyIdOf } from '#src/crypto/encryption.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import {
  createSignOutWorker,
  drain,
  openGrantAccess,
} from '#test/support/provider/provider-tokens.ts'
import {
  auditTrail,
  buildWithProvider,
  type Journey,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const stored = { OIDC_DEMO_STORE_TOKENS: 'true' }
const key = { provider: 'demo', subject: 'subject-1' }

async function journey(t: Parameters<typeof buildWithProvider>[0], settings = stored) {
  const test = await buildWithProvider(t, settings)
  test.op.fault = { offline: true }
  return { ...test, access: await openGrantAccess(t, test) }
}

async function count({ database }: Journey): Promise<unknown> {
  const { rows } = await database.admin.query(
    `SELECT (SELECT count(*)::int FROM provider_grants) AS grants,
            (SELECT count(*)::int FROM token_revocations) AS retired,
            (SELECT count(*)::int FROM pgboss.job WHERE name = 'revoke-grant') AS jobs`,
  )
  return rows[0]
}

t.test('without STORE_TOKENS no provider token is stored', async (t) => {
  const test = await journey(t, {} as typeof stored)
  t.equal((await signInThrough(test, { cookie: '' })).statusCode, 302)
  t.same(await count(test), { grants: 0, retired: 0, jobs: 0 })
})

t.test('with STORE_TOKENS a sign-in stores encrypted tokens and no id_token', async (t) => {
  const test = await journey(t)
  const response = await signInThrough(test, { cookie: '' })
  t.equal(response.statusCode, 302)
  const { rows } = await test.database.admin.query('SELECT * FROM provider_grants')
  t.equal(rows.length, 1)
  t.match(rows[0], { scope: 'openid email profile', status: 'active', generation: 1 })
  t.equal(keyIdOf(rows[0].access_token), 'test')
  t.equal(keyIdOf(rows[0].refresh_token), 'test')
  const { records } = test.op
  t.match(await test.access.accessToken(key), { accessToken: records.accessTokens[0] })
  const dump = await everything(test)
  for (const token of [...records.accessTokens, ...records.refreshTokens, 'eyJ']) {
    t.notOk(dump.includes(token), 'no table contains a token in plain text')
    t.notOk(test.log.join('').includes(token), 'nor does the log')
  }
})

t.test(
  'a NUL in the granted scope counts as no scope, which grants the requested one',
  async (t) => {
    const test = await journey(t)
    test.op.fault = { tokenBody: { scope: 'openid\0' } }
    t.equal((await signInThrough(test, { cookie: '' })).statusCode, 302)
    t.match(await test.access.accessToken(key), { scope: 'openid email profile' })
  },
)

t.test('a refused sign-in stores no token', async (t) => {
  const test = await journey(t)
  test.op.fault = { offline: true, claims: { nonce: 'x' } }
  t.equal((await signInThrough(test, { cookie: '' })).statusCode, 400)
  t.same(await count(test), { grants: 0, retired: 0, jobs: 0 })
})

t.test(
  'a new authorization replaces the granted scope; without one in the response it is the requested scope',
  async (t) => {
    const test = await journey(t)
    await signInThrough(test, { cookie: '' })
    test.op.fault = { offline: true, tokenBody: { scope: 'openid files' } }
    await signInThrough(test, { cookie: '' })
    t.match(await test.access.accessToken(key), { kind: 'token', scope: /^openid files$/ })
    test.op.fault = { offline: false }
    await signInThrough(test, { cookie: '' })
    const { rows } = await test.database.admin.query('SELECT * FROM provider_grants')
    t.match(rows[0], { scope: /^openid email profile$/ })
    t.ok(rows[0].refresh_token, 'a response without a refresh token keeps the stored one')
    t.same(await count(test), { grants: 1, retired: 1, jobs: 0 })
  },
)

t.test('the configured scopes are requested; offline_access with prompt=consent', async (t) => {
  const test = await journey(t)
  const request = (scopes: string) => {
    const configs = test.config.providers.map((config) => ({ ...config, scopes }))
    const provider = createProviders(configs, test.config).get('demo')
    return provider?.authorizationUrl(randomPending(), test.config.redirectUri)
  }
  const plain = await request('openid email profile')
  t.equal(plain?.searchParams.get('scope'), 'openid email profile')
  t.equal(plain?.searchParams.get('prompt'), null)
  const offline = await request('openid email  email offline_access')
  t.equal(offline?.searchParams.get('scope'), 'openid email offline_access', 'each scope once')
  t.equal(offline?.searchParams.get('prompt'), 'consent')
})

t.test('signing out ends the session and enqueues the revocation in one transaction', async (t) => {
  const test = await journey(t)
  const browser = { cookie: '' }
  await signInThrough(test, browser)
  await signInThrough(test, { cookie: '' })
  t.same(await count(test), { grants: 1, retired: 1, jobs: 0 })
  test.op.fault = { tokenBody: {}, metadataAnswer: 'hang' }
  const response = await visit(test.app, browser, '/auth/logout', { method: 'POST' })
  t.equal(response.statusCode, 204, 'the response does not wait for the provider')
  t.same(
    await count(test),
    { grants: 0, retired: 2, jobs: 2 },
    'including the tokens of older sign-ins',
  )
  t.same(await test.access.accessToken(key), { kind: 'none' }, 'not available any more')
  test.op.fault = {}
  const worker = createSignOutWorker(t, test)
  await drain(test, worker)
  t.same(new Set(test.op.records.revoked), new Set(test.op.records.refreshTokens))
  t.same(await count(test), { grants: 0, retired: 0, jobs: 2 })
  t.match((await auditTrail(test)).slice(-3), [
    'sign-out done own-request',
    'revoke-tokens done refresh_token',
    'revoke-tokens done refresh_token',
  ])
  const sent = test.op.requests.find(({ url }) => url === '/revoke')
  const form = new URLSearchParams(sent?.body.toString())
  t.equal(form.get('token_type_hint'), 'refresh_token')
  t.equal(form.get('client_id'), 'gatehouse-test', 'with client authentication')
})

t.test('ending the current session by its id revokes like signing out', async (t) => {
  const test = await journey(t)
  const browser = { cookie: '' }
  await signInThrough(test, browser)
  const elsewhere = { cookie: '' }
  await signInThrough(test, elsewhere)
  const end = async (isCurrent: boolean) => {
    const list = (await visit(test.app, browser, '/auth/sessions')).json()
    const { id } = list.data.find(({ current }: { current: boolean }) => current === isCurrent)
    const response = await visit(test.app, browser, `/auth/sessions/${id}`, { method: 'DELETE' })
    t.equal(response.statusCode, 204)
  }
  await end(false)
  t.same(await count(test), { grants: 1, retired: 1, jobs: 0 }, 'another one revokes nothing')
  await end(true)
  t.same(await count(test), { grants: 0, retired: 2, jobs: 2 })
})

t.test('if the sign-out fails no part of it is committed', async (t) => {
  const test = await journey(t)
  const browser = { cookie: '' }
  await signInThrough(test, browser)
  await test.database.admin.query('REVOKE INSERT ON audit_log FROM test_app')
  const response = await visit(test.app, browser, '/auth/logout', { method: 'POST' })
  t.equal(response.statusCode, 500)
  t.same(await count(test), { grants: 1, retired: 0, jobs: 0 })
  t.equal((await visit(test.app, browser, '/me')).statusCode, 200)
})

t.test('after a sign-out during a refresh the new tokens are revoked too', async (t) => {
  const test = await journey(t)
  const browser = { cookie: '' }
  await signInThrough(test, browser)
  await test.database.admin.query('UPDATE provider_grants SET expires_at = now()')
  const { records } = test.op
  records.duringRefresh = async () => {
    records.duringRefresh = undefined
    const response = await visit(test.app, browser, '/auth/logout', { method: 'POST' })
    t.equal(response.statusCode, 204, 'it does not wait for the refresh')
  }
  t.same(await test.access.accessToken(key), { kind: 'none' })
  await drain(test, createSignOutWorker(t, test))
  t.same(new Set(records.revoked), new Set(records.refreshTokens))
  t.equal(records.refreshTokens.length, 2)
})

t.test('a sign-in during a refresh replaces the grant, refreshed token superseded', async (t) => {
  const test = await journey(t)
  const browser = { cookie: '' }
  await signInThrough(test, browser)
  await test.database.admin.query('UPDATE provider_grants SET expires_at = now()')
  const { records } = test.op
  records.duringRefresh = async () => {
    records.duringRefresh = undefined
    t.equal((await signInThrough(test, browser)).statusCode, 302)
  }
  const got = await test.access.accessToken(key)
  t.match(got, { kind: 'token', accessToken: records.accessTokens[1] })
  await visit(test.app, browser, '/auth/logout', { method: 'POST' })
  await drain(test, createSignOutWorker(t, test))
  t.same(
    new Set(records.revoked),
    new Set(records.refreshTokens),
    'all three are revoked at sign-out',
  )
  t.equal(records.refreshTokens.length, 3)
})

/** Every row of every table except the queue's, as text. */
async function everything({ database }: Journey): Promise<string> {
  const { rows } = await database.admin.query<{ xml: string }>(
    // In base64 random bytes may look like the beginning of a token.
    `SELECT schema_to_xml('public', true, false, '')::text AS xml
     FROM set_config('xmlbinary', 'hex', true)`,
  )
  const { rows: jobs } = await database.admin.query('SELECT data FROM pgboss.job')
  const hex = await database.admin.query(
    `SELECT encode(access_token, 'escape') AS a, encode(refresh_token, 'escape') AS b FROM provider_grants`,
  )
  return JSON.stringify([rows, jobs, hex.rows])
}

t.test('unlinking an identity revokes its tokens', async (t) => {
  const test = await journey(t)
  const browser = { cookie: '' }
  await signInThrough(test, browser)
  const { rows } = await test.database.admin.query('SELECT user_id FROM oauth_identities')
  await addIdentity(test, Number(rows[0].user_id), 'another')
  const headers = { cookie: browser.cookie }
  const url = '/auth/identities/demo/subject-1'
  const response = await test.app.inject({ method: 'DELETE', url, headers })
  t.equal(response.statusCode, 204)
  t.same(await count(test), { grants: 0, retired: 1, jobs: 1 })
})
