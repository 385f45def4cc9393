import Fastify from 'fastify'
import fp from 'fastify-plugin'
import t from 'tap'
import credential from '#plugins/access/credential.ts'
import errors from '#plugins/http/errors.ts'
import type { Credential } from '#src/auth/sessions/enter.ts'

const baseUrl = 'https://app.example.com'
const appOrigin = 'https://front.example.com'
const safe = ['GET', 'HEAD', 'OPTIONS'] as const
const unsafe = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
const origins = {
  own: { origin: baseUrl },
  foreign: { origin: 'https://evil.example' },
  'own with another port': { origin: `${baseUrl}:8443` },
  'own as a prefix': { origin: `${baseUrl}.evil.example` },
  'of the app': { origin: appOrigin },
  'of the app with another port': { origin: `${appOrigin}:8443` },
  'of the app with another scheme': { origin: 'http://front.example.com' },
  'of the app as a prefix': { origin: `${appOrigin}.evil.example` },
  'of the app twice': { origin: `${appOrigin}, ${appOrigin}` },
  null: { origin: 'null' },
  absent: {},
}
const sites = ['same-origin', 'none', 'same-site', 'cross-site', '', 'absent'] as const

const names = Object.keys(origins)

/** What becomes of an unsafe request with a cookie (contract 8). */
const passes: Record<(typeof sites)[number], readonly string[]> = {
  'same-origin': names,
  none: names,
  'same-site': [],
  'cross-site': [],
  '': [],
  absent: ['own', 'absent'],
}

/** Replaces the session plugin: every request has this credential. */
function sessionOf(credential: Credential | null) {
  return fp(
    async function session(app) {
      app.decorateRequest('readSessionCookie', () => credential)
    },
    { name: 'session' },
  )
}

const app = Fastify()
await app.register(errors)
await app.register(sessionOf(null))
await app.register(credential, { baseUrl })
app.route({ method: [...safe, ...unsafe], url: '/', handler: async () => 'done' })
app.route({
  method: [...safe, ...unsafe],
  url: '/of-the-app',
  config: { appOrigins: [appOrigin] },
  handler: async () => 'done',
})
t.teardown(() => app.close())

for (const site of sites) {
  for (const [origin, originHeader] of Object.entries(origins)) {
    const headers = { ...originHeader, ...(site === 'absent' ? {} : { 'sec-fetch-site': site }) }
    t.test(`Sec-Fetch-Site "${site}", Origin ${origin}`, async (t) => {
      const passing = passes[site].includes(origin)
      const passingForApp =
        passing || (origin === 'of the app' && (site === 'same-site' || site === 'absent'))
      for (const method of unsafe) {
        const withCookie = { ...headers, cookie: 'sid=1' }
        const judged = await app.inject({ method, url: '/', headers: withCookie })
        t.equal(judged.statusCode, passing ? 200 : 403, `${method} with a cookie`)
        const marked = await app.inject({ method, url: '/of-the-app', headers: withCookie })
        t.equal(marked.statusCode, passingForApp ? 200 : 403, `${method} on a route of the app`)
        const bare = await app.inject({ method, url: '/', headers })
        t.equal(bare.statusCode, 200, `${method} without a cookie`)
      }
      for (const method of safe) {
        const answer = await app.inject({
          method,
          url: '/',
          headers: { ...headers, cookie: 'a=1' },
        })
        t.equal(answer.statusCode, 200, `${method} with a cookie`)
      }
    })
  }
}

t.test('the refusal is a problem of its own', async (t) => {
  const headers = { cookie: 'sid=1', 'sec-fetch-site': 'cross-site' }
  const answer = await app.inject({ method: 'POST', url: '/', headers })
  t.match(answer.json(), { type: '/docs/errors/cross-origin', status: 403 })
})

t.test('a doubled Sec-Fetch-Site is not believed', async (t) => {
  const headers = { cookie: 'sid=1', 'sec-fetch-site': ['same-origin', 'cross-site'] }
  const answer = await app.inject({ method: 'POST', url: '/', headers })
  t.equal(answer.statusCode, 403)
})

t.test('a bearer token is exempt, another scheme is not', async (t) => {
  const ask = async (authorization: string) => {
    const headers = { cookie: 'a=1', 'sec-fetch-site': 'cross-site', authorization }
    return (await app.inject({ method: 'POST', url: '/', headers })).statusCode
  }
  for (const value of ['Bearer x', 'bearer x', 'Bearer']) t.equal(await ask(value), 200, value)
  const others = ['Basic x', 'Bearerx', 'Bearer-x', 'Bearer=x', 'Bearer,x', 'x Bearer', '']
  for (const value of others) t.equal(await ask(value), 403, value)
})

t.test('a request from another site has no credential, even before it is refused', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors)
  await app.register(sessionOf({ kind: 'session', hash: Buffer.from('x') }))
  await app.register(credential, { baseUrl })
  const seen: unknown[] = []
  app.addHook('onRequest', async function look({ credential }) {
    seen.push(credential)
  })
  app.post('/', async () => 'done')
  const headers = { cookie: 'sid=1', 'sec-fetch-site': 'cross-site' }
  t.equal((await app.inject({ method: 'POST', url: '/', headers })).statusCode, 403)
  t.strictSame(seen, [null])
})
