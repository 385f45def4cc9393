import t from 'tap'
import { randomToken } from '#src/crypto/hash.ts'
import { portalCookie } from '#src/http/headers/portal-cookie.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { cookieOf, portalOwner, portalVisitor } from '#test/support/callers/portal.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

const framing = { PORTAL_FRAME_ORIGINS: 'https://app.example.com,https://b.example' }
const forFrame = {
  ...{ 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' },
  referer: 'https://app.example.com/',
}

const get = ({ app }: TestApp, link: string, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'GET',
    url: `/portal/open?link=${link}`,
    headers: { accept: 'text/html', ...headers },
  })

t.test('a link opens a session of one hour, once, with a cookie of its own', async (t) => {
  const { user, app, makeLink, openLink } = await portalOwner(test)
  const link = await makeLink()
  const opened = await openLink(link)
  t.equal(opened.statusCode, 303, opened.body)
  t.equal(opened.headers.location, '/portal/webhooks', 'without the link')
  t.match(opened.cookies, [
    {
      ...{ name: portalCookie, maxAge: 3_600, path: '/', httpOnly: true },
      ...{ secure: true, sameSite: 'None', partitioned: true },
    },
  ])
  t.match(portalCookie, /^__Host-/)
  t.notMatch(String(opened.headers['set-cookie']), link)
  const again = await openLink(link)
  t.equal(again.statusCode, 401)
  t.match(again.body, 'Open it again from the app')
  t.notMatch(again.body, '/auth/login')
  t.strictSame(again.cookies, [])
  const visitor = portalVisitor(test, cookieOf(opened))
  const page = await visitor.open('/portal/events')
  t.equal(page.statusCode, 200, page.body)
  t.match(page.body, `Tenant ${user.tenantId.slice(0, 8)}`)
  t.match(page.body, 'href="/portal/webhooks"')
  t.notMatch(page.body, /href="\/(app|auth|docs|")/, 'no other page')
  const { rows } = await test.database.admin.query(
    `SELECT action, service_id AS id FROM audit_log WHERE action = 'portal-link-open'`,
  )
  t.strictSame(rows, [{ action: 'portal-link-open', id: app.id }])
  t.notMatch(test.log.join('\n'), link)
  t.notMatch(test.log.join('\n'), cookieOf(opened))
})

t.test('outside of a frame a button opens the link, so that no scanner uses it up', async (t) => {
  const test = await build(t, framing)
  const { makeLink, openLink } = await portalOwner(test)
  const link = await makeLink()
  for (const headers of [
    {},
    { 'sec-fetch-dest': 'document' },
    { ...forFrame, 'sec-purpose': 'prefetch' },
    { ...forFrame, referer: 'https://blog.example.com/' },
    { ...forFrame, referer: '' },
  ]) {
    const page = await get(test, link, headers)
    t.equal(page.statusCode, 200)
    t.strictSame(page.cookies, [])
    t.match(page.body, `<input type="hidden" name="link" value="${link}">`)
    t.equal(page.headers['referrer-policy'], 'no-referrer')
  }
  t.equal(
    (await test.app.inject({ method: 'HEAD', url: `/portal/open?link=${link}` })).statusCode,
    405,
  )
  t.equal((await get(test, 'x')).statusCode, 400)
  t.equal((await openLink(link)).statusCode, 303)
})

t.test('a link that was made up, or is of no more use, costs no write', async (t) => {
  const test = await build(t, framing)
  const { makeLink, openLink } = await portalOwner(test)
  const [live, used, expired] = [await makeLink(), await makeLink(), await makeLink()]
  t.equal((await openLink(used)).statusCode, 303)
  await test.database.admin.query(
    'UPDATE portal_sessions SET expires_at = now() WHERE hash = sha256(sha256($1))',
    [Buffer.from(expired)],
  )
  const { write } = test.app.db
  let writes = 0
  const counted: typeof write = (entry, work) => {
    writes += 1
    return write(entry, work)
  }
  Object.assign(test.app.db, { write: counted })
  for (const link of [used, expired, ...Array.from({ length: 20 }, () => randomToken())]) {
    const refused = [await openLink(link), await get(test, link, forFrame)]
    for (const { statusCode, body } of refused) {
      t.equal(statusCode, 401)
      t.match(body, 'Open it again from the app')
    }
  }
  t.equal((await openLink('x'.repeat(42))).statusCode, 400)
  t.equal(writes, 0)
  t.equal((await openLink(live)).statusCode, 303)
  t.equal(writes, 1)
})

t.test('a link that was used says so instead of offering to open it, and leads back', async (t) => {
  const oneApp = await build(t, { PORTAL_FRAME_ORIGINS: 'https://app.example.com' })
  for (const [test, back] of [
    [oneApp, '<a class="button" href="https://app.example.com">Back to app.example.com</a>'],
    [await build(t, framing), null],
  ] as const) {
    const { makeLink, openLink } = await portalOwner(test)
    const link = await makeLink()
    const opened = await openLink(link)
    const used = await get(test, link)
    t.equal(used.statusCode, 401)
    t.match(used.body, 'This link was used already')
    t.notMatch(used.body, /<button|\/auth\/login/)
    if (back === null) t.notMatch(used.body, 'class="button"')
    else t.match(used.body, back)
    const cookie = `${portalCookie}=${cookieOf(opened)}`
    const again = await get(test, link, { cookie })
    t.equal(again.statusCode, 401)
    t.match(again.body, '<a class="button" href="/portal/webhooks">Back to the webhooks</a>')
  }
})

t.test('no other site opens a link in a browser, with or without a session there', async (t) => {
  const test = await build(t, framing)
  const { makeLink } = await portalOwner(test)
  const link = await makeLink()
  for (const site of ['cross-site', 'same-site']) {
    const sent = await test.app.inject({
      method: 'POST',
      url: '/portal/open',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': site },
      payload: `link=${link}`,
    })
    t.equal(sent.statusCode, 403, site)
    t.strictSame(sent.cookies, [])
  }
})

t.test('a frame opens the link at once, if any page may have one', async (t) => {
  const test = await build(t, framing)
  const { makeLink } = await portalOwner(test)
  const link = await makeLink()
  const url = `${link}&theme=dark`
  const opened = await get(test, url, forFrame)
  t.equal(opened.statusCode, 303)
  t.equal((await get(test, url, forFrame)).statusCode, 401, 'once')
  const page = await portalVisitor(test, cookieOf(opened)).open('/portal/events')
  t.match(page.body, '<html lang="en" data-theme="dark">')
  const closed = await build(t)
  const { makeLink: make } = await portalOwner(closed)
  t.equal((await get(closed, await make(), forFrame)).statusCode, 200, 'otherwise not')
})

t.test('pages of the portal may be framed by exactly the origins of the setting', async (t) => {
  const listed = await build(t, framing)
  const { enter, makeLink } = await portalOwner(listed)
  const visitor = await enter()
  const ancestors = (answer: { headers: Record<string, unknown> }) =>
    /frame-ancestors ([^;]*)/.exec(String(answer.headers['content-security-policy']))?.[1]
  for (const answer of [
    await visitor.open('/portal/events'),
    await visitor.open('/portal/events/x.y'),
    await get(listed, await makeLink()),
    await listed.app.inject({ url: '/portal/events' }),
  ]) {
    t.equal(ancestors(answer), 'https://app.example.com https://b.example')
    t.equal(answer.headers['x-frame-options'], undefined)
    t.equal(answer.headers['referrer-policy'], 'no-referrer')
  }
  for (const url of ['/', '/app/events', '/me', '/auth/login', '/docs', '/portal', '/portal/x']) {
    const answer = await listed.app.inject({ url, headers: { accept: 'text/html' } })
    t.equal(ancestors(answer), "'none'", url)
    t.equal(answer.headers['x-frame-options'], 'DENY')
  }
  const unlisted = test
  const other = await (await portalOwner(unlisted)).enter()
  t.equal(ancestors(await other.open('/portal/events')), "'none'", 'without any, by none')
})

t.test('a session ends with its hour, its app token or its secret, and its tenant', async (t) => {
  const { database } = test
  for (const end of [
    'UPDATE portal_sessions SET expires_at = now()',
    'DELETE FROM app_tokens WHERE id IN (SELECT app_token_id FROM portal_sessions)',
    `UPDATE app_tokens SET permissions = '{event:publish}'`,
    'UPDATE app_tokens SET secret_rotated_at = clock_timestamp()',
    'SELECT close_tenant(tenant_id) FROM portal_sessions',
  ]) {
    const { enter } = await portalOwner(test)
    const visitor = await enter()
    t.equal((await visitor.open('/portal/events')).statusCode, 200)
    await database.admin.query(end)
    const page = await visitor.open('/portal/events')
    t.equal(page.statusCode, 401, end)
    t.match(page.body, 'This page has been closed')
    t.notMatch(page.body, /href="\/(app|auth)/, 'and leads nowhere else')
    await database.admin.query('DELETE FROM portal_sessions')
  }
})

t.test('a session is of no use elsewhere, and no other credential is in the portal', async (t) => {
  const { enter, app } = await portalOwner(test)
  const { cookie, request } = await enter()
  for (const url of [
    '/me',
    '/tenants',
    '/webhook-endpoints',
    '/app/webhooks',
    '/users',
    '/events',
  ]) {
    const answer = await test.app.inject({ url, headers: { cookie } })
    t.equal(answer.statusCode, 401, url)
  }
  const value = cookie.split('=')[1] ?? ''
  for (const headers of [{ cookie: `sid=${value}` }, { authorization: `Bearer ${value}` }]) {
    t.equal((await test.app.inject({ url: '/me', headers })).statusCode, 401)
  }
  const authorization = `Bearer ${app.token}`
  const answer = await test.app.inject({ url: '/portal/events', headers: { authorization } })
  t.equal(answer.statusCode, 401, 'nor a token')
  t.equal((await request('GET', '/portal/events', undefined, { authorization })).statusCode, 200)
  for (const made of ['', 'x', 'a'.repeat(43), `${'a'.repeat(43)}.blue`]) {
    const url = '/portal/events'
    const headers = { cookie: `${portalCookie}=${made}` }
    t.equal((await test.app.inject({ url, headers })).statusCode, 401)
  }
})
