import t from 'tap'
import { collectRoutes } from '#dev/testing/access/collected-routes.ts'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { untilBlocked } from '#test/support/database/until.ts'

const tried = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** A path of the route, with parameters that no object has. */
const pathOf = (url: string) => url.replaceAll(/:\w+/g, '1')

const test = await build(t)

t.test('every known path answers every other method with 405 and Allow', async (t) => {
  const { built, routes } = await collectRoutes(() => build(t))
  const { app } = built
  await app.ready()
  const paths = [...new Set(routes.map(({ url }) => pathOf(url)))]
  t.ok(paths.length > 50, `${paths.length} paths`)
  let refused = 0
  for (const url of paths) {
    const options = await app.inject({ method: 'OPTIONS', url })
    t.equal(options.statusCode, 204, `OPTIONS ${url}`)
    t.equal(options.body, '')
    const allowed = String(options.headers.allow).split(', ')
    t.ok(allowed.includes('OPTIONS'), url)
    for (const method of tried.filter((one) => !allowed.includes(one))) {
      const answer = await app.inject({ method, url })
      refused += 1
      t.equal(answer.statusCode, 405, `${method} ${url}`)
      t.equal(answer.headers.allow, options.headers.allow, `${method} ${url}`)
      if (method === 'HEAD') continue
      const detail = `Methods of this path: ${answer.headers.allow}.`
      t.match(answer.json(), { type: '/docs/errors/method-not-allowed', status: 405, detail })
    }
  }
  t.ok(refused > 100, `${refused} refusals`)
})

t.test('Allow names exactly the methods of the routes', async (t) => {
  const { app } = test
  const expected = {
    '/orders': 'GET, HEAD, POST, OPTIONS',
    '/orders/1': 'GET, HEAD, PATCH, OPTIONS',
    '/billing/events/replay': 'GET, HEAD, POST, OPTIONS',
    '/auth/login': 'GET, OPTIONS',
    '/webhooks/billing': 'POST, OPTIONS',
    '/app/account': 'GET, HEAD, OPTIONS',
  }
  for (const [url, allow] of Object.entries(expected)) {
    const answer = await app.inject({ method: 'DELETE', url: `${url}?a=b` })
    t.equal(answer.headers.allow, allow, url)
  }
})

t.test('405 and OPTIONS tell nothing about objects or callers', async (t) => {
  const user = await createUser(test.database)
  const { cookie } = await signIn(test, user)
  const id = await createOrder(test.database, user)
  for (const method of ['DELETE', 'OPTIONS'] as const) {
    const answers = await Promise.all(
      [`/orders/${id}`, '/orders/999', '/orders/x'].flatMap((url) => [
        test.app.inject({ method, url }),
        test.app.inject({ method, url, headers: { cookie } }),
      ]),
    )
    const seen = answers.map(({ statusCode, headers, body }) =>
      JSON.stringify([statusCode, headers.allow, body.replace(/"instance":"[^"]+"/, '')]),
    )
    t.equal(new Set(seen).size, 1, method)
  }
})

t.test('the method is refused before the body is read, whatever it is', async (t) => {
  const { app } = test
  const bodies = [
    { 'content-type': 'application/json', payload: '{' },
    { 'content-type': 'text/csv', payload: 'a,b' },
    { 'content-type': 'application/json', payload: `"${'x'.repeat(300_000)}"` },
  ]
  for (const { payload, ...headers } of bodies) {
    const known = await app.inject({ method: 'PUT', url: '/orders', headers, payload })
    t.equal(known.statusCode, 405)
    const unknown = await app.inject({ method: 'PUT', url: '/no/such', headers, payload })
    t.equal(unknown.statusCode, 404)
  }
})

t.test('an unknown path is 404 for every method, OPTIONS included', async (t) => {
  const { app } = test
  for (const method of [...tried, 'OPTIONS'] as const) {
    for (const url of ['/no/such', '/orders/1/2', '/Orders']) {
      const answer = await app.inject({ method, url })
      t.equal(answer.statusCode, 404, `${method} ${url}`)
      t.notOk('allow' in answer.headers)
    }
  }
})

t.test('a browser gets the 404 of an unknown path with links to go on from', async (t) => {
  const support = 'https://help.example/'
  const { app } = await build(t, { BRAND_SUPPORT_URL: support })
  const open = (url: string, cookie?: string) =>
    app.inject({ url, headers: { accept: 'text/html', ...(cookie && { cookie }) } })
  const { body, statusCode } = await open('/no/such')
  t.equal(statusCode, 404)
  for (const href of ['/', '/docs', '/auth/login', support]) t.match(body, `href="${href}"`)
  for (const href of ['/', '/docs']) t.equal((await open(href)).statusCode, 200, href)
  t.match((await open('/no/such', 'sid=not-verified')).body, 'href="/app/account"')
})

t.test('two error pages at a time look for their viewer; a further one does without', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { email: 'vic@acme.example' })
  const { cookie } = await signIn(test, user)
  const open = async () =>
    (await test.app.inject({ url: '/no/such', headers: { accept: 'text/html', cookie } })).body
  t.match(await open(), 'vic@acme.example')
  const holder = await test.database.admin.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE')
  const waiting = Promise.all([open(), open()])
  await untilBlocked(test.database)
  t.notMatch(await open(), 'vic@acme.example')
  t.notMatch(test.log.join(''), 'viewer of an error page', 'nobody has given up waiting')
  await holder.query('COMMIT')
  for (const body of await waiting) t.match(body, 'vic@acme.example')
  t.match(await open(), 'vic@acme.example', 'there is room again')
})

t.test('error pages keep the frame of who is signed in', async (t) => {
  const test = await build(t, { RATE_LIMIT_API: '6/60' })
  const { database } = test
  const viewer = await createUser(database, { role: 'viewer', email: 'vic@acme.example' })
  await database.admin.query(`UPDATE tenants SET name = 'Acme Ltd' WHERE id = $1`, [
    viewer.tenantId,
  ])
  const { cookie } = await signIn(test, viewer)
  const open = (url: string, cookies = cookie) =>
    test.app.inject({ url, headers: { accept: 'text/html', cookie: cookies } })
  const refusals = [
    ['/no/such', 404], // no route
    ['/orders/999', 404], // a route of the API
    ['/app/orders/999', 404],
    ['/app/tenant', 403],
    ['/app/orders/x', 400],
  ] as const
  for (const [url, status] of refusals) {
    const { statusCode, body } = await open(url)
    t.equal(statusCode, status, url)
    t.match(body, 'Acme Ltd', url)
    t.match(body, 'vic@acme.example', url)
    t.match(body, 'aria-label="Pages"', url)
    t.notMatch(body, 'href="/app/audit"', url)
  }
  await open('/app/orders')
  await open('/app/orders')
  const limited = await open('/app/orders')
  t.equal(limited.statusCode, 429)
  t.match(limited.body, 'Acme Ltd')

  await database.admin.query('DELETE FROM sessions WHERE user_id = $1', [viewer.userId])
  const ended = await open('/no/such')
  t.equal(ended.statusCode, 404)
  t.notMatch(ended.body, /Acme Ltd|vic@acme/)
})

t.test('an error of the API asks the database no second time', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, user)
  let asked = 0
  const { read } = test.app.db
  test.app.db.read = ((...of: Parameters<typeof read>) => {
    asked += 1
    return read(...of)
  }) as typeof read
  const ask = async (url: string, accept: string) => {
    asked = 0
    await test.app.inject({ url, headers: { accept, cookie } })
    return asked
  }
  t.equal(await ask('/no/such', 'application/json'), 0)
  t.equal(await ask('/orders/999', 'application/json'), 1)
  t.equal(await ask('/no/such', 'text/html'), 1)
  t.equal(await ask('/app/orders/999', 'text/html'), 1)
})

t.test('a browser gets 405 as a page', async (t) => {
  const { app } = test
  const answer = await app.inject({
    method: 'POST',
    url: '/app/account',
    headers: { accept: 'text/html' },
  })
  t.equal(answer.statusCode, 405)
  t.match(answer.headers['content-type'], /^text\/html/)
})

t.test('other methods count for the rate limit', async (t) => {
  const { app } = await build(t, { RATE_LIMIT_API: '2/60' })
  const statuses: number[] = []
  for (const method of ['PUT', 'OPTIONS', 'PUT'] as const) {
    statuses.push((await app.inject({ method, url: '/orders' })).statusCode)
  }
  t.same(statuses, [405, 204, 429])
})

t.test('a slash too many is named, whatever object the path is about', async (t) => {
  const ask = async (url: string) => (await test.app.inject({ method: 'GET', url })).json()
  t.match(await ask('/orders/7/?a=b'), {
    status: 404,
    detail: 'No path ends with a slash: /orders/7',
  })
  for (const url of ['/unknown/', '/unknown/7/']) {
    t.notMatch((await ask(url)).detail ?? '', 'slash', url)
  }
})
