import t from 'tap'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { runDemo } from '#test/support/processes/program.ts'

t.test('account page by keyboard only: create a token and sign out another device', async (t) => {
  const { baseUrl } = await runDemo(t)
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const signIn = async () => {
    const page = await browser.newPage()
    await page.goto(baseUrl)
    await page.getByRole('link', { name: 'Sign in with the demo provider' }).press('Enter')
    await page.getByRole('button', { name: /Ada Okafor/ }).press('Enter')
    await page.waitForURL(`${baseUrl}/`)
    return page
  }
  const elsewhere = await signIn()
  const page = await signIn()
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))

  t.same(await seriousFindings(page), [], 'home')
  await page.getByRole('link', { name: 'Account' }).press('Enter')
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  t.same(await seriousFindings(page), [], 'account')
  await page.getByRole('link', { name: 'API tokens' }).press('Enter')
  await page.waitForURL(`${baseUrl}/app/account/tokens`)
  t.same(await seriousFindings(page), [], 'tokens')

  await page.getByRole('link', { name: 'Create a token' }).press('Enter')
  await page.waitForURL(`${baseUrl}/app/account/tokens/new`)
  t.same(await seriousFindings(page), [], 'a form')
  await page.getByLabel('Name', { exact: true }).press('a')
  await page.getByLabel('invoice:read').press('Space')
  await page.getByRole('button', { name: 'Create token' }).press('Enter')
  await page.getByRole('heading', { name: 'API token “a”' }).waitFor()
  t.match(await page.locator('.secret').textContent(), /^gth_/)
  t.same(await seriousFindings(page), [], 'a new token')

  await page.getByRole('link', { name: 'Overview' }).press('Enter')
  await page.getByRole('button', { name: /^Sign out of (?!this device)/ }).press('Enter')
  await page.getByRole('status').getByText('Signed out of that device.').waitFor()
  t.equal((await elsewhere.goto(`${baseUrl}/me`))?.status(), 401)
  t.same(faults, [], 'the content security policy blocks nothing')
})
