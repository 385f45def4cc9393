import t from 'tap'
import { testSettings } from '#dev/testing/settings.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { startProvider } from '#test/support/provider/sign-in-attempt.ts'

t.test('providers check says what to register, what is wrong and the remedy', async (t) => {
  const op = await startProvider(t)
  const urls = await createDatabase(t)
  const env = { ...testSettings(urls), OIDC_DEMO_ISSUER: op.issuer }
  op.fault = { metadata: { end_session_endpoint: `${op.issuer}/end` } }
  const good = await runProgram(t, ['providers', 'check', 'demo'], env)
  t.equal(await good.ended, 0, good.output())
  t.match(good.output(), /ok +demo \(http/)
  t.match(good.output(), 'Register as redirect URI: http://localhost:3000/auth/callback')
  t.match(good.output(), 'post-logout redirect URI: http://localhost:3000/auth/signed-out')
  t.match(good.output(), 'Tokens are revoked at sign-out: yes.')
  t.equal(op.calls.token, 0, 'no secret is sent')

  op.fault = { metadata: { userinfo_endpoint: null } }
  const withUserinfo = { ...env, OIDC_DEMO_USERINFO: 'true' }
  const lacking = await runProgram(t, ['providers', 'check'], withUserinfo)
  t.equal(await lacking.ended, 1)
  t.match(lacking.output(), /FAULT +demo .*\n.*Set OIDC_DEMO_USERINFO=false/)

  t.match(lacking.output(), /If userinfo cannot be read, .* people sign in without it/)
  t.notMatch(good.output(), 'cannot be read', 'nothing else is read')

  const github = await runProgram(t, ['providers', 'check', 'github'], {
    ...env,
    OIDC_PROVIDERS: 'github',
    OIDC_GITHUB_CLIENT_ID: 'client',
    OIDC_GITHUB_CLIENT_SECRET: 'secret',
    OIDC_GITHUB_REQUIRE: 'teams:7',
  })
  t.equal(await github.ended, 0, github.output())
  t.match(github.output(), /If \S+emails\S* cannot be read, .* without an address\./)
  t.match(github.output(), /If \S+teams\S* cannot be read, nobody signs in/)
  t.notMatch(github.output(), '/user/orgs')

  op.fault = { metadata: { issuer: 'https://another.example' } }
  const wrong = await runProgram(t, ['providers', 'check', '--json'], env)
  t.equal(await wrong.ended, 1)
  t.match(wrong.output(), /another issuer than the configured one.*Check OIDC_DEMO_ISSUER/)

  const unknown = await runProgram(t, ['providers', 'check', 'nobody'], env)
  t.equal(await unknown.ended, 1)
  t.match(unknown.output(), 'There is no such provider. OIDC_PROVIDERS has demo.')
})
