import t from 'tap'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { runDemo } from '#test/support/processes/program.ts'

t.test('a bookmark leads to sign-in and back; an expired session loses no text', async (t) => {
  const { baseUrl } = await runDemo(t)
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const open = async (path: string) => {
    const page = await browser.newPage()
    await page.goto(`${baseUrl}${path}`)
    await page.getByRole('link', { name: 'Sign in with the demo provider' }).press('Enter')
    await page.getByRole('button', { name: /Ada Okafor/ }).press('Enter')
    await page.waitForURL(`${baseUrl}${path}`)
    return page
  }
  const page = await open('/app/orders/1')
  const elsewhere = await open('/app/account')

  await elsewhere.getByText('Sign out all other devices').press('Enter')
  await elsewhere.getByRole('button', { name: 'Sign out all others' }).press('Enter')
  await elsewhere.getByRole('status').waitFor()
  await page.getByLabel('Address line 1').fill('12 “Quoted” <Square>')
  await page.getByRole('button', { name: /address/i }).press('Enter')
  await page.getByText('Your session has ended').waitFor()
  t.same(await seriousFindings(page), [], 'the session has ended')

  await page.getByRole('link', { name: 'Sign in' }).press('Enter')
  await page.getByRole('link', { name: 'Sign in with the demo provider' }).press('Enter')
  const account = page.getByRole('button', { name: /Ada Okafor/ })
  const field = page.getByLabel('Address line 1')
  await account.or(field).first().waitFor()
  if (await account.isVisible()) await account.press('Enter')
  await page.waitForURL(`${baseUrl}/app/orders/1`)
  t.equal(await field.inputValue(), '12 “Quoted” <Square>')
  await page.getByRole('status').getByText('It has not been sent yet.').waitFor()
  t.same(await seriousFindings(page), [], 'the form with the text')

  await page.reload()
  t.not(await field.inputValue(), '12 “Quoted” <Square>', 'it is shown once')
})
