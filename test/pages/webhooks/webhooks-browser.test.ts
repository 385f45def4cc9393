import type { Page } from 'playwright-core'
import t from 'tap'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser, reloadUntil } from '#test/support/browser/browser.ts'
import { runDemo } from '#test/support/processes/program.ts'

t.test(
  'webhooks pages by keyboard only: add an endpoint, test it, read a failure, replay',
  async (t) => {
    const { baseUrl, output } = await runDemo(t)
    const receiver = /receiver at (http:\S+),/.exec(output())?.[1]
    const browser = await launchBrowser()
    t.teardown(() => browser.close())
    const page = await browser.newPage()
    const faults: string[] = []
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on('pageerror', (error) => faults.push(error.message))
    await page.goto(baseUrl)
    await press(page, 'link', 'Sign in with the demo provider')
    await press(page, 'button', /Ada Okafor/)
    await page.waitForURL(`${baseUrl}/`)

    await press(page, 'link', 'Webhooks')
    await heading(page, 'Endpoints')
    t.same(await seriousFindings(page), [], 'the endpoints')
    await press(page, 'link', 'Add an endpoint')
    await heading(page, 'Add an endpoint')
    t.same(await seriousFindings(page), [], 'the form of a new endpoint')
    await page.getByLabel('URL').pressSequentially(`${receiver}/webhooks?second`)
    await page.getByLabel('post.deleted').press('Space')
    await press(page, 'button', 'Add endpoint')
    await heading(page, 'Signing secret')
    t.match(await page.locator('.secret').textContent(), /^whsec_/)
    t.same(await seriousFindings(page), [], 'a new secret')

    await press(page, 'button', 'Send test event')
    await heading(page, 'Test result')
    const test = page.locator('section', { has: page.locator('#test') })
    t.match(await test.textContent(), /400 Attempt 1, .*failed signature check.*bad signature/s)
    t.same(await seriousFindings(page), [], 'the endpoint and its test')
    await press(page, 'link', 'View the request')
    await heading(page, 'endpoint.test')
    t.match(
      await page.getByLabel('Request body', { exact: true }).textContent(),
      /"type":"endpoint.test"/,
    )
    t.same(await seriousFindings(page), [], 'the delivery')

    await press(page, 'button', 'Replay delivery')
    await page.getByRole('status').getByText('Replay scheduled').waitFor()
    await reloadUntil(page, page.getByRole('heading', { name: 'Replay 1' }))

    await page.locator('main header a').nth(1).press('Enter')
    await page.getByText('Choose their time').press('Enter')
    await page.getByLabel('All deliveries, including successful ones').press('Space')
    await press(page, 'button', 'Count deliveries')
    await heading(page, 'Replay 1 delivery?')
    t.same(await seriousFindings(page), [], 'the confirmation')
    await press(page, 'button', 'Replay 1 delivery')
    await page.getByRole('status').getByText('Done: 1 of 1 deliveries scheduled.').waitFor()
    await heading(page, 'Outcome')
    t.same(await seriousFindings(page), [], 'the progress')
    await press(page, 'link', 'View deliveries')
    await heading(page, 'Deliveries')
    t.same(faults, [], 'the content security policy blocks nothing')
  },
)

async function press(page: Page, role: 'link' | 'button', name: string | RegExp): Promise<void> {
  await page.getByRole(role, { name }).first().press('Enter')
}

async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { name, exact: true }).waitFor()
}
