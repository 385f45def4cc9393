import t from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'

t.test(
  'a request of the reference is sent and its response readable, under the policy of its page',
  async (t) => {
    const port = await findFreePort()
    const BASE_URL = `http://127.0.0.1:${port}`
    const test = await build(t, { BASE_URL })
    const user = await createUser(test.database, { role: 'admin' })
    const { cookie } = await signIn(test, user)
    const token = (
      await as(test, { cookie })('POST', '/auth/tokens', { name: 'docs', permissions: null })
    ).json().token
    await test.app.listen({ host: '127.0.0.1', port })
    const browser = await launchBrowser()
    t.teardown(() => browser.close())
    const context = await browser.newContext()
    await context.addCookies([{ name: 'sid', value: cookie.slice('sid='.length), url: BASE_URL }])
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== BASE_URL) faults.push(request.url())
    })

    await page.goto(`${BASE_URL}/docs`)
    await page.getByRole('searchbox', { name: 'Search the documentation' }).fill('place an order')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Place an order' }).click()
    await page.waitForURL(`${BASE_URL}/docs/api/orders#createOrder`)

    const operation = (name: string) => page.getByRole('region', { name, exact: true })
    const place = operation('Place an order')
    t.match(
      await place.getByLabel('curl sample').first().textContent(),
      'Authorization: Bearer gth_…',
    )
    await place.getByText('Python', { exact: true }).click()
    t.match(await place.getByLabel('Python sample').first().textContent(), 'import requests')

    await place.getByText('Try it').click()
    const send = place.getByRole('button', { name: 'Send the request' })
    const answer = place.getByRole('status')
    await send.click()
    t.equal(await answer.textContent(), '', 'a change has to be confirmed')
    await place.getByRole('checkbox').check()
    await send.click()
    await answer.getByText(/^201 Created/).waitFor()
    t.match(await answer.textContent(), /location: \/orders\/\d+/)
    t.match(await answer.textContent(), /"userId": \d+/)

    await page.getByLabel('API token').fill(token)
    const list = operation('List your orders in all your tenants, newest first')
    await list.getByText('Try it').click()
    await list.getByLabel('limit optional').fill('1')
    const [sent] = await Promise.all([
      page.waitForRequest(`${BASE_URL}/orders?limit=1`),
      list.getByRole('button', { name: 'Send the request' }).click(),
    ])
    t.equal((await sent.allHeaders()).authorization, `Bearer ${token}`)
    t.equal((await sent.allHeaders()).cookie, undefined)
    await list
      .getByRole('status')
      .getByText(/^200 OK/)
      .waitFor()
    t.match(await list.getByRole('status').textContent(), '"cardLast4": "4242"')

    const read = operation('Read one of your orders')
    await read.getByText('Try it').click()
    await read.getByLabel('id', { exact: true }).fill('0')
    t.same(faults, [], 'no message in the console')
    await read.getByRole('button', { name: 'Send the request' }).click()
    await read.getByRole('status').getByText(/^404/).waitFor()
    t.match(await read.getByRole('status').textContent(), '/docs/errors/not-found')
  },
)

t.test(
  'without scripts the reference is complete, and shows no form that does nothing',
  async (t) => {
    const test = await build(t)
    const origin = await test.app.listen({ host: '127.0.0.1', port: 0 })
    const browser = await launchBrowser()
    t.teardown(() => browser.close())
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${origin}/docs/api/orders`)
    t.equal(await page.locator('h1').textContent(), 'Orders')
    t.equal(await page.getByRole('heading', { name: 'Place an order' }).isVisible(), true)
    t.equal(await page.locator('.try:visible').count(), 0)
  },
)
