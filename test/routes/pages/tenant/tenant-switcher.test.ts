import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

/** An admin of one tenant who has another role in a second, and is no member of a third. */
async function setUp(role: string) {
  const user = await createUser(test.database, { role: 'admin', email: 'ada@acme.example' })
  const other = await createUser(test.database, { role: 'admin' })
  const third = await createUser(test.database, { role: 'admin' })
  await test.database.admin.query(
    'INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, $3)',
    [other.tenantId, user.userId, role],
  )
  for (const [tenantId, name] of [
    [user.tenantId, 'Acme'],
    [other.tenantId, 'Globex <b>'],
    [third.tenantId, 'Hidden Ltd'],
  ]) {
    await test.database.admin.query('UPDATE tenants SET name = $2 WHERE id = $1', [tenantId, name])
  }
  const { cookie } = await signIn(test, user)
  const accept = { accept: 'text/html' }
  return {
    test,
    user,
    other,
    third,
    cookie,
    open: (url: string, as = cookie) =>
      test.app.inject({ url, headers: { ...accept, cookie: as } }),
    send: (fields: Record<string, string>) =>
      test.app.inject({
        method: 'POST',
        url: '/app/account/tenants/switch',
        headers: { ...accept, cookie, 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(fields).toString(),
      }),
  }
}

const cookieOf = (header: unknown) => String(header).split(';', 1)[0] ?? ''

t.test('every page names the tenant and offers the others, and no foreign one', async (t) => {
  const { user, other, open } = await setUp('viewer')
  for (const url of ['/', '/app/orders', '/app/webhooks', '/app/orders/999']) {
    const { body } = await open(url)
    t.match(
      body,
      /popovertarget="tenants-menu"><span class="avatar emblem tint-\d" aria-hidden="true">\S{1,4}<\/span><span class="name"><bdi>Acme/,
      url,
    )
    t.match(body, `name="tenantId" value="${other.tenantId}"`, url)
    t.match(body, 'Globex &lt;b&gt;', url)
    t.notMatch(body, `name="tenantId" value="${user.tenantId}"`, 'they are there already')
    t.notMatch(body, /Hidden Ltd|Globex <b>/, url)
  }
})

t.test('a switch keeps to the section if the role there allows it', async (t) => {
  for (const [role, section, to] of [
    ['admin', '/app/webhooks', '/app/webhooks'],
    ['viewer', '/app/webhooks', '/'],
    ['viewer', '/app/posts', '/app/posts'],
    ['admin', '/app/billing', '/'],
    ['admin', '/docs', '/'],
  ] as const) {
    const { other, open, send } = await setUp(role)
    const moved = await send({ tenantId: other.tenantId, section })
    t.equal(moved.statusCode, 303)
    t.equal(moved.headers.location, to, `${role} from ${section}`)
    const cookie = cookieOf(moved.headers['set-cookie'])
    t.match((await open('/', cookie)).body, /class="name"><bdi>Globex &lt;b&gt;/)
  }
})

t.test(
  'from the page of an object a switch leads to its section, never to the object',
  async (t) => {
    const { user, other, open, send } = await setUp('admin')
    const id = await createEndpoint(test.database, user, { url: 'https://8.8.8.8/secret-path' })
    const { body } = await open(`/app/webhooks/${id}`)
    const section = /name="section" value="([^"]*)"/.exec(body)?.[1] ?? ''
    t.equal(section, '/app/webhooks')
    const moved = await send({ tenantId: other.tenantId, section })
    const cookie = cookieOf(moved.headers['set-cookie'])
    t.notMatch((await open(String(moved.headers.location), cookie)).body, 'secret-path')
    t.equal((await open(`/app/webhooks/${id}`, cookie)).statusCode, 404)
  },
)

t.test('a foreign tenant and an address elsewhere are refused', async (t) => {
  const { third, other, open, send } = await setUp('admin')
  t.equal((await send({ tenantId: third.tenantId, section: '/' })).statusCode, 404)
  t.equal((await send({ tenantId: crypto.randomUUID(), section: '/' })).statusCode, 404)
  for (const section of ['//evil.example', 'https://evil.example', '/app/webhooks/1?x', '/..']) {
    const { statusCode, headers } = await send({ tenantId: other.tenantId, section })
    t.ok(statusCode === 400 || headers.location === '/', section)
  }
  t.match((await open('/')).statusCode, 200)
})

t.test('one tenant has a name and no menu', async (t) => {
  const user = await createUser(test.database)
  const { cookie } = await signIn(test, user)
  const { body } = await test.app.inject({ url: '/', headers: { accept: 'text/html', cookie } })
  t.match(body, /<p class="tenant">/)
  t.notMatch(body, 'tenants-menu')
})

t.test('the menu works by keyboard and without scripts', async (t) => {
  const { cookie } = await setUp('admin')
  const origin = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const context = await browser.newContext({ baseURL: origin, javaScriptEnabled: false })
  await context.addCookies([{ name: 'sid', value: cookie.slice('sid='.length), url: origin }])
  const page = await context.newPage()
  const shown = await page.goto('/app/webhooks')
  t.equal(shown?.status(), 200, await page.innerText('body'))
  const menu = page.getByRole('button', { name: /switch tenant/ })
  const there = page.getByRole('button', { name: /^Globex/ })
  t.equal(await there.isVisible(), false)
  await menu.press('Enter')
  await there.waitFor()
  await page.keyboard.press('Escape')
  await there.waitFor({ state: 'hidden' })
  await menu.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Globex <b>.*switch tenant/ }).waitFor()
  t.equal(new URL(page.url()).pathname, '/app/webhooks')
})

t.test('a tenant is created from the account page and is the active one then', async (t) => {
  const { open, cookie } = await setUp('viewer')
  t.match((await open('/')).body, /href="\/app\/account\/tenants\/new">Create a tenant/)
  t.match((await open('/app/account')).body, 'href="/app/account/tenants/new"')
  const post = (url: string, fields: Record<string, string>, as: string) =>
    test.app.inject({
      method: 'POST',
      url,
      headers: {
        accept: 'text/html',
        cookie: as,
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: new URLSearchParams(fields).toString(),
    })
  const form = { name: 'Initech', submission: crypto.randomUUID() }
  const created = await post('/app/account/tenants/new', form, cookie)
  t.equal(created.statusCode, 303)
  t.equal(created.headers.location, '/app/tenant?done=created')
  const now = cookieOf(created.headers['set-cookie'])
  const page = await open('/app/tenant?done=created', now)
  t.match(page.body, /<bdi>Initech/)
  t.match(page.body, 'Tenant created.')
  t.equal((await open('/app/tenant')).statusCode, 302, 'the old id of the session has ended')
  const again = await post('/app/account/tenants/new', form, now)
  t.equal(again.headers.location, '/app/tenant?done=created', 'the same form shows the same tenant')
  t.match((await open('/app/tenant', now)).body, /<bdi>Initech/, 'and keeps the session')
  const { rows } = await test.database.admin.query(`SELECT FROM tenants WHERE name = 'Initech'`)
  t.equal(rows.length, 1, 'the same form creates one tenant')
  const renamed = await post('/app/tenant/name', { name: 'Initrode' }, now)
  t.equal(renamed.headers.location, '/app/tenant?done=renamed')
  t.match((await open('/', now)).body, /<bdi>Initrode/)
  const refused = await post('/app/tenant/name', { name: ' ' }, now)
  t.equal(refused.statusCode, 400)
})
