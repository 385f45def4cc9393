import t from 'tap'
import { startProvider } from '#dev/demo/provider.ts'
import { newProviderBrowser } from '#dev/testing/provider-browser.ts'
import { people } from '#src/commands/development/sample/people.ts'
import { build } from '#test/support/app/app.ts'
import {
  createSignOutWorker,
  drain,
  openGrantAccess,
} from '#test/support/provider/provider-tokens.ts'
import { auditTrail, comeBack, openTab, visit } from '#test/support/provider/sign-in-journey.ts'

t.test('with the certified provider: sign-in, refresh, sign-out and revocation', async (t) => {
  const secret = 'a secret of some length'
  const provider = await startProvider({
    port: 0,
    clientId: 'gatehouse-test',
    clientSecret: secret,
    redirectUris: ['http://localhost:3000/auth/callback'],
    postLogoutRedirectUris: ['http://localhost:3000/'],
    people,
  })
  t.teardown(() => provider.stop())
  const test = await build(t, {
    OIDC_DEMO_ISSUER: provider.issuer,
    OIDC_DEMO_CLIENT_SECRET: secret,
    OIDC_DEMO_SCOPES: 'openid email profile offline_access',
    OIDC_DEMO_STORE_TOKENS: 'true',
    OIDC_DEMO_USERINFO: 'true',
  })
  const browser = { cookie: '' }
  const request = await openTab(test.app, browser)
  t.equal(request.searchParams.get('prompt'), 'consent')
  const callback = await newProviderBrowser().signIn(request, 'ada')
  const response = await comeBack(test.app, browser, callback.searchParams)
  t.equal(response.statusCode, 302, String(await auditTrail(test)))
  t.match((await visit(test.app, browser, '/me')).json(), { user: { email: 'ada@acme.example' } })

  const key = { provider: 'demo', subject: 'ada' }
  const access = await openGrantAccess(t, test)
  const first = await access.accessToken(key)
  if (first.kind !== 'token') throw new Error(first.kind)
  await test.database.admin.query('UPDATE provider_grants SET expires_at = now()')
  const second = await access.accessToken(key)
  if (second.kind !== 'token') throw new Error(second.kind)
  t.not(second.accessToken, first.accessToken)
  const ask = (token: string) =>
    fetch(`${provider.issuer}/me`, { headers: { authorization: `Bearer ${token}` } })
  t.match(await (await ask(second.accessToken)).json(), { sub: 'ada' })

  await visit(test.app, browser, '/auth/logout', { method: 'POST' })
  t.same(await drain(test, createSignOutWorker(t, test)), ['revoked'])
  t.equal((await ask(second.accessToken)).status, 401, 'the provider has revoked the tokens')
  t.same(await auditTrail(test), [
    'sign-in done create',
    'refresh-tokens done refreshed',
    'sign-out done own-request',
    'revoke-tokens done refresh_token',
  ])
})
