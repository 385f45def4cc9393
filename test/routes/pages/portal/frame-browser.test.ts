import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { portalCookie } from '#src/http/headers/portal-cookie.ts'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { portalOwner } from '#test/support/callers/portal.ts'

const hook = 'https://8.8.8.8/from-the-frame'

/**
 * The program on localhost, and two pages of the app on 127.0.0.1, which is another site: each makes a link
 * and shows it in a frame, and only the first is listed.
 */
async function start(t: Test) {
  let makeUrl = async () => ''
  const page = async () => {
    const server = createServer(async (_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(
        `<!doctype html><title>App</title><iframe title="Webhooks" src="${await makeUrl()}&amp;theme=dark" width="1000" height="800"></iframe>`,
      )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close().closeAllConnections())
    const { port } = server.address() as { port: number }
    return `http://127.0.0.1:${port}`
  }
  const [listed, other] = [await page(), await page()]
  const port = await findFreePort()
  const baseUrl = `http://localhost:${port}`
  const test = await build(t, { BASE_URL: baseUrl, PORTAL_FRAME_ORIGINS: listed })
  const { user, app } = await portalOwner(test)
  makeUrl = async () => {
    const made = await app.use('POST', `/tenants/${user.tenantId}/portal-links`)
    return made.json().url
  }
  await test.app.listen({ host: '127.0.0.1', port })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const context = await browser.newContext()
  return { test, context, baseUrl, listed, other, makeUrl }
}

function faultsOf(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  return faults
}

t.test('a listed page of another site frames the portal, and a form works in it', async (t) => {
  const { test, context, baseUrl, listed } = await start(t)
  const page = await context.newPage()
  const faults = faultsOf(page)
  // Without an icon the browser reports that there is none.
  await page.route('**/favicon.ico', (route) => route.fulfill({ body: '' }))
  await page.goto(listed)
  const frame = page.frameLocator('iframe')
  await frame.getByRole('heading', { name: 'Endpoints' }).waitFor()
  t.equal(await frame.locator('html').getAttribute('data-theme'), 'dark')
  const [cookie, ...others] = await context.cookies()
  t.match(cookie, { name: portalCookie, secure: true, httpOnly: true, sameSite: 'None' })
  t.equal(cookie?.partitionKey, 'http://127.0.0.1', 'for the site with the frame alone')
  t.strictSame(others, [])

  await frame.getByRole('link', { name: 'Add an endpoint' }).first().click()
  await frame.getByLabel('URL').fill(hook)
  await frame.getByRole('button', { name: 'Add endpoint' }).click()
  await frame.getByRole('heading', { name: 'Signing secret' }).waitFor()
  t.match(await frame.locator('.secret').textContent(), /^whsec_/)
  const { rows } = await test.database.admin.query('SELECT url FROM webhook_endpoints')
  t.strictSame(rows, [{ url: hook }])
  t.strictSame(faults, [], 'the content security policy blocks nothing, no script fails')

  const window = await context.newPage()
  const answer = await window.goto(`${baseUrl}/portal/webhooks`)
  t.equal(answer?.status(), 401, 'the session is that of the frame alone')
})

t.test('a page that is not listed shows nothing of the portal', async (t) => {
  const { context, other } = await start(t)
  const page = await context.newPage()
  const faults = faultsOf(page)
  const refused = page.waitForEvent('console', {
    predicate: (message) => message.text().includes('frame-ancestors'),
  })
  await page.goto(other)
  await refused
  t.match(faults.join('\n'), /frame-ancestors/)
  const [, frame] = page.frames()
  await frame?.waitForURL('chrome-error://chromewebdata/')
  t.equal(await page.frameLocator('iframe').getByRole('heading', { name: 'Endpoints' }).count(), 0)
})

t.test('in a window a button opens the link, and the pages are accessible', async (t) => {
  const { context, baseUrl, makeUrl } = await start(t)
  const page = await context.newPage()
  const faults = faultsOf(page)
  const url = await makeUrl()
  await page.goto(url)
  t.strictSame(await seriousFindings(page), [])
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByRole('heading', { name: 'Endpoints' }).waitFor()
  t.equal(page.url(), `${baseUrl}/portal/webhooks`)
  for (const name of ['Webhooks', 'Events', 'Event types']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
    t.strictSame(await seriousFindings(page), [], name)
  }
  t.strictSame(faults, [])
  await page.goto(url)
  await page.getByText('Open it again from the app').waitFor()
  t.strictSame(await seriousFindings(page), [], 'it works once, and says so')
  await page.getByRole('link', { name: 'Back to the webhooks' }).click()
  await page.getByRole('heading', { name: 'Endpoints' }).waitFor()
})
