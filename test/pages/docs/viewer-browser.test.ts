import t from 'tap'
import { findFreePort } from '#src/demo/postgres/free-port.ts'
import { build } from '#test/support/app/app.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { createUser, signIn } from '#test/support/callers/callers.ts'

t.test('the viewer at /docs: search, links, samples, and a request with the session', async (t) => {
  const port = await findFreePort()
  const BASE_URL = `http://127.0.0.1:${port}`
  const test = await build(t, { BASE_URL })
  const user = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, user)
  await test.app.listen({ host: '127.0.0.1', port })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const context = await browser.newContext()
  await context.addCookies([{ name: 'sid', value: cookie.slice('sid='.length), url: BASE_URL }])
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && new URL(request.url()).origin !== BASE_URL) {
      faults.push(request.url())
    }
  })

  await page.goto(`${BASE_URL}/docs`)
  await page.getByRole('link', { name: 'Guide' }).waitFor()
  await page
    .getByRole('button', { name: /search/i })
    .first()
    .click()
  await page.getByRole('combobox', { name: 'Enter search query' }).fill('read your user')
  await page
    .getByRole('option', { name: /Read your user/ })
    .first()
    .click()
  await page.waitForURL(`${BASE_URL}/docs#tag/account/GET/me`)

  await page.reload()
  const operation = page.locator('section[id$="tag/account/GET/me"]')
  await operation.getByRole('heading', { name: /Read your user/ }).waitFor()
  t.match(await operation.textContent(), /curl/)
  await operation.getByRole('button', { name: /Shell Curl/ }).click()
  for (const client of ['Curl', 'Fetch', 'Requests']) {
    await page.getByRole('option', { name: client }).first().waitFor()
  }
  await page.keyboard.press('Escape')

  await operation.getByRole('button', { name: /Test Request/ }).click()
  const answered = page.waitForResponse(`${BASE_URL}/me`)
  await page.getByRole('button', { name: /^Send/ }).first().click()
  const answer = await answered
  t.equal(answer.status(), 200)
  t.match(await answer.json(), { user: { id: user.userId } })
  t.same(faults, [], 'nothing is fetched from elsewhere')
})

t.test('without scripts the browser goes on to the plain reference', async (t) => {
  const test = await build(t)
  const origin = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${origin}/docs`)
  await page.waitForURL(`${origin}/docs/plain`)
  t.equal(await page.locator('h1').textContent(), 'API reference')
})
