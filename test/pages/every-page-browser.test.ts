import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { receive } from '#test/billing/received.ts'
import { descriptions } from '#test/resources/index.ts'
import { insertion } from '#test/schema/table-rows.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { collectRoutes } from '#test/support/app/collected-routes.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { type StrippingProxy, startStrippingProxy } from '#test/support/browser/stripping-proxy.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { as, createUser, signIn, type TestUser } from '#test/support/callers/callers.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'
import { createReplayOf } from '#test/support/callers/webhook-admin.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const maxPageBytes = 100_000 // with everything that the page loads
const widths = [390, 1280, 1920]

/** Downloads, which are no pages. */
const downloads = ['/app/audit/export']

/** Pages with another limit. The viewer of the reference is a program; `/docs/plain` is the page. */
const unlimited = ['/docs']

/** A server whose every page has something to show, and a signed-in admin who is an operator. */
async function setUp(t: Test, proxy: StrippingProxy | null = null) {
  const settings = { OPERATORS: 'demo:olga', ...(proxy && { BASE_URL: proxy.origin }) }
  const { built: test, routes } = await collectRoutes(() => build(t, settings))
  const { database } = test
  const email = 'olga@acme.example'
  const user = await createUser(database, { role: 'admin', email, emailVerified: true })
  const other = await createUser(database, { role: 'admin' })
  const { tenantId } = user
  await addIdentity(test, user.userId, 'olga')
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [other.tenantId, user.userId],
  )
  await createUser(database, { tenantId, email: `${'long-address-'.repeat(8)}@acme.example` })
  const third = await createUser(database, { role: 'admin' })
  const { rows: invitations } = await database.admin.query(
    `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
     VALUES ($1, $2, 'viewer', $3, now() + interval '1 day') RETURNING id`,
    [third.tenantId, email, third.userId],
  )
  const { rows: runs } = await database.admin.query(
    `INSERT INTO billing_replays (id, event_ids, received_to, total)
     VALUES (gen_random_uuid(), '{}', now(), 0) RETURNING id`,
  )
  await receive(database, { id: 'evt_1', status: 'dead' })
  await createTestInvoice(database, tenantId)
  const orderId = await createOrder(database, user)
  const declared = await sampleRows(test, { ...user, department: 'a department' })
  const url = `https://8.8.8.8/${'a-long-path/'.repeat(8)}`
  const endpointId = await createEndpoint(database, user, { url, status: 'failing' })
  const deliveryId = await createDelivery(database, { tenantId, endpointId, attempts: 2 })
  const replayId = await createReplayOf(database, user, endpointId)
  const { rows: events } = await database.admin.query('SELECT id FROM outbound_events LIMIT 1')
  /** An address for each page with a parameter. A page that is missing here fails the test. */
  const samples: Record<string, string> = {
    '/app/orders/:id': `/app/orders/${orderId}`,
    ...declared,
    '/app/events/:id': `/app/events/${events[0].id}`,
    '/app/webhooks/:id': `/app/webhooks/${endpointId}`,
    '/app/webhooks/:id/replays/:replayId': `/app/webhooks/${endpointId}/replays/${replayId}`,
    '/app/webhooks/:id/replays/new': `/app/webhooks/${endpointId}/replays/new?rows=selected&delivery=${deliveryId}`,
    '/app/deliveries/:id': `/app/deliveries/${deliveryId}`,
    '/app/invitations/:id': `/app/invitations/${invitations[0].id}`,
    '/app/billing/:id': '/app/billing/evt_1',
    '/app/billing/replays/:id': `/app/billing/replays/${runs[0].id}`,
    '/docs/errors/:code': '/docs/errors/not-found',
  }
  // Event streams are the GET routes without HEAD.
  const pages = routes
    .filter(({ method, url }) => method === 'HEAD' && isPage(url))
    .map(({ url }) => ({ route: url, path: url.includes(':') ? samples[url] : url }))
  const { cookie } = await signIn(test, user)
  if (proxy !== null) await addRemovable(t, test, user)
  const listening = await test.app.listen({ host: '127.0.0.1', port: 0 })
  proxy?.leadTo(listening)
  const origin = proxy?.origin ?? listening
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  return { pages, routes, open: (more = {}) => openAs(browser, origin, cookie, more) }
}

/** The page of one row of each declared resource that has pages. */
async function sampleRows({ database }: TestApp, person: TestUser & { department: string }) {
  const facts = { ...person, ...(await createChain(database, person)) }
  const samples: Record<string, string> = {}
  for (const { path, table, row, forms } of descriptions) {
    if (forms === undefined) continue
    const [text, values] = insertion(table, row(facts))
    const { rows } = await database.admin.query(`${text} RETURNING id`, values)
    samples[`/app${path}/:id`] = `/app${path}/${rows[0].id}`
  }
  return samples
}

/** What a form exists for only if it is there. */
async function addRemovable(t: Test, test: TestApp, user: TestUser) {
  await addIdentity(test, user.userId, 'olga-2')
  const send = as(test, await signIn(test, user))
  const made = [
    await send('POST', '/auth/tokens', { name: 'ci' }),
    await send('POST', '/users', { email: 'new@acme.example', role: 'viewer' }),
    await send('POST', '/teams', { name: 'without folders' }),
    await send('POST', '/service-tokens', { name: 'ci', permissions: ['post:read'] }),
    await send('PUT', '/billing/customers/cus_1', { userId: user.userId }),
  ]
  t.same(
    made.filter(({ statusCode }) => statusCode >= 300),
    [],
  )
}

function isPage(url: string): boolean {
  if (url === '/docs/assets' || url.startsWith('/docs/assets/')) return false
  if (downloads.includes(url)) return false
  return url === '/' || /^\/(app|docs)(\/|$)/.test(url)
}

async function openAs(browser: Browser, origin: string, cookie: string, more: object) {
  const context = await browser.newContext({ baseURL: origin, ...more })
  await context.addCookies([{ name: 'sid', value: cookie.slice('sid='.length), url: origin }])
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  return { page, faults }
}

/** The bytes of the page and of everything it loaded, as they were sent. */
function bytesOf(page: Page): Promise<number> {
  return page.evaluate<number>(`
    ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)
}

/** How far parts of the page moved while it loaded (0: nothing moved). */
function shiftOf(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value
    }).observe({ type: 'layout-shift', buffered: true })
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)))
  })`)
}

function tooWide(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
}

t.test('every page is accessible in both schemes, small, steady and never too wide', async (t) => {
  const { pages, open } = await setUp(t)
  t.ok(pages.length > 25, 'the pages are those that the program registers')
  const { page, faults } = await open()
  // The viewer of the reference tries inline styles, which our policy blocks; its console says so late.
  const { page: viewer } = await open()
  for (const { route, path } of pages) {
    if (path === undefined) {
      t.fail(`no sample for the page ${route}`)
      continue
    }
    if (unlimited.includes(route)) {
      t.equal((await viewer.goto(path))?.status(), 200, route)
      continue
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    t.equal((await page.goto(path))?.status(), 200, route)
    const bytes = await bytesOf(page)
    t.ok(bytes > 1_000 && bytes <= maxPageBytes, `${route}: ${bytes} bytes`)
    const shift = await shiftOf(page)
    t.ok(shift < 0.01, `${route}: layout shift ${shift}`)
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      t.equal(await tooWide(page), 0, `${route} at ${width} px`)
    }
    t.same(await seriousFindings(page), [], route)
  }
  t.same(faults, [], 'the content security policy blocks nothing, no script fails')
})

t.test('without scripts every page has its heading, and no button that does nothing', async (t) => {
  const { pages, open } = await setUp(t)
  const { page } = await open({ javaScriptEnabled: false })
  for (const { route, path = '/' } of pages) {
    // The viewer of the reference leads to the plain page.
    if (unlimited.includes(route)) continue
    await page.goto(path)
    t.equal(await page.locator('h1').count(), 1, `${route}: one heading`)
    const dead = page.locator('button:visible:not(form button):not([popovertarget]):not([form])')
    t.same(await dead.allTextContents(), [], `${route}: every button does something`)
  }
})

t.test('every form is accepted behind a proxy that removes Fetch Metadata', async (t) => {
  const proxy = await startStrippingProxy(t)
  const { pages, routes, open } = await setUp(t, proxy)
  const { page } = await open()
  proxy.encodesBodies = true
  const submitted = new Set<string>()
  // The forms of the samples of the design lead nowhere.
  const withForms = pages.filter(({ route }) => ![...unlimited, '/app/design'].includes(route))
  for (const { route, path = '/' } of withForms) {
    await page.goto(path)
    for (const [index, action] of (await formsOf(page)).entries()) {
      if (submitted.has(action)) continue
      submitted.add(action)
      await page.goto(path)
      const [landed] = await Promise.all([
        page.waitForNavigation(),
        page.evaluate(submitForm(index)),
      ])
      const status = landed?.status()
      t.equal(status, 415, `${action} on ${route}: past the same-origin rule, before any effect`)
    }
  }
  const origins = new Set(proxy.posts.map(({ origin }) => origin))
  t.same([...origins], [proxy.origin], 'every form names our own origin')
  const unseen = routes
    .filter(({ method, url }) => method === 'POST' && url.startsWith('/app/'))
    .filter(({ url }) => ![...submitted].some((action) => isPathOf(url, action)))
  t.same(
    unseen.map(({ url }) => url),
    [],
    'every form of the pages was submitted',
  )

  proxy.encodesBodies = false
  await page.goto('/')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForLoadState()
  t.equal((await page.goto('/me'))?.status(), 401, 'and signing out signs out')
})

/** As a person does, but whatever its fields have, and with a body in any case. */
function submitForm(index: number): string {
  return `{
    const form = document.querySelectorAll('form[method=post]')[${index}]
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: 'more' }))
    HTMLFormElement.prototype.submit.call(form)
  }`
}

/** The paths that the forms of a page post to. */
function formsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('form[method=post]')].map((form) => new URL(form.getAttribute('action') ?? '', location.href).pathname)`,
  )
}

function isPathOf(route: string, path: string): boolean {
  return new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(path)
}
