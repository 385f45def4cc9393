import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** The page of an endpoint with two deliveries in a browser, of an admin who is signed in. */
async function openEndpoint(t: Test, options: { javaScriptEnabled?: boolean } = {}) {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'admin' })
  const endpointId = await createEndpoint(test.database, user, { url: 'https://8.8.8.8/hook' })
  const createdAt = new Date(Date.now() - 180_000).toISOString()
  const deliveryId = await createDelivery(test.database, { ...user, endpointId, createdAt })
  const { cookie } = await signIn(test, user)
  const baseUrl = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const context = await browser.newContext({ ...options, timezoneId: 'Asia/Tokyo' })
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value: value.split(';')[0] ?? '', url: baseUrl }])
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseUrl })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  const createAnother = () => createDelivery(test.database, { ...user, endpointId })
  return {
    page,
    faults,
    baseUrl,
    path: `/app/webhooks/${endpointId}/deliveries`,
    deliveryId,
    createAnother,
  }
}

t.test('times are relative or in the zone of the reader, with UTC as the title', async (t) => {
  const { page, faults, baseUrl, path, deliveryId } = await openEndpoint(t)
  await page.goto(`${baseUrl}/app/webhooks`)
  await page.goto(baseUrl + path)
  const exact = page.locator('tbody time').first()
  const text = await exact.textContent()
  const title = await exact.getAttribute('title')
  t.match(title, /UTC$/)
  t.not(text, title, 'another zone')
  const shown = new Date(`${text} GMT+0900`).getTime()
  const meant = new Date((await exact.getAttribute('datetime')) ?? '').getTime()
  t.equal(shown, Math.floor(meant / 1_000) * 1_000)
  await page.getByRole('link', { name: 'Overview' }).click()
  const relative = page.locator('.facts time').first()
  t.match(await relative.textContent(), /^(just now|\d+ min\. ago)$/)

  await page.goto(`${baseUrl}/app/deliveries/${deliveryId}`)
  await page.getByRole('button', { name: 'Copy event ID' }).click()
  const copied = await page.evaluate('navigator.clipboard.readText()')
  t.equal(copied, await page.locator('#event-id').textContent())
  t.same(faults, [], 'the content security policy blocks nothing')
})

t.test(
  'on a phone the links are in a drawer, without scripts too, and the current page is visible',
  async (t) => {
    const { page, baseUrl } = await openEndpoint(t, { javaScriptEnabled: false })
    await page.setViewportSize({ width: 390, height: 800 })
    await page.goto(`${baseUrl}/app/webhooks`)
    const links = page.getByRole('navigation', { name: 'Pages' })
    t.equal(await links.isVisible(), false)
    const opener = page.getByRole('button', { name: /Webhooks.*open the menu/ })
    await opener.click()
    const current = links.getByRole('link', { name: 'Webhooks' })
    t.equal(await current.getAttribute('aria-current'), 'page')
    t.same(await page.evaluate(isCurrentInView), [true])
    await page.keyboard.press('Escape')
    await links.waitFor({ state: 'hidden' })
    await opener.click()
    await links.getByRole('link', { name: 'Events' }).click()
    await page.waitForURL(`${baseUrl}/app/events`)
    await page.setViewportSize({ width: 1280, height: 800 })
    t.equal(await links.isVisible(), true, 'beside the page on a wide screen')
    t.equal(await page.getByText('open the menu').isVisible(), false)
  },
)

/** For each link to the current page, whether the window shows all of it. */
const isCurrentInView = `[...document.querySelectorAll('[aria-current=page]')].map((link) => {
  const { top, bottom, left, right } = link.getBoundingClientRect()
  return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth
})`

t.test('a filter applies at once; / moves to the search field', async (t) => {
  const { page, baseUrl, path } = await openEndpoint(t)
  await page.goto(baseUrl + path)
  t.equal(await page.getByRole('button', { name: 'Filter' }).isVisible(), false)
  await page.getByLabel('Status', { exact: true }).selectOption('pending')
  await page.waitForURL(/status=pending/)
  await page.keyboard.press('/')
  t.equal(await page.locator('input:focus').getAttribute('name'), 'event')
})

t.test('the way back to a list keeps its filters, until the person signs out', async (t) => {
  const { page, faults, baseUrl } = await openEndpoint(t)
  await page.goto(`${baseUrl}/app/posts/new`)
  await page.getByLabel('Title').fill('A post')
  await page.getByRole('button', { name: /post/i }).last().click()
  await page.goto(`${baseUrl}/app/posts`)
  await page.getByLabel('Order').selectOption('Oldest first')
  await page.waitForURL('**/app/posts?sort=createdAt')
  await page.getByText('Ranges').click()
  await page.getByLabel('From').fill('2020-01-01T00:00')
  t.equal(page.url(), `${baseUrl}/app/posts?sort=createdAt`, 'a range waits for its button')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL('**/app/posts?sort=createdAt&from=2020-01-01T00%3A00')
  const list = page.url()
  await page.getByRole('link', { name: 'A post' }).click()
  await page.getByRole('main').getByRole('link', { name: 'Posts' }).click()
  t.equal(page.url(), list)
  t.equal(await page.getByLabel('From').inputValue(), '2020-01-01T00:00')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(/signed-out/)
  t.equal(await page.evaluate('sessionStorage.length'), 0)
  t.same(faults, [])
})

t.test('Ctrl+K filters pages and actions, and finds objects by id', async (t) => {
  const { page, faults, baseUrl, deliveryId } = await openEndpoint(t)
  const dialog = page.getByRole('dialog', { name: 'Go to' })
  const field = dialog.getByRole('searchbox', { name: 'Page, action, name or ID' })
  const open = async () => {
    await page.goto(`${baseUrl}/app/webhooks`)
    await page.keyboard.press('Control+k')
    await field.waitFor()
  }
  await open()
  t.equal(await page.locator('input:focus').getAttribute('name'), 'q')
  t.same(await seriousFindings(page), [])
  const links = dialog.getByRole('link')
  t.match(await links.allTextContents(), ['Home', 'Orders', 'Posts'])
  await page.keyboard.press('Control+k')
  t.equal(await page.locator('dialog').count(), 1, 'it opens once')
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })

  await open()
  await page.keyboard.type('t LOG')
  t.same(await links.allTextContents(), ['Audit log'])
  await page.keyboard.press('Enter')
  await page.waitForURL(`${baseUrl}/app/audit`)

  await open()
  await page.keyboard.type('token')
  await page.keyboard.press('ArrowDown')
  t.equal(await page.locator('a:focus').textContent(), 'Service tokens')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  t.equal(await page.locator('button:focus').textContent(), 'Search “token” in names and IDs')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${baseUrl}/app/go?q=token`)
  t.equal(await page.locator('a:focus').textContent(), 'Service tokens', 'Enter follows the first')

  await open()
  await page.keyboard.type('invite')
  t.same(await links.allTextContents(), ['Invite a member'], 'an action')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${baseUrl}/app/tenant/invitations/new`)

  await open()
  await page.keyboard.type(`delivery ${deliveryId}`)
  await dialog
    .getByRole('status')
    .filter({ hasText: '1 object found' })
    .waitFor({ state: 'attached' })
  t.same(await links.allTextContents(), [`Delivery ${deliveryId} Webhooks`])
  t.same(await seriousFindings(page), [])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${baseUrl}/app/deliveries/${deliveryId}`)

  await open()
  await page.keyboard.type('8.8.8.8')
  await links.filter({ hasText: 'https://8.8.8.8/hook' }).waitFor()
  await page.keyboard.type('x')
  await dialog
    .getByRole('status')
    .filter({ hasText: 'No objects found' })
    .waitFor({ state: 'attached' })
  t.equal(await links.count(), 0, 'those of the text before are gone')
  await page.goto(`${baseUrl}/app/webhooks`)

  await page.evaluate(`{
    const other = document.createElement('dialog')
    document.body.append(other)
    other.showModal()
  }`)
  await page.keyboard.press('Control+k')
  t.equal(await page.locator('dialog').count(), 1, 'not over another dialog')
  t.same(faults, [], 'the content security policy blocks nothing')
})

t.test('without scripts the same search is a page', async (t) => {
  const { page, baseUrl } = await openEndpoint(t, { javaScriptEnabled: false })
  await page.goto(`${baseUrl}/app/webhooks`)
  t.equal(await page.locator('kbd').isVisible(), false, 'no shortcut is promised')
  await page.getByRole('link', { name: 'Go to…' }).click()
  await page.getByLabel('Page, action, name or ID').fill('endpoint')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${baseUrl}/app/webhooks/new`)
})

t.test('a pressed button cannot be pressed twice', async (t) => {
  const { page, baseUrl, path } = await openEndpoint(t)
  await page.goto(baseUrl + path)
  // The answer takes long: the page stays as it was.
  await page.evaluate(`document.addEventListener('submit', (event) => event.preventDefault())`)
  const button = page.getByRole('button', { name: 'Send test event' })
  await button.click()
  await page.locator('button[aria-busy]', { hasText: 'Send test event' }).waitFor()
  t.equal(await button.isDisabled(), true)
  await page.evaluate(`window.dispatchEvent(new Event('pageshow'))`)
  t.equal(await button.isDisabled(), false, 'back on the page, it can be pressed again')
})

t.test('every fault of a form is named beside its field, and the text is kept', async (t) => {
  const { page, faults, baseUrl } = await openEndpoint(t)
  await page.goto(`${baseUrl}/app/webhooks/new`)
  await page.getByLabel('Description').fill('kept')
  await page.getByText('Rate, content and recovery').click()
  await page.getByLabel('Deliveries per second').fill('99999')
  await page.getByText('Rate, content and recovery').click()
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  const named = page.locator('label:has([aria-invalid]) .fault')
  t.equal(await named.count(), 2, 'the URL and the rate')
  t.equal(await page.locator('input:focus').getAttribute('name'), 'url')
  t.ok(await page.getByLabel('Deliveries per second').isVisible(), 'its group is open')
  t.equal(await page.getByRole('button', { name: 'Add endpoint' }).isDisabled(), false)

  await page.getByLabel('URL').fill('https://8.8.8.8/second')
  t.equal(await named.count(), 1, 'the corrected field has none')
  await page.getByLabel('Deliveries per second').fill('5')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.waitForURL(/created/)
  t.match(await page.locator('main').textContent(), 'kept')
  t.same(faults, [])
})

t.test('without scripts the page has the same facts, and a button for the filter', async (t) => {
  const { page, baseUrl, path, deliveryId } = await openEndpoint(t, { javaScriptEnabled: false })
  await page.goto(baseUrl + path)
  t.match(await page.locator('tbody time').first().textContent(), /UTC$/)
  await page.getByLabel('Status', { exact: true }).selectOption('succeeded')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/status=succeeded/)
  await page.goto(`${baseUrl}/app/deliveries/${deliveryId}`)
  t.equal(await page.getByRole('button', { name: 'Copy event ID' }).count(), 0)
})

t.test('assets are kept for a year under the version of their bytes only', async (t) => {
  const { app } = await build(t)
  const { body } = await app.inject({ url: '/', headers: { accept: 'text/html' } })
  for (const name of ['gatehouse.css', 'gatehouse.js']) {
    const path = new RegExp(`/assets/${name}\\?v=\\w+`).exec(body)?.[0] ?? ''
    t.match((await app.inject(path)).headers['cache-control'], /max-age=31536000, immutable/)
    for (const other of [`/assets/${name}`, `/assets/${name}?v=0`])
      t.notMatch((await app.inject(other)).headers['cache-control'], /immutable/, other)
  }
})

t.test('new rows appear by themselves, and selected rows stay selected', async (t) => {
  const { page, faults, baseUrl, path, deliveryId, createAnother } = await openEndpoint(t)
  await page.goto(baseUrl + path)
  await page.getByText('New rows appear by themselves.').waitFor()
  await page.locator(`input[value="${deliveryId}"]`).check()
  const another = await createAnother()
  await page.locator(`input[value="${another}"]`).waitFor()
  t.equal(await page.locator('[data-live] tbody tr').count(), 2)
  t.equal(await page.locator('[data-live] tbody input').first().getAttribute('value'), another)
  t.ok(await page.locator(`input[value="${deliveryId}"]`).isChecked())
  t.equal(await page.getByRole('link', { name: 'Reload' }).isVisible(), false)
  t.same(faults, [], 'the content security policy blocks nothing')
})
