import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const origin = 'https://app.example.com'
const corsHeaders = (headers: object) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'))

async function buildFor(t: Test, origins = `${origin}, https://other.example.com:8443`) {
  return build(t, { CORS_ORIGINS: origins })
}

/** A preflight as a browser sends it (Fetch standard): without cookies or tokens. */
const preflight = (url: string, from = origin, method = 'POST') => ({
  method: 'OPTIONS' as const,
  url,
  headers: {
    origin: from,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type',
  },
})

t.test('off by default: no header, and no Vary', async (t) => {
  const { app } = await build(t)
  for (const request of [preflight('/orders'), { url: '/me', headers: { origin } }]) {
    const answer = await app.inject(request)
    t.same(corsHeaders(answer.headers), [])
    t.notMatch(answer.headers.vary, /origin/)
  }
})

t.test('a listed origin may read responses to a token, errors included', async (t) => {
  const test = await buildFor(t)
  const { token } = await (await owner(test)).make()
  const read = await test.app.inject({
    url: '/me',
    headers: { origin, authorization: `Bearer ${token}` },
  })
  t.equal(read.statusCode, 200)
  t.equal(read.headers['access-control-allow-origin'], origin)
  t.match(read.headers.vary, /\borigin\b/)
  t.match(read.headers['access-control-expose-headers'], /\blink\b.*\bratelimit\b/)
  for (const url of ['/orders/1', '/no/such']) {
    const answer = await test.app.inject({ url, headers: { origin } })
    t.ok(answer.statusCode >= 400)
    t.equal(answer.headers['access-control-allow-origin'], origin)
    t.match(answer.headers.vary, /\borigin\b.*\baccept\b/)
  }
})

t.test('an origin that is not listed gets nothing, byte for byte', async (t) => {
  const { app } = await buildFor(t)
  const others = [
    'https://evil.example',
    'null',
    'http://app.example.com',
    'https://app.example.com:444',
    'https://app.example.com.evil.example',
    'https://APP.example.com',
    `${origin}, ${origin}`,
    '*',
  ]
  for (const other of others) {
    for (const request of [
      preflight('/orders', other),
      { url: '/me', headers: { origin: other } },
    ]) {
      const answer = await app.inject(request)
      t.same(corsHeaders(answer.headers), [], other)
      t.match(answer.headers.vary, /\borigin\b/, other)
    }
  }
})

t.test('a preflight is 204 with the methods of the path; a missing route is 404', async (t) => {
  const { app } = await buildFor(t)
  const known = await app.inject(preflight('/orders/1', origin, 'PATCH'))
  t.equal(known.statusCode, 204)
  t.equal(known.headers['access-control-allow-methods'], 'GET, HEAD, PATCH')
  t.match(known.headers['access-control-allow-headers'], /authorization, content-type/)
  t.equal(known.headers['access-control-max-age'], '7200')
  const missing = await app.inject(preflight('/no/such'))
  t.equal(missing.statusCode, 404)
  t.notOk('access-control-allow-methods' in missing.headers)
  t.match(missing.json(), { type: '/docs/errors/not-found' })
})

t.test('cookies are never allowed from another origin', async (t) => {
  const test = await buildFor(t)
  const { cookie } = await signIn(test, await createUser(test.database, { role: 'editor' }))
  const headers = { origin, cookie, 'sec-fetch-site': 'cross-site' }
  const write = await test.app.inject({
    method: 'POST',
    url: '/posts',
    headers,
    payload: { title: 'a', body: 'b' },
  })
  t.equal(write.statusCode, 403)
  t.match(write.json(), { type: '/docs/errors/cross-origin' })
  const read = await test.app.inject({ url: '/me', headers })
  for (const answer of [write, read, await test.app.inject(preflight('/posts'))]) {
    t.notOk('access-control-allow-credentials' in answer.headers)
  }
})
