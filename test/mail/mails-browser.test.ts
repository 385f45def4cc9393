import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { addJob } from '#test/db/credentials.ts'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { bodiesOf } from '#test/support/receiver/mail-bodies.ts'
import { startMailServer } from '#test/support/receiver/mail-server.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** Pictures of the mails, to look at. */
const folder = fileURLToPath(new URL('../../dist/mails', import.meta.url))

const hostile = `<img src="https://evil.example/x"><script>alert(1)</script>"'`

t.test('mails are readable in both schemes, load nothing and escape every name', async (t) => {
  const mail = await startMailServer(t)
  const settings = {
    ...{ SMTP_URL: mail.url, ALERT_FROM: 'Acme Cloud <hello@example.com>' },
    ...{ BRAND_NAME: 'Acme Cloud', BRAND_SUPPORT_URL: 'https://acme.example/help' },
  }
  const test = await build(t, settings)
  const { database } = test
  const admin = await owner(test, {
    ...{ role: 'admin', email: 'boss@example.com', emailVerified: true },
  })
  const { tenantId, userId } = admin.user
  await database.admin.query('UPDATE tenants SET name = $1 WHERE id = $2', [
    `Harbour & Sons ${hostile}`,
    tenantId,
  ])
  await database.admin.query('UPDATE users SET name = $1 WHERE id = $2', [
    `Ada Okafor ${hostile}`,
    userId,
  ])
  const worker = await startWorker(testConfig(database, settings), createLogger('silent'))
  t.teardown(() => worker.stop())
  await admin.send('POST', '/users', { email: 'ada@example.com', role: 'editor' })
  const received = [{ name: 'invitation', ...bodiesOf((await mail.next()).text) }]
  const endpointId = await createEndpoint(database, admin.user, { url: 'https://8.8.8.8/' })
  const { rows } = await database.admin.query(
    `INSERT INTO notifications (tenant_id, kind, endpoint_id, message)
     VALUES ($1, 'endpoint.failing', $2, $3) RETURNING id`,
    [tenantId, endpointId, `The webhook endpoint at 8.8.8.8 is failing. ${hostile}`],
  )
  const job = { tenantId, notificationId: Number(rows[0].id) }
  await addJob(database, 'alert-mail', job, 'created')
  received.push({ name: 'alert', ...bodiesOf((await mail.next()).text) })

  await mkdir(folder, { recursive: true })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  for (const { name, html } of received) {
    await page.setContent(html)
    t.equal(await page.locator('script, img, link, iframe, form').count(), 0, `${name}: no element`)
    t.match(await page.locator('body').textContent(), hostile.slice(0, 30), 'the text itself')
    t.match(await page.locator('body').textContent(), 'Harbour & Sons')
    t.match(await page.locator('body').textContent(), 'Acme Cloud')
    t.equal(await page.locator('a', { hasText: /^View the/ }).count(), 1, `${name}: a button`)
    t.same(await seriousFindings(page), [], name)
    for (const width of [390, 900]) {
      await page.setViewportSize({ width, height: 700 })
      const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      t.equal(await page.evaluate(tooWide), 0, `${name} at ${width} px`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.screenshot({
          path: `${folder}/${name}-${width}-${colorScheme}.png`,
          fullPage: true,
        })
      }
    }
  }
  t.same(requests, [], 'nothing is loaded')
})
