import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { receive } from '#test/billing/received.ts'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createReplayOf } from '#test/support/callers/webhook-admin.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** A listening server, and a browser signed in as an operator who has an order and a document. */
async function setUp(t: Test) {
  const test = await build(t, { OPERATORS: 'demo:olga' })
  const user = await createUser(test.database, { role: 'admin' })
  await addIdentity(test, user.userId, 'olga')
  const orderId = await createOrder(test.database, user)
  await createChain(test.database, user)
  const { cookie } = await signIn(test, user)
  const origin = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const context = await browser.newContext({ baseURL: origin })
  await context.addCookies([{ name: 'sid', value: cookie.slice('sid='.length), url: origin }])
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  return { test, user, orderId, page, faults }
}

/** The width in pixels by which the page is wider than the screen. */
function overflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
}

t.test('an operator replays the dead events by keyboard only', async (t) => {
  const { test, page, faults } = await setUp(t)
  await receive(test.database, { id: 'evt_1', status: 'dead' })
  await receive(test.database, { id: 'evt_2', status: 'dead' })
  await page.goto('/')
  await page.getByRole('link', { name: 'Billing events' }).press('Enter')
  await page.getByRole('heading', { name: 'Billing events', level: 1 }).waitFor()
  t.same(await seriousFindings(page), [], 'the list')

  await page.getByRole('link', { name: 'evt_1' }).press('Enter')
  await page.getByRole('heading', { name: 'evt_1' }).waitFor()
  t.same(await seriousFindings(page), [], 'an event')
  await page.goBack()

  await page.getByRole('button', { name: 'Replay all dead events' }).press('Enter')
  await page.getByRole('heading', { name: 'Replay', exact: true }).waitFor()
  t.equal(await page.getByRole('progressbar').getAttribute('max'), '2')
  t.same(await seriousFindings(page), [], 'a running replay')
  const worker = await startWorker(test.config, createLogger('silent'))
  t.teardown(() => worker.stop())
  await page.getByRole('status').getByText('Done: 2 of 2 events replayed').waitFor()
  t.same(faults, [], 'the content security policy blocks nothing')
})

t.test('every page is accessible, light and dark, and fits a phone screen', async (t) => {
  const { test, user, page, orderId, faults } = await setUp(t)
  await receive(test.database, { id: `evt_${'long'.repeat(12)}`, status: 'dead' })
  const url = `https://8.8.8.8/${'a-long-path-of-the-customer/'.repeat(4)}`
  const endpointId = await createEndpoint(test.database, user, { url, status: 'failing' })
  const replayId = await createReplayOf(test.database, user, endpointId)
  const { tenantId } = user
  await joinAnotherTenant(test.database, user)
  const deliveryId = await createDelivery(test.database, { tenantId, endpointId, attempts: 1 })
  await page.setViewportSize({ width: 390, height: 800 })
  const look = async (page: Page, path: string, status = 200) => {
    t.equal((await page.goto(path))?.status(), status, path)
    t.same(await seriousFindings(page), [], path)
    t.ok((await overflow(page)) <= 0, `${path} is no wider than the screen`)
  }
  const endpoint = `/app/webhooks/${endpointId}`
  const ownPages = [
    '/',
    `/app/orders/${orderId}`,
    '/app/documents',
    '/app/documents/1',
    '/docs',
    '/docs/api/orders',
    '/docs/guide',
    '/docs/events',
  ]
  const managed = ['/app/tenant', '/app/access', '/app/account', '/app/billing']
  const webhooks = [
    '/app/webhooks',
    '/app/webhooks/new',
    ...['', '/deliveries', '/settings', '/probe'].map((tab) => endpoint + tab),
    `${endpoint}/replays/${replayId}`,
    `${endpoint}/replays/new`,
  ]
  const paths = [...ownPages, ...managed, ...webhooks, `/app/deliveries/${deliveryId}`]
  for (const path of paths) await look(page, path)
  t.same(faults, [], 'the content security policy blocks nothing')
  await look(page, '/app/orders/999', 404)
  faults.length = 0 // the browser reports the 404 too

  const visitor = await page
    .context()
    .browser()
    ?.newPage({ baseURL: new URL(page.url()).origin })
  if (visitor === undefined) throw new Error('the browser has gone')
  await visitor.setViewportSize({ width: 390, height: 800 })
  await look(visitor, '/auth/signed-out')
  await look(visitor, '/app/account', 503) // leads to sign-in, and the provider does not respond
  await look(visitor, '/auth/login', 503)
  await look(visitor, '/')
  await visitor.getByText('Outage').waitFor()

  await page.goto(`/app/orders/${orderId}`)
  await page.getByLabel('City').fill('Porto')
  await page.getByLabel('City').press('Enter')
  await page.getByRole('status').getByText('Address saved.').waitFor()
  t.equal(await page.getByLabel('City').inputValue(), 'Porto')

  await page.goto('/docs/api/orders#updateOrder')
  const operation = page.getByRole('region', { name: 'Change the shipping address of one of your' })
  await operation.getByText('shippingAddress.city').first().waitFor()
  t.same(await seriousFindings(page), [], 'an operation')
  t.ok((await overflow(page)) <= 0, 'an operation is no wider than the screen')
  t.same(faults, [], 'the content security policy blocks nothing')
})

/** The account page then has buttons to switch. */
async function joinAnotherTenant(database: TestDatabase, user: TestUser): Promise<void> {
  const { tenantId } = await createUser(database)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [tenantId, user.userId],
  )
}
