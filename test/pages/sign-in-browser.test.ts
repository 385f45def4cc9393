import t from 'tap'
import { launchBrowser } from '../browser.ts'
import { runDemo } from '../program.ts'

t.test('a browser is led through sign-in to one’s own order, and out again', async (t) => {
  const { baseUrl } = await runDemo(t)
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })

  await page.goto(baseUrl)
  await page.getByRole('link', { name: 'Sign in with the demo provider' }).click()
  await page.getByRole('button', { name: /Ada Okafor/ }).click()
  await page.waitForURL(`${baseUrl}/`)
  t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Acme')
  t.strictSame(faults, [], 'styles load under the content policy, nothing is blocked')

  await page.getByRole('link', { name: 'Order 1' }).click()
  t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Order 1')
  const foreign = await page.goto(`${baseUrl}/app/orders/7`)
  t.equal(foreign?.status(), 404)
  t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Not found')

  const context = page.context()
  const [cookie] = (await context.cookies()).filter(({ name }) => name === 'sid')
  t.match(cookie, { httpOnly: true, sameSite: 'Lax', path: '/', domain: 'localhost' })

  await page.goto(baseUrl)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
  t.strictSame(
    (await context.cookies()).filter(({ name }) => name === 'sid'),
    [],
    'the cookie is cleared',
  )
  if (cookie !== undefined) await context.addCookies([cookie])
  t.equal((await page.goto(`${baseUrl}/me`))?.status(), 401, 'the old cookie opens nothing')
})
