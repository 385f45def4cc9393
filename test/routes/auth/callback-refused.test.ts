import t from 'tap'
import type { Faults } from '#test/hostile-provider.ts'
import { corruptSignature, makeKey } from '#test/hostile-tokens.ts'
import {
  accounts,
  auditTrail,
  buildWithProvider,
  comeBack,
  openTab,
  signInThrough,
  visit,
} from '#test/sign-in-journey.ts'

const stranger = await makeKey('RS256', 'rsa-1')

const refused: [string, Partial<Faults>, string][] = [
  ['another issuer in the response', { callback: { iss: 'https://evil.example' } }, 'iss-mismatch'],
  [
    'an error of the provider',
    { callback: { error: 'access_denied', code: undefined } },
    'provider-error',
  ],
  ['no code', { callback: { code: undefined } }, 'code-missing'],
  ['a code of somebody else', { callback: { code: 'stolen' } }, 'exchange-rejected'],
  ['a broken signature', { idToken: corruptSignature }, 'id-token-signature'],
  ['a stranger’s key', { signingKey: stranger }, 'id-token-signature'],
  ['alg none', { idToken: unsigned }, 'id-token-algorithm'],
  ['another nonce', { claims: { nonce: 'other' } }, 'id-token-nonce'],
  ['another audience', { claims: { aud: 'other' } }, 'id-token-audience'],
  ['another issuer', { claims: { iss: 'https://evil.example' } }, 'id-token-issuer'],
  ['an expired token', { claims: { exp: 1 } }, 'id-token-expired'],
  ['no subject', { claims: { sub: undefined } }, 'id-token-subject'],
  ['no id_token', { tokenBody: { id_token: undefined } }, 'id-token-missing'],
]

t.test('whatever is wrong with the answer, nobody is signed in and nothing changes', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op, log } = journey
  const browser = { cookie: '' }
  await openTab(app, browser)
  const before = await accounts(journey)
  for (const [name, fault, reason] of refused) {
    op.fault = fault
    const trail = (await auditTrail(journey)).length
    const cookie = browser.cookie
    const parameters = op.approve(await openTab(app, browser))
    const response = await comeBack(app, browser, parameters)
    t.equal(response.statusCode, 400, name)
    t.match(response.json(), { type: 'urn:gatehouse:problem:sign-in-refused', status: 400 }, name)
    t.strictSame((await auditTrail(journey)).slice(trail), [`sign-in refused ${reason}`], name)
    t.equal(browser.cookie, cookie, `${name}: the session is the one from before`)
    const secrets = [parameters.get('code'), parameters.get('state'), 'secret_of_the_client']
    for (const secret of secrets) t.notMatch(log.join(''), secret ?? 'none', `${name}: not logged`)
  }
  t.strictSame(await accounts(journey), before)
  t.equal((await visit(app, browser, '/me')).statusCode, 401)

  op.fault = {}
  t.equal((await signInThrough(journey, browser)).statusCode, 302, 'an honest one still works')
  t.equal((await visit(app, browser, '/me')).statusCode, 200)
})

t.test('a person in a browser gets a page with one thing to do', async (t) => {
  const { app, op } = await buildWithProvider(t)
  const browser = { cookie: '' }
  op.fault = { claims: { nonce: 'other' } }
  const parameters = op.approve(await openTab(app, browser))
  const response = await visit(app, browser, `/auth/callback?${parameters}`, {
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  t.equal(response.statusCode, 400)
  t.match(response.headers['content-type'], /^text\/html; charset=utf-8/)
  t.match(response.body, /<h1>The sign-in was refused<\/h1>/)
  t.notMatch(response.body, /nonce/)
})

t.test('a provider that breaks off during the exchange is a 503', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op } = journey
  const browser = { cookie: '' }
  op.fault = { token: 'reset' }
  const response = await signInThrough(journey, browser)
  t.equal(response.statusCode, 503)
  t.match(response.headers['retry-after'], /^\d+$/)
  t.strictSame(await auditTrail(journey), ['sign-in unavailable network'])
  op.fault = {}
  t.equal((await signInThrough(journey, browser)).statusCode, 302)
  t.equal((await visit(app, browser, '/me')).statusCode, 200)
})

function unsigned(token: string): string {
  const [, payload] = token.split('.')
  const header = Buffer.from('{"alg":"none"}').toString('base64url')
  return `${header}.${payload}.`
}
