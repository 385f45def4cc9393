import t, { type Test } from 'tap'
import { type CollectedRoute, collectRoutes } from '#dev/testing/access/collected-routes.ts'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'

type More = { query?: string; body?: string }
type Answer = { statusCode: number; headers: Record<string, unknown>; body: string }

/** RFC 9457 and contract 6. */
const problemMembers = ['type', 'title', 'status', 'detail', 'instance', 'errors']
/** Contract 4 and 5: the responses that are plain text. */
const literalTexts: Record<string, readonly string[]> = {
  '/auth/callback': ['bad state'],
  '/webhooks/billing': ['bad signature'],
}

/** The whole server, listening, and all its routes. */
async function serveWithRoutes(t: Test) {
  const { built, routes } = await collectRoutes(() => build(t))
  const origin = await built.app.listen({ host: '127.0.0.1', port: 0 })

  async function send(route: CollectedRoute, headers: Record<string, string>, more: More = {}) {
    const path =
      route.url.replace(':provider', 'demo').replace(/:\w+/g, '1').replace('*', 'x') +
      (more.query ?? '')
    const { method } = route
    const body = method === 'GET' || method === 'HEAD' ? null : (more.body ?? null)
    const answer = await fetch(origin + path, { method, headers, body, redirect: 'manual' })
    const answerHeaders = Object.fromEntries(answer.headers)
    return { statusCode: answer.status, headers: answerHeaders, body: await answer.text() }
  }
  return { ...built, routes, send }
}

/** Every error is a problem, unless the contract specifies a text. */
function checkRefusal(t: Test, answer: Answer, { method, url }: CollectedRoute): void {
  const name = `${method} ${url} ${answer.statusCode}`
  t.equal(answer.headers['cache-control'], 'no-store', name)
  if (literalTexts[url]?.includes(answer.body)) {
    t.match(answer.headers['content-type'], /^text\/plain/, name)
    return
  }
  t.match(answer.headers['content-type'], /^application\/problem\+json/, name)
  if (method === 'HEAD') return
  const problem = JSON.parse(answer.body)
  t.same(
    Object.keys(problem).filter((member) => !problemMembers.includes(member)),
    [],
    name,
  )
  t.match(problem, {
    type: /^\/docs\/errors\/[a-z-]+$/,
    title: String,
    status: answer.statusCode,
    instance: answer.headers['x-request-id'],
  })
}

t.test('the scopes and their guards match the reviewed snapshot', async (t) => {
  const limits = {
    RATE_LIMIT_SIGN_IN: '9/60',
    RATE_LIMIT_API: '9/60',
    RATE_LIMIT_WEBHOOKS: '9/60',
    RATE_LIMIT_LOGOUT: '9/60',
    RATE_LIMIT_VERIFY: '9/60',
    RATE_LIMIT_PUBLISH: '9/60',
  }
  const { app } = await build(t, limits)
  await app.ready()
  const routes = app.printRoutes({ includeHooks: true, commonPrefix: false })
  t.notMatch(routes, /anonymous|"\(\)"/, 'every hook has a name')
  t.matchSnapshot(routes.replaceAll(/ +$/gm, ''), 'routes and the hooks a request passes')
  t.matchSnapshot(pluginTree(app.printPlugins()), 'plugins by scope')
})

t.test('a read passes few hooks', async (t) => {
  const { app } = await build(t, { RATE_LIMIT_API: '9/60' })
  await app.ready()
  const printed = { method: 'GET', includeHooks: true, commonPrefix: false } as const
  const names = hooksOf(app.printRoutes(printed), 'orders', '/:id')
  t.ok(names.includes('requireIdentity()'), 'the guards are among them')
  t.ok(names.length <= 14, `${names.length} hooks: ${names.join(', ')}`)
})

/** The hooks of the route at these nodes of the printed tree. */
function hooksOf(printed: string, ...nodes: readonly string[]): string[] {
  const lines = printed.split('\n')
  const node = nodes.reduce(
    (after, name) => lines.findIndex((line, at) => at > after && line.includes(` ${name} (GET)`)),
    -1,
  )
  const below = lines.slice(node + 1)
  const end = below.findIndex((line) => !line.includes('•'))
  return below.slice(0, end).flatMap((line) => line.match(/\w+\(\)/g) ?? [])
}

/** Names and depth, without times and the entries that avvio adds for every `await`. */
function pluginTree(printed: string): string {
  const lines = printed.split('\n').map((line) => /^([│├└─┬ ]*)(.+?) \d+(?:\.\d+)? ms$/.exec(line))
  return lines
    .filter((line) => line !== null && line[2] !== 'bound _after')
    .map((line) => ' '.repeat(line?.[1]?.length ?? 0) + line?.[2])
    .join('\n')
}

t.test('every route states its access, and HEAD is off for /auth/*', async (t) => {
  const { routes, send } = await serveWithRoutes(t)
  t.ok(routes.length > 10, `${routes.length} routes`)
  for (const { method, url, access } of routes) {
    t.ok(access, `${method} ${url}`)
    t.notOk(method === 'HEAD' && url.startsWith('/auth/'), `${method} ${url}`)
    if (!url.startsWith('/auth/')) continue
    const head = await send({ method: 'HEAD', url, access }, {})
    t.equal(head.statusCode, 405, `HEAD ${url}`)
    t.notMatch(head.headers.allow, /HEAD/, `HEAD ${url}`)
  }
})

t.test('without valid credentials only public routes are served', async (t) => {
  const { routes, send } = await serveWithRoutes(t)
  const attempts: Record<string, string>[] = [
    {},
    { cookie: 'sid=made-up' },
    { cookie: 'sid=made.up; sid=twice' },
    { authorization: 'Bearer made-up' },
    { 'webhook-signature': 't=1,v1=00' },
  ]
  for (const route of routes.filter(({ access }) => access !== 'public')) {
    for (const attempt of attempts) {
      const answer = await send(route, { 'sec-fetch-site': 'same-origin', ...attempt })
      const name = `${route.method} ${route.url} ${JSON.stringify(attempt)}`
      t.equal(answer.statusCode, route.access === 'signature' ? 400 : 401, name)
      if (route.url.startsWith('/webhooks/')) t.equal(answer.body, 'bad signature', name)
      checkRefusal(t, answer, route)
    }
  }
})

t.test('every error of every route is a problem or the text of the contract', async (t) => {
  const { routes, send, config, database } = await serveWithRoutes(t)
  const { cookie } = await signIn({ config, database }, await createUser(database))
  const garbage = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  let refused = 0
  for (const route of routes) {
    for (const headers of [garbage, { ...garbage, cookie }]) {
      const answer = await send(route, headers, { query: '?no=such', body: '{' })
      if (answer.statusCode < 400) continue
      refused += 1
      checkRefusal(t, answer, route)
      t.notMatch(answer.body, /SELECT|node_modules|\.ts:|Prisma|ECONN/)
    }
  }
  t.ok(refused > 10, `${refused} refusals`)
})

t.test('no response to an authenticated request may be stored', async (t) => {
  const { routes, send, config, database } = await serveWithRoutes(t)
  const admin = await createUser(database, { role: 'admin' })
  const { cookie } = await signIn({ config, database }, admin)
  const reads = routes.filter(({ method, access }) => method === 'GET' && access !== 'signature')
  const documents = /^\/(assets\/|docs|openapi\.json|\.well-known\/)/
  let answered = 0
  for (const route of reads) {
    if (documents.test(route.url)) continue
    const answer = await send(route, { cookie })
    if (answer.statusCode < 400) answered += 1
    t.equal(answer.headers['cache-control'], 'no-store', `${route.url} ${answer.statusCode}`)
  }
  t.ok(answered > 20, `${answered} answers`)
})

t.test('an error before routing may not be stored', async (t) => {
  const { app } = await build(t)
  const answer = await app.inject('/orders/%zz')
  t.equal(answer.statusCode, 400)
  checkRefusal(t, answer, { method: 'GET', url: '/orders/%zz', access: 'public' })
})

t.test('an unknown route is a 404: a problem for API clients, a page for browsers', async (t) => {
  const { app } = await build(t)
  const url = '/%3Cscript%3Ealert(1)%3C/script%3E'
  const route = { method: 'GET', url, access: 'public' }
  for (const accept of ['application/json', '*/*']) {
    const answer = await app.inject({ url, headers: { accept } })
    t.equal(answer.statusCode, 404)
    checkRefusal(t, answer, route)
  }
  const page = await app.inject({ url, headers: { accept: 'text/html,application/xhtml+xml' } })
  t.equal(page.statusCode, 404)
  t.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  t.match(page.body, /^<!doctype html>/)
  t.notMatch(page.body, /<script(?! src="\/assets\/)/i)
  t.match(page.headers['content-security-policy'], /default-src 'none'/)
})

t.test('a signed-in route does not tell anonymous callers what exists', async (t) => {
  const { app } = await build(t)
  const [known, malformed] = await Promise.all(
    ['/orders/1', '/orders/x'].map((url) => app.inject(url)),
  )
  t.equal(known?.statusCode, 401)
  t.equal(malformed?.statusCode, 401)
})
