import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { runDemo, runProgram, sendEvent, temporaryFolder } from '#test/support/processes/program.ts'

const shots = process.env.SCREENSHOTS
const settings = { BILLING_PROVIDER: 'stripe', DEMO_BILLING_PORT: '0' }

t.test(
  'a checkout, a first payment, a refund and a cancelling at the sample of Stripe',
  async (t) => {
    const folder = await temporaryFolder(t)
    const demo = await runDemo(t, folder, settings)
    const { baseUrl } = demo
    const browser = await launchBrowser()
    t.teardown(() => browser.close())
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(baseUrl)
    await page.getByRole('link', { name: 'Sign in with the demo provider' }).click()
    await page.getByRole('button', { name: /Nia Castell/ }).click()
    await page.getByRole('link', { name: 'Skip', exact: true }).click()
    await page.waitForURL(`${baseUrl}/`)
    const plan = page.locator('section[aria-labelledby=plan]')
    const account = () => page.goto(`${baseUrl}/app/account`)
    const says = (words: string) =>
      untilTrue(async () => {
        await account()
        return (await plan.innerText()).includes(words)
      })
    await account()
    t.match(await plan.innerText(), /free[\s\S]*Buy pro[\s\S]*Buy team/)
    await look(page, 'none')

    await plan.getByRole('button', { name: 'Buy pro' }).click()
    await page.getByRole('button', { name: 'Pay 49.00 EUR' }).click()
    await page.waitForURL(`${baseUrl}/app/account#plan`)
    await says('Renews')
    t.match(await plan.innerText(), /pro[\s\S]*Active[\s\S]*Change or cancel/)
    t.notMatch(await plan.innerText(), 'Buy')
    await look(page, 'active')
    const invoices = async () => {
      await page.goto(`${baseUrl}/app/invoices`)
      return page.locator('main').innerText()
    }
    await untilTrue(async () => (await invoices()).includes('49.00'))
    t.match(await invoices(), /Paid/i)

    const act = async (name: string) => {
      await account()
      await plan.getByRole('button', { name: /Change or cancel|Cards and invoices/ }).click()
      await page.getByRole('button', { name }).click()
      await page.waitForURL(`${baseUrl}/app/account#plan`)
    }
    await act('Refund the last 49.00 EUR')
    await untilTrue(async () => /refunded/i.test(await invoices()))
    await act('Cancel at the end of the period')
    await says('Ends')
    t.match(await plan.innerText(), /pro[\s\S]*Active/)
    await look(page, 'ending')
    await act('Cancel now')
    await says('Ended')
    t.match(await plan.innerText(), /free[\s\S]*Buy pro/)
    await look(page, 'ended')

    const options = { cwd: folder }
    const change = ['--status', 'past_due', '--price', 'price_team', '--id', 'evt_past_due']
    const trigger = ['trigger', 'customer.subscription.updated', ...change]
    const sent = await sendEvent(() => runProgram(t, trigger, {}, options))
    t.equal(await sent.ended, 0, sent.output())
    t.match(sent.output(), /customer\.subscription\.updated: 200 recorded/)
    await demo.says(/"eventId":"evt_past_due","applied":"processed"/)

    const scripted = await browser.newPage()
    const faults: string[] = []
    scripted.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    await scripted.goto(baseUrl)
    await scripted.getByRole('link', { name: 'Sign in with the demo provider' }).click()
    await scripted.getByRole('button', { name: /Nia Castell/ }).click()
    await scripted.waitForURL(`${baseUrl}/`)
    for (const width of [1280, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await scripted.setViewportSize({ width, height: 844 })
        await scripted.emulateMedia({ colorScheme })
        await scripted.goto(`${baseUrl}/app/account#plan`)
        t.same(await seriousFindings(scripted), [], `${width} ${colorScheme}`)
        const isWider =
          'document.documentElement.scrollWidth > document.documentElement.clientWidth'
        t.equal(await scripted.evaluate(isWider), false, 'nothing is cut off')
      }
    }
    await scripted.getByRole('button', { name: 'Buy team' }).click()
    await scripted.getByRole('button', { name: 'Pay 49.00 EUR' }).waitFor()
    t.same(faults, [], 'the content security policy blocks nothing')

    async function look(page: Page, name: string): Promise<void> {
      if (shots === undefined) return
      for (const [width, height] of [
        [1280, 900],
        [390, 844],
      ] as const) {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height })
          await page.emulateMedia({ colorScheme })
          await plan.scrollIntoViewIfNeeded()
          await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`) })
        }
      }
    }
  },
)
