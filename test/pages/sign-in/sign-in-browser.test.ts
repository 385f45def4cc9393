import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import t, { type Test } from 'tap'
import { presets } from '#src/config/providers/presets.ts'
import { systemClock } from '#src/runtime/clock.ts'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { startHostileProvider } from '#test/support/provider/hostile-provider.ts'
import { rsaKey } from '#test/support/provider/sign-in-journey.ts'

const names = ['google', 'microsoft', 'apple', 'github', 'gitlab', 'slack', 'linkedin', 'discord']
const widths = [320, 390, 1280]
/** Folder for screenshots, to be looked at. */
const { SCREENSHOTS: pictures } = process.env

t.test('the sign-in page with two and with eight providers', async (t) => {
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  for (const count of [2, 8]) {
    const baseUrl = await serve(t, names.slice(0, count))
    await look(t, browser, { baseUrl, count })
  }
})

/** The server with these providers, which are all the same one on this machine. */
async function serve(t: Test, providers: readonly string[]): Promise<string> {
  const op = await startHostileProvider({ clock: systemClock, keys: [rsaKey], secret: 'secret' })
  t.teardown(() => op.close())
  const settings: Record<string, string> = { OIDC_PROVIDERS: providers.join() }
  for (const name of providers) {
    const prefix = `OIDC_${name.toUpperCase()}`
    settings[`${prefix}_PRESET`] = 'none'
    settings[`${prefix}_LABEL`] = labelOf(name)
    settings[`${prefix}_ISSUER`] = op.issuer
    settings[`${prefix}_CLIENT_ID`] = 'gatehouse'
    settings[`${prefix}_CLIENT_SECRET`] = 'secret of the client'
  }
  const { app } = await build(t, settings)
  return app.listen({ port: 0, host: '127.0.0.1' })
}

type View = { baseUrl: string; count: number }

async function look(t: Test, browser: Browser, { baseUrl, count }: View): Promise<void> {
  const context = await browser.newContext()
  await context.addCookies([{ name: 'last_provider', value: 'microsoft', url: baseUrl }])
  const page = await context.newPage()
  await page.goto(`${baseUrl}/auth/login`)
  const labels = names.slice(0, count).map(labelOf)
  const inOrder = ['Microsoft', ...labels.filter((label) => label !== 'Microsoft')]
  const links = page.getByRole('navigation', { name: 'Sign-in methods' }).getByRole('link')
  await links.first().focus()
  for (const label of inOrder) {
    const focused = page.locator('a:focus')
    t.match(await focused.textContent(), new RegExp(`Sign in with ${label}$`), 'next by keyboard')
    await page.keyboard.press('Tab')
  }
  t.same(await seriousFindings(page), [])
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    t.equal(await page.evaluate(overflow), 0, `${count} providers fit into ${width} px`)
    for (const colorScheme of pictures === undefined ? [] : (['light', 'dark'] as const)) {
      await page.emulateMedia({ colorScheme })
      const path = join(pictures ?? '', `sign-in-${count}-${width}-${colorScheme}.png`)
      await page.screenshot({ path, fullPage: true })
    }
  }
  await context.close()
}

function labelOf(name: string): string {
  return presets.find((preset) => preset.name === name)?.label ?? name
}
