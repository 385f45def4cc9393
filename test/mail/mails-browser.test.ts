import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { addJob } from '#test/db/credentials.ts'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { bodiesOf } from '#test/support/receiver/mail-bodies.ts'
import { type MailServer, startMailServer } from '#test/support/receiver/mail-server.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** Pictures of the mails, to look at. */
const folder = fileURLToPath(new URL('../../dist/mails', import.meta.url))

const markup = `<img src="https://evil.example/x"><script>alert(1)</script>"'`
const link = 'javascript:alert(1) <a href="javascript:alert(1)">'
const rightToLeft = '\u202Eמִשְׂרָד\u2069 שלום'

const alertKinds = ['failing', 'disabled', 'recovering', 'recovered', 'certificate'] as const
const supportUrl = 'https://acme.example/help?a=1&b=2'
const testLogo = `<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48"><circle cx="24" cy="24" r="24" fill="#7a3ff2"/><path d="M14 34 24 12l10 22z" fill="#fff"/></svg>`

type Shown = ReturnType<typeof bodiesOf> & { name: string; to: string[]; raw: string }

t.test('every mail is readable in each form, loads nothing and escapes every name', async (t) => {
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const mail = await startMailServer(t)
  const mails = await receiveAll(t, mail, await pngOf(t, browser))
  t.equal(mails.length, 2 + 2 * alertKinds.length)
  const alerts = mails.filter(({ to }) => to.some((one) => !/^(ada|bo)@/.test(one)))
  for (const { name, to } of alerts) {
    t.same(to, [name.endsWith('de') ? 'jana@example.com' : 'boss@example.com'], name)
  }
  await mkdir(folder, { recursive: true })
  const page = await browser.newPage()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  for (const one of mails) {
    await t.test(one.name, async (t) => {
      await page.setContent(withImages(one))
      await showsNoMarkup(t, page, one)
      await hasLinks(t, page)
      await saysTheSame(t, page, one)
      t.same(await seriousFindings(page), [], 'axe')
      await takePictures(t, page, one.name)
    })
  }
  t.same(
    requests.filter((url) => !url.startsWith('data:')),
    [],
    'nothing is loaded',
  )
})

/** One mail of every kind in each language, as the mail server receives it. */
async function receiveAll(t: Test, mail: MailServer, logo: string): Promise<Shown[]> {
  const settings = {
    ...{ SMTP_URL: mail.url, ALERT_FROM: 'Acme Cloud <hello@example.com>', BRAND_LOGO: logo },
    ...{ BRAND_NAME: 'Acme Cloud', BRAND_SUPPORT_URL: supportUrl, BRAND_ACCENT: '#6a2be0,#b79bff' },
  }
  const test = await build(t, settings)
  const { database } = test
  const boss = { role: 'admin', email: 'boss@example.com', emailVerified: true } as const
  const admin = await owner(test, boss)
  const { tenantId, userId } = admin.user
  const jana = await createUser(database, { ...boss, tenantId, email: 'jana@example.com' })
  const nameUser = (id: number, name: string, locale: string | null) =>
    database.admin.query('UPDATE users SET name = $1, locale = $2 WHERE id = $3', [
      ...[name, locale, id],
    ])
  await nameUser(userId, `Ada Okafor ${markup}`, null)
  await nameUser(jana.userId, `Jana ${rightToLeft}`, 'de-AT')
  await database.admin.query('UPDATE tenants SET name = $1 WHERE id = $2', [
    ...[`Harbour & Sons ${markup} ${link} ${rightToLeft}`, tenantId],
  ])
  const worker = await startWorker(testConfig(database, settings), createLogger('silent'))
  t.teardown(() => worker.stop())
  const received: Shown[] = []
  const receive = async (kind: string) => {
    const { to, raw, text } = await mail.next()
    const bodies = bodiesOf(text)
    const name = `${kind}-${bodies.headers.get('content-language')}`
    received.push({ ...bodies, name, to, raw })
  }
  await admin.send('POST', '/users', { email: 'ada@example.com', role: 'editor' })
  await receive('invitation')
  await nameUser(userId, `Ada Okafor ${markup}`, 'de')
  await admin.send('POST', '/users', { email: 'bo@example.com', role: 'editor' })
  await receive('invitation')
  await nameUser(userId, 'Ada Okafor', 'fr')
  const endpointId = await createEndpoint(database, admin.user, { url: 'https://8.8.8.8/' })
  await database.admin.query(
    `UPDATE endpoint_states SET certificate_expires_at = now() + interval '9 days'`,
  )
  for (const kind of alertKinds) {
    const { rows } = await database.admin.query(
      `INSERT INTO notifications (tenant_id, kind, endpoint_id, message)
       VALUES ($1, $2, $3, '') RETURNING id`,
      [tenantId, `endpoint.${kind}`, endpointId],
    )
    const job = { tenantId, notificationId: Number(rows[0].id) }
    await addJob(database, 'alert-mail', job, 'created')
    await receive(kind)
    await receive(kind)
  }
  return received
}

/** Writes the logo as PNG. @returns its path */
async function pngOf(t: Test, browser: Browser): Promise<string> {
  const page = await browser.newPage({ viewport: { width: 48, height: 48 } })
  await page.setContent(`<body style="margin:0">${testLogo}`)
  const path = `${t.testdir()}/logo.png`
  await page.screenshot({ path, omitBackground: true })
  await page.close()
  return path
}

/** The HTML with its parts in place, as a mail program shows it. */
function withImages({ html, images }: Shown): string {
  return html.replaceAll(/src="cid:([^"]+)"/g, (_, cid) => `src="${images[cid]}"`)
}

async function showsNoMarkup(t: Test, page: Page, { name, html }: Shown): Promise<void> {
  t.equal(await page.locator('script, link, iframe, form, input, svg').count(), 0, 'no element')
  t.equal(await page.locator('img').count(), 1, 'the logo alone')
  t.equal(await page.evaluate('document.images[0].naturalWidth'), 48)
  const language = name.slice(-2)
  t.equal(await page.locator('html').getAttribute('lang'), language)
  const text = (await page.locator('body').textContent()) ?? ''
  t.match(text, `Harbour & Sons ${markup} ${link}`, 'the text itself')
  t.match(text, 'Acme Cloud')
  t.notMatch(html, /[\u202A-\u202E]/, 'no override of the direction')
  t.match(html, /<bdi>[^<]*מִשְׂרָד שלום<\/bdi>/, 'isolated')
}

/** The action, its address below, and the support of the brand. */
async function hasLinks(t: Test, page: Page): Promise<void> {
  const links = await page.evaluate<string[]>('[...document.links].map((one) => one.href)')
  const [action = '', below, support, ...more] = links
  t.match(action, /^http:\/\/localhost:\d+\/app\/(invitations|webhooks)\/[0-9a-f-]{36}/)
  t.same([below, support, more], [action, supportUrl, []])
}

/** The plain text has every sentence of the HTML, and the address of its links. */
async function saysTheSame(t: Test, page: Page, { text, raw, types, headers }: Shown) {
  t.same(types, ['text/plain', 'multipart/related', 'text/html', 'image/png'])
  t.match(headers.get('content-type'), /^multipart\/alternative;/)
  t.same(
    raw.split('\r\n').filter((line) => line.length > 78),
    [],
    'RFC 5322, 2.1.1',
  )
  const plain = text.replaceAll(/[\u2068\u2069]/g, '')
  const sentences = await page
    .locator('h1, p:not(:has(a)), th, td[class="ink"], a[class="label"]')
    .allTextContents()
  t.ok(sentences.length >= 6)
  for (const sentence of sentences) t.ok(plain.includes(sentence), sentence)
  const links = await page.evaluate<string[]>('[...document.links].map((one) => one.href)')
  for (const url of links) t.ok(plain.includes(url), url)
}

async function takePictures(t: Test, page: Page, name: string): Promise<void> {
  for (const width of [390, 900]) {
    await page.setViewportSize({ width, height: 700 })
    const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    t.equal(await page.evaluate(tooWide), 0, `${width} px`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({
        path: `${folder}/${name}-${width}-${colorScheme}.png`,
        fullPage: true,
      })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
}
