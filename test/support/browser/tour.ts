import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'
import { reloadUntil } from '#test/support/browser/browser.ts'
import { untilTrue } from '#test/support/database/until.ts'

/** A request as a shell would send it: with `data` a POST or, for an order, a PATCH. */
export type Sent = { url: string; headers: Record<string, string>; data: string }

/** A Gatehouse with the demo's people in it and its receiver at Acme's endpoint. */
export type Place = {
  baseUrl: string
  browser: Browser
  /** Origin of the demo's receiver. */
  receiver: string
  /** A signed billing event that charges Ada. */
  event: Sent
  /** A change of Ada's order 1, with an API token of hers. */
  change: Sent
}

/** One browser and the errors in it. */
type Visit = Place & { page: Page; refused: string[]; faults: string[] }

/**
 * The tour of README.md through the service, with a real browser and the requests that a billing
 * provider and a program with an API token send.
 */
export async function takeTour(t: Test, place: Place): Promise<void> {
  const visit = await openPage(place)
  await signIn(visit, /Ada Okafor/)
  t.equal(await heading(visit.page), 'Acme')
  await readOrders(t, visit)
  const invoices = await countInvoices(place)
  await sendEvent(t, visit)
  await changeOrder(t, visit)
  const delivery = await seeFailure(t, visit)
  await replayOne(t, visit, delivery)
  await replayAll(t, visit, delivery)
  t.equal(await countInvoices(place), invoices + 1, 'one more invoice, in spite of the duplicate')
  await signOut(t, visit)
  await lookAsVera(t, visit)
  t.same(visit.faults, [], 'the content security policy blocks nothing, no script fails')
  const foreign = ['404 /orders/7', '404 /orders/4711', '404 /app/orders/7']
  t.same(visit.refused, [...foreign, '401 /me', '404 /orders/1', '403 /app/webhooks'])
  await visit.page.context().close()
}

async function openPage(place: Place): Promise<Visit> {
  const context = await place.browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  const refused: string[] = []
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    // Error responses are collected below by path.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isAnswer) faults.push(message.text())
  })
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (response.status() >= 400) refused.push(`${response.status()} ${pathname}`)
    // A demo that a busy machine overloads refuses a page, which is opened again.
    const overloaded = refused.indexOf(`503 ${pathname}`)
    if (response.status() !== 503 && overloaded >= 0) refused.splice(overloaded, 1)
  })
  return { ...place, page, refused, faults }
}

async function signIn({ baseUrl, page }: Visit, name: RegExp): Promise<void> {
  await page.goto(baseUrl)
  await page
    .getByRole('link', { name: /^Sign in with/ })
    .first()
    .click()
  await page.getByRole('button', { name }).click()
  await page.waitForURL(`${baseUrl}/`)
}

async function readOrders(t: Test, { baseUrl, page }: Visit): Promise<void> {
  const open = async (id: number) => (await page.goto(`${baseUrl}/orders/${id}`))?.text()
  t.match(JSON.parse((await open(1)) ?? ''), { id: 1, userId: 1, cardLast4: '4242' })
  const [foreign, missing] = [await open(7), await open(4711)].map(withoutRequestId)
  t.match(foreign, '404')
  t.equal(foreign, missing, 'the 404 of a foreign order is byte for byte that of a missing one')

  await page.goto(baseUrl)
  await page.getByRole('link', { name: 'Order 1', exact: true }).click()
  t.equal(await heading(page), 'Order 1')
  await page.goto(`${baseUrl}/app/orders/7`)
  t.equal(await heading(page), 'Not found')
}

async function sendEvent(t: Test, { event, receiver }: Visit): Promise<void> {
  const changed = { ...event, data: event.data.replace('4900', '4901') }
  t.equal(await send('POST', event), '200 recorded')
  await said(receiver, /invoice\.created \S+, valid signature, response 200/)
  t.equal(await send('POST', event), '200 duplicate')
  t.equal(await send('POST', changed), '400 bad signature')
}

async function changeOrder(t: Test, { change, receiver, baseUrl, page }: Visit): Promise<void> {
  t.match(await send('PATCH', change), /^200 .*"city":"Porto"/)
  await said(receiver, /order\.updated \S+, valid signature, response 200/)
  await page.goto(baseUrl)
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
  await page.getByRole('link', { name: `${receiver}/webhooks` }).click()
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
  const deliveries = page.locator('section', { has: page.locator('#deliveries') })
  const newest = deliveries.locator('tbody tr').first()
  await reloadUntil(page, newest.getByText('Delivered', { exact: true }))
  t.match(await newest.textContent(), 'order.updated')
  t.equal(await newest.locator('[data-label=Attempts]').textContent(), '1')
  t.equal((await said(receiver, /order\.updated/)).length, 1, 'nothing else arrived')
}

type Delivery = { page: string; endpoint: string; eventId: string }

/** The receiver fails once; the page of the delivery shows it. */
async function seeFailure(t: Test, { change, receiver, page }: Visit): Promise<Delivery> {
  await fetch(`${receiver}/fail?times=1`, { method: 'POST' })
  t.match(await send('PATCH', change), /^200 /)
  const failure = /order\.updated (\S+), valid signature, response 500/
  const [[, eventId = ''] = []] = await said(receiver, failure)
  const endpoint = page.url()
  await page.reload()
  await page.getByRole('link', { name: 'order.updated' }).first().click()
  t.match(await page.locator('main').textContent(), eventId)
  const made = attempts(page).locator('.timeline').getByRole('listitem')
  await reloadUntil(page, made)
  t.match(
    await made.first().textContent(),
    /500 Attempt 1, .*The endpoint answered 500\. It has an error of its own.*told to fail/s,
  )
  return { page: page.url(), endpoint, eventId }
}

async function replayOne(t: Test, visit: Visit, { page: url, eventId }: Delivery): Promise<void> {
  const { page, receiver } = visit
  await page.getByRole('button', { name: 'Replay delivery' }).click()
  await page.getByRole('status').getByText('Replay scheduled').waitFor()
  await said(receiver, new RegExp(`${eventId}, valid signature.*, response 200`))
  await page.goto(url)
  await untilReplayed(page, 1)
  const text = await attempts(page).textContent()
  t.match(text, /Scheduled attempts.*500 Attempt 1.*Replay 1.*200 Attempt 1/s)
}

/** Replays a range and follows its progress. */
async function replayAll(t: Test, { page }: Visit, delivery: Delivery): Promise<void> {
  await page.goto(delivery.endpoint)
  await page.getByText('Choose their time').click()
  await page.getByLabel('All deliveries, including successful ones').check()
  await page.getByRole('button', { name: 'Count deliveries' }).click()
  await page.getByRole('button', { name: 'Replay 3 deliveries' }).click()
  await page.getByRole('status').getByText('Done: 3 of 3 deliveries scheduled.').waitFor()
  t.equal(await page.getByRole('progressbar').getAttribute('max'), '3')
  await page.goto(delivery.page)
  await untilReplayed(page, 2)
  t.match(await attempts(page).textContent(), /Replay 2.*200 Attempt 1/s)
}

function attempts(page: Page) {
  return page.locator('section', { has: page.locator('#attempts') })
}

async function untilReplayed(page: Page, number: number): Promise<void> {
  const replayed = attempts(page).getByRole('heading', { name: `Replay ${number}` })
  await reloadUntil(page, replayed)
}

/** Vera is a viewer. */
async function lookAsVera(t: Test, visit: Visit): Promise<void> {
  const { baseUrl, page } = visit
  await signIn(visit, /Vera Lindt/)
  t.equal(await page.getByRole('link', { name: 'Webhooks', exact: true }).count(), 0)
  t.equal((await page.goto(`${baseUrl}/posts/1`))?.status(), 200, 'the tenant’s post')
  t.equal((await page.goto(`${baseUrl}/orders/1`))?.status(), 404, 'Ada’s order')
  t.equal((await page.goto(`${baseUrl}/app/webhooks`))?.status(), 403)
}

async function signOut(t: Test, { baseUrl, page }: Visit): Promise<void> {
  const context = page.context()
  const [cookie] = await sessionCookies(page)
  const secure = baseUrl.startsWith('https:')
  const flags = { httpOnly: true, secure, sameSite: 'Lax', path: '/', domain: 'localhost' }
  t.match(cookie, flags)
  await page.goto(baseUrl)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
  t.same(await sessionCookies(page), [], 'the cookie is cleared')
  if (cookie !== undefined) await context.addCookies([cookie])
  t.equal((await page.goto(`${baseUrl}/me`))?.status(), 401, 'the old cookie no longer works')
}

async function sessionCookies(page: Page) {
  return (await page.context().cookies()).filter(({ name }) => name === 'sid')
}

function heading(page: Page): Promise<string | null> {
  return page.getByRole('heading', { level: 1 }).textContent()
}

/** The request id is the only allowed difference between two problems. */
function withoutRequestId(body: string | undefined): string | undefined {
  return body?.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, '')
}

/** Sends the request; resolves to status and body, separated by a space. */
async function send(method: 'POST' | 'PATCH', { url, headers, data }: Sent): Promise<string> {
  const answer = await fetch(url, { method, headers, body: data })
  return `${answer.status} ${await answer.text()}`
}

async function countInvoices({ baseUrl, change: { headers } }: Place): Promise<number> {
  const { authorization = '' } = headers
  const answer = await fetch(`${baseUrl}/invoices`, { headers: { authorization } })
  return ((await answer.json()) as { data: unknown[] }).data.length
}

/** Matching lines of the receiver's page, as soon as there is one. */
async function said(receiver: string, line: RegExp): Promise<RegExpExecArray[]> {
  let found: RegExpExecArray[] = []
  await untilTrue(async () => {
    found = [...(await (await fetch(receiver)).text()).matchAll(new RegExp(line, 'g'))]
    return found.length > 0
  })
  return found
}
