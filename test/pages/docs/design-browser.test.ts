import t from 'tap'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'

t.test('every component in both schemes, at three widths', async (t) => {
  const { app } = await build(t)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const page = await browser.newPage({ baseURL: origin })
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  await page.goto('/app/design')
  const folder = t.testdir()
  for (const width of [390, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    const tooWide = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    t.equal(tooWide, 0, `${width} px: nothing is wider than the screen`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const path = `${folder}/design-${width}-${colorScheme}.png`
      const picture = await page.screenshot({ path, fullPage: true })
      t.ok(picture.length > 20_000, `${width} px, ${colorScheme}: a picture with content`)
    }
  }
  t.same(await seriousFindings(page), [])

  await page.getByRole('button', { name: 'Open a side panel' }).press('Enter')
  const panel = page.getByRole('complementary', { name: 'A side panel' })
  await panel.waitFor()
  t.same(await seriousFindings(page), [], 'with the panel open')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })

  await page.getByRole('button', { name: 'Dismiss' }).press('Enter')
  t.equal(await page.getByRole('status').count(), 0)
  t.same(faults, [], 'the content security policy blocks nothing')
})

t.test('in production there is no such page', async (t) => {
  const { app } = await build(t, {}, { production: true })
  const { statusCode } = await app.inject({ url: '/app/design', headers: { accept: 'text/html' } })
  t.equal(statusCode, 404)
  const outside = await build(t)
  t.equal((await outside.app.inject('/app/design')).statusCode, 200)
})
