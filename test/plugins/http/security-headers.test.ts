import Fastify from 'fastify'
import t, { type Test } from 'tap'
import securityHeaders from '#plugins/http/security-headers.ts'
import { buildWithProvider, openTab } from '#test/support/provider/sign-in-journey.ts'

async function answerOf(t: Test, https: boolean, formTargets: string[] = []) {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(securityHeaders, { https, formTargets })
  app.get('/', async () => 'done')
  app.get('/stored', async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').send('done'),
  )
  app.get('/broken', async () => {
    throw new Error('broken')
  })
  return async (url: string) => (await app.inject(url)).headers
}

t.test(
  'every response forbids foreign and inline scripts, framing, sniffing and referrers',
  async (t) => {
    const headersOf = await answerOf(t, true)
    for (const url of ['/', '/broken', '/missing']) {
      const headers = await headersOf(url)
      t.match(
        headers,
        {
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'referrer-policy': 'same-origin',
          'cross-origin-opener-policy': 'same-origin',
          'cross-origin-resource-policy': 'same-origin',
        },
        url,
      )
      const policy = String(headers['content-security-policy']).split(';')
      t.same(
        policy.sort(),
        [
          "base-uri 'none'",
          "default-src 'none'",
          "form-action 'self'",
          "frame-ancestors 'none'",
          "img-src 'self'",
          "script-src 'self'",
          "style-src 'self'",
        ],
        `${url}: no other origins, nothing inline`,
      )
    }
  },
)

t.test('every response has the version of the API, the date in its description', async (t) => {
  const headersOf = await answerOf(t, true)
  for (const url of ['/', '/broken', '/missing']) {
    t.match((await headersOf(url))['api-version'], /^20\d\d-[01]\d-[0-3]\d$/, url)
  }
  const { app } = await buildWithProvider(t)
  const { headers, body } = await app.inject('/openapi.json')
  t.equal(JSON.parse(body).info.version, headers['api-version'])
})

t.test('no response may be stored, unless its route allows it', async (t) => {
  const headersOf = await answerOf(t, true)
  for (const url of ['/', '/broken', '/missing']) {
    t.equal((await headersOf(url))['cache-control'], 'no-store', url)
  }
  t.equal((await headersOf('/stored'))['cache-control'], 'public, max-age=300')
})

t.test('the page of a provider is allowed once its metadata names it', async (t) => {
  const { app } = await buildWithProvider(t)
  const targets = async () => {
    const { headers } = await app.inject('/auth/signed-out')
    return /form-action ([^;]*)/.exec(String(headers['content-security-policy']))?.[1]?.split(' ')
  }
  const before = await targets()
  t.equal(before?.length, 2)
  for (let times = 0; times < 2; times++) app.allowFormTarget('a', 'https://sign-in.example')
  t.same((await targets())?.toSorted(), [...(before ?? []), 'https://sign-in.example'].toSorted())
  app.allowFormTarget('b', 'https://other.example')
  for (let n = 0; n < 3; n++) app.allowFormTarget('a', `https://sign-in-${n}.example`)
  const after = [...(before ?? []), 'https://sign-in-2.example', 'https://other.example']
  t.same((await targets())?.toSorted(), after.toSorted(), 'one of each provider')
})

t.test('a link to a provider whose page has another origin than its issuer', async (t) => {
  const { app, op } = await buildWithProvider(t)
  op.fault = { metadata: { authorization_endpoint: 'https://pages.example/authorize' } }
  const browser = { cookie: '' }
  const url = await openTab(app, browser)
  t.equal(url.origin, 'https://pages.example')
  const { headers } = await app.inject('/auth/signed-out')
  t.match(headers['content-security-policy'], /form-action 'self' https:\/\/pages\.example /)
})

t.test('HSTS is set for a year if the origin is https', async (t) => {
  const secure = await (await answerOf(t, true))('/')
  t.match(secure['strict-transport-security'], /^max-age=31536000/)
  const local = await (await answerOf(t, false))('/')
  t.notOk('strict-transport-security' in local)
})

t.test(
  'forms may submit only to our own pages and redirect to the identity providers',
  async (t) => {
    const headers = await (await answerOf(t, true, ['https://a.example', 'https://b.example']))('/')
    t.match(
      headers['content-security-policy'],
      /(^|;)form-action 'self' https:\/\/a\.example https:\/\/b\.example(;|$)/,
    )
  },
)
