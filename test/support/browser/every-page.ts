import type { Browser } from 'playwright-core'
import type { Test } from 'tap'
import { collectRoutes } from '#dev/testing/access/collected-routes.ts'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { randomToken } from '#src/crypto/hash.ts'
import { createReceiver } from '#src/crypto/sealed-message.ts'
import { receive } from '#test/billing/received.ts'
import { descriptions } from '#test/resources/index.ts'
import { stripe } from '#test/routes/api/stripe-provider.ts'
import { insertion } from '#test/schema/table-rows.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import type { StrippingProxy } from '#test/support/browser/stripping-proxy.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'
import { portalOwner } from '#test/support/callers/portal.ts'
import { createReplayOf } from '#test/support/callers/webhook-admin.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** Downloads, which are no pages. */
const downloads = ['/app/audit/export']

/**
 * A server whose every page has something to show, and the browser of an admin who is an operator and has
 * the portal of their tenant open too.
 */
export async function everyPage(t: Test, proxy: StrippingProxy | null = null) {
  const settings = {
    ...stripe('http://127.0.0.1:9/v1'),
    OPERATORS: 'demo:olga',
    ...(proxy && { BASE_URL: proxy.origin }),
  }
  const { built: test, routes } = await collectRoutes(() => build(t, settings))
  const { database } = test
  const email = 'olga@acme.example'
  const user = await createUser(database, { role: 'admin', email, emailVerified: true })
  const other = await createUser(database, { role: 'admin' })
  const { tenantId } = user
  await addIdentity(test, user.userId, 'olga')
  await database.admin.query('UPDATE tenants SET name = $2 WHERE id = $1', [
    tenantId,
    'Longname'.repeat(12),
  ])
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
  await receive(database, { id: 'evt_2', status: 'unlinked' })
  await database.admin.query(
    `UPDATE received_events SET customer = 'cus_1' WHERE status = 'unlinked'`,
  )
  const invoiceId = await createTestInvoice(database, tenantId)
  const orderId = await createOrder(database, user)
  const declared = await sampleRows(test, { ...user, department: 'a department' })
  const url = `https://8.8.8.8/${'a-long-path/'.repeat(8)}`
  const endpointId = await createEndpoint(database, user, { url, status: 'failing' })
  const deliveryId = await createDelivery(database, { tenantId, endpointId, attempts: 2 })
  await addHistory(test, user, endpointId)
  const replayId = await createReplayOf(database, user, endpointId)
  const { rows: events } = await database.admin.query('SELECT id FROM outbound_events LIMIT 1')
  const { app, makeLink } = await portalOwner(test)
  const example = { text: 'a-long-word-'.repeat(8) }
  await app.use('PUT', '/event-types/report.finished', {
    ...{ description: `A report is done. ${'a-long-word-'.repeat(20)}`, example },
    schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  })
  const { publicKey } = createReceiver()
  const asked = new URLSearchParams({
    port: '4000',
    key: publicKey,
    state: randomToken(),
    name: 'ci',
  })
  /** An address for each page with a parameter. A page that is missing here fails the test. */
  const ofPages: Record<string, string> = {
    '/app/orders/:id': `/app/orders/${orderId}`,
    '/app/invoices/:id': `/app/invoices/${invoiceId}`,
    ...declared,
    '/app/events/:id': `/app/events/${events[0].id}`,
    '/app/event-types/:name': '/app/event-types/report.finished',
    '/app/webhooks/:id': `/app/webhooks/${endpointId}`,
    '/app/webhooks/:id/deliveries': `/app/webhooks/${endpointId}/deliveries`,
    '/app/webhooks/:id/settings': `/app/webhooks/${endpointId}/settings`,
    '/app/webhooks/:id/probe': `/app/webhooks/${endpointId}/probe`,
    '/app/webhooks/:id/replays/:replayId': `/app/webhooks/${endpointId}/replays/${replayId}`,
    '/app/webhooks/:id/replays/new': `/app/webhooks/${endpointId}/replays/new?rows=selected&delivery=${deliveryId}`,
    '/app/deliveries/:id': `/app/deliveries/${deliveryId}`,
    '/app/invitations/:id': `/app/invitations/${invitations[0].id}`,
    '/app/billing/:id': '/app/billing/evt_1',
    '/app/billing/replays/:id': `/app/billing/replays/${runs[0].id}`,
    '/app/command-line': `/app/command-line?${asked}`,
    '/docs/errors/:code': '/docs/errors/not-found',
    '/docs/api/:group': '/docs/api/account',
  }
  const inPortal = Object.entries(ofPages).map((pair) =>
    pair.map((path) => path.replace(/^\/app\//, '/portal/')),
  )
  const samples: Record<string, string> = {
    ...Object.fromEntries(inPortal),
    ...ofPages,
    // The longest page of a type.
    '/portal/event-types/:name': '/portal/event-types/order.updated',
  }
  // Event streams are the GET routes without HEAD.
  const pages = routes
    .filter(({ method, url }) => method === 'HEAD' && isPage(url))
    .map(({ url }) => ({ route: url, path: samples[url] ?? (url.includes(':') ? undefined : url) }))
  const { cookie } = await signIn(test, user)
  if (proxy !== null) await addRemovable(t, test, user)
  const listening = await test.app.listen({ host: '127.0.0.1', port: 0 })
  proxy?.leadTo(listening)
  const origin = proxy?.origin ?? listening
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const access = { origin, cookie, makeLink: () => makeLink(tenantId) }
  return {
    pages,
    routes,
    open: (more = {}) => openAs(browser, access, more),
    /** Shows the forms of an endpoint that is paused. */
    pause: () =>
      database.admin.query(`UPDATE endpoint_states SET paused = 'hold', paused_at = now()`),
  }
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

/** Tokens of every kind, and audit entries about what exists and what was deleted. */
async function addHistory({ database }: TestApp, { userId, tenantId }: TestUser, endpoint: string) {
  const { admin } = database
  await admin.query(
    `INSERT INTO api_tokens (last_four, hash, user_id, tenant_id, name, expires_at)
     VALUES ('x9Ks', sha256('1'), $1, $2, 'CI', now() + interval '1 day')`,
    [userId, tenantId],
  )
  await admin.query(
    `INSERT INTO service_tokens (last_four, hash, tenant_id, name, permissions, expires_at)
     VALUES ('b3Qz', sha256('2'), $1, 'Nightly import', '{post:read}', now() + interval '1 day')`,
    [tenantId],
  )
  await admin.query(
    `INSERT INTO audit_log (action, outcome, reason, tenant_id, user_id, target)
     SELECT action, 'done', 'own-request', $1, $2::bigint, target
     FROM (VALUES ('endpoint-change', $3), ('endpoint-delete', gen_random_uuid()::text),
       ('user-update', $2::bigint::text)) AS made (action, target)`,
    [tenantId, userId, endpoint],
  )
}

/** What a form exists for only if it is there. */
async function addRemovable(t: Test, test: TestApp, user: TestUser) {
  await addIdentity(test, user.userId, 'olga-2')
  const send = as(test, await signIn(test, user))
  const made = [
    await send('POST', '/auth/tokens', { name: 'ci', permissions: null }),
    await send('POST', '/users', { email: 'new@acme.example', role: 'viewer' }),
    await send('POST', '/users', { email: 'earlier@acme.example', role: 'viewer' }),
    await send('POST', '/teams', { name: 'without folders' }),
    await send('POST', '/service-tokens', { name: 'ci', permissions: ['post:read'] }),
    await send('POST', '/app-tokens', { name: 'backend', permissions: ['event:publish'] }),
    await send('PUT', '/billing/customers/cus_1', { userId: user.userId }),
  ]
  t.same(
    made.filter(({ statusCode }) => statusCode >= 300),
    [],
  )
  await test.database.admin.query(
    `UPDATE invitations SET created_at = created_at - interval '1 day'
     WHERE email = 'earlier@acme.example'`,
  )
}

function isPage(url: string): boolean {
  if (downloads.includes(url)) return false
  return url === '/' || /^\/(app|docs|portal)(\/|$)/.test(url)
}

type Access = { origin: string; cookie: string; makeLink: () => Promise<string> }

async function openAs(browser: Browser, { origin, cookie, makeLink }: Access, more: object) {
  const context = await browser.newContext({ baseURL: origin, ...more })
  await context.addCookies([{ name: 'sid', value: cookie.slice('sid='.length), url: origin }])
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  await page.goto(`/portal/open?link=${await makeLink()}`)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.waitForURL('**/portal/webhooks')
  return { page, faults }
}
