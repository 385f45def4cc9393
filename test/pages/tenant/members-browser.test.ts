import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { addIdentity } from '#test/support/callers/account.ts'

const phone = { width: 360, height: 740 }
const desktop = { width: 1280, height: 800 }

/** A listening server, an admin who is an operator, and pages of signed-in people. */
async function setUp(t: Test) {
  const test = await build(t, { OPERATORS: 'demo:olga' })
  const admin = await createUser(test.database, { role: 'admin', email: 'olga@acme.example' })
  await addIdentity(test, admin.userId, 'olga')
  const origin = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const faults: string[] = []
  const openAs = async (user: TestUser) => {
    const { cookie } = await signIn(test, user)
    const context = await browser.newContext({ baseURL: origin })
    await context.addCookies([{ name: 'sid', value: cookie.slice('sid='.length), url: origin }])
    const page = await context.newPage()
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    return page
  }
  return { test, admin, openAs, faults }
}

/** Faults of the page in both sizes, with every confirmation open. */
async function findingsOf(page: Page): Promise<unknown[]> {
  await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true })')
  const found: unknown[] = await seriousFindings(page)
  for (const size of [phone, desktop]) {
    await page.setViewportSize(size)
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - innerWidth',
    )
    if (overflow > 0) found.push(`${overflow} px too wide at ${size.width}`)
  }
  return found
}

t.test('an admin invites, a guest accepts, the admin removes them, by keyboard only', async (t) => {
  const { test, admin, openAs, faults } = await setUp(t)
  const { tenantId } = admin
  for (const name of ['Zoe', 'Yan']) {
    await createUser(test.database, { tenantId, email: `${name.toLowerCase()}@acme.example` })
  }
  const guest = await createUser(test.database, {
    role: 'admin',
    email: 'guest@elsewhere.example',
    emailVerified: true,
  })
  const page = await openAs(admin)
  await page.goto('/app/tenant')
  t.same(await findingsOf(page), [], 'members')
  await page.getByRole('link', { name: 'Invite a member' }).press('Enter')
  await page.getByRole('heading', { name: 'Invite a member' }).waitFor()
  t.same(await findingsOf(page), [], 'an invitation')
  await page.getByLabel('Email', { exact: true }).fill('guest@elsewhere.example')
  await page.getByRole('button', { name: 'Invite' }).press('Enter')
  await page.getByRole('status').getByText('Send them the link below.').waitFor()
  t.same(await findingsOf(page), [], 'a pending invitation')
  const link = (await page.locator('#invitations ~ table code').textContent()) ?? ''

  const theirs = await openAs(guest)
  await theirs.goto('/')
  t.same(await findingsOf(theirs), [], 'an invitation on the start page')
  const { pathname, search } = new URL(link)
  await theirs.goto(pathname + search)
  t.same(await findingsOf(theirs), [], 'the page of the invitation')
  await theirs.getByRole('button', { name: /^Accept/ }).press('Enter')
  await theirs.getByRole('status').getByText('You are a member now.').waitFor()
  t.same(await findingsOf(theirs), [], 'their tenants')

  await page.goto('/app/tenant?search=guest')
  await page.getByLabel('Remove guest@elsewhere.example', { exact: true }).press('Enter')
  await page.getByRole('checkbox', { name: /^Remove guest/ }).press('Space')
  await page.getByRole('button', { name: 'Remove guest@elsewhere.example now' }).press('Enter')
  await page.getByRole('status').getByText('Member removed.').waitFor()
  t.same(faults, [], 'the content security policy blocks nothing')
})

t.test('a user revokes a token, and an operator links a customer, by keyboard only', async (t) => {
  const { admin, openAs, faults } = await setUp(t)
  const page = await openAs(admin)
  await page.goto('/app/account/tokens')
  await page.getByRole('link', { name: 'Create a token' }).press('Enter')
  await page.getByLabel('Name', { exact: true }).fill('nightly')
  await page.getByLabel('It may do').selectOption('all')
  await page.getByRole('button', { name: 'Create token' }).press('Enter')
  await page.getByRole('heading', { name: 'nightly' }).waitFor()
  await page.goto('/app/account/tokens')
  t.same(await findingsOf(page), [], 'a token')
  await page.goto('/app/account/tokens')
  await page.getByLabel('Revoke the token nightly', { exact: true }).press('Enter')
  await page.getByRole('checkbox', { name: /^Revoke this token/ }).press('Space')
  await page.getByRole('button', { name: 'Revoke the token nightly now' }).press('Enter')
  await page.getByRole('status').getByText('Token revoked.').waitFor()

  await page.goto('/app/billing/customers')
  await page.getByRole('link', { name: 'Link a customer' }).press('Enter')
  await page.getByRole('textbox', { name: 'Customer' }).fill('cus_olga')
  await page.getByRole('textbox', { name: 'User' }).fill(String(admin.userId))
  await page.getByRole('button', { name: 'Link customer' }).press('Enter')
  await page.getByRole('status').getByText('Linked.').waitFor()
  t.same(await findingsOf(page), [], 'billing customers')
  t.same(faults, [], 'the content security policy blocks nothing')
})
