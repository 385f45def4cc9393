import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { runDemo } from '#test/support/processes/program.ts'
import { codeBlocks, readPage, root } from '../docs/page.ts'

/** The README's blocks, with ports that are free here. */
async function start(t: Test) {
  const [demo = '', serve = '', ...others] = codeBlocks(
    await readPage('examples/spa/README.md'),
    'sh',
  )
  t.strictSame(others, [])
  const port = String(await findFreePort())
  const withPort = (text: string) => text.replaceAll('5173', port)
  const [, name = '', value = ''] = /^(\w+)=(\S+) npm start\n$/.exec(withPort(demo)) ?? []
  t.equal(name, 'APP_ORIGINS')
  const { baseUrl } = await runDemo(t, undefined, { [name]: value })
  const child = spawn('/bin/sh', ['-c', `exec ${serve}`], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: port, GATEHOUSE_URL: baseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill())
  await once(child.stdout, 'data')
  return { baseUrl, front: withPort('http://localhost:5173') }
}

async function signIn(page: Page, person: RegExp): Promise<void> {
  await page.getByRole('link', { name: 'Sign in' }).click()
  const provider = page.getByRole('link', { name: /^Sign in with/ }).first()
  const choice = page.getByRole('button', { name: person })
  await provider.or(choice).first().waitFor()
  if (await provider.isVisible()) await provider.click()
  await choice.click()
}

t.test('the page signs in, lists, creates and signs out from another port', async (t) => {
  const { baseUrl, front } = await start(t)
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })

  await page.goto(front)
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  t.match(faults.splice(0), [/401/], 'only that nobody is signed in')
  t.same(await seriousFindings(page), [])

  await signIn(page, /Ada Okafor/)
  await page.waitForURL(`${front}/`)
  await page.locator('#email').getByText('ada@').waitFor()
  await page.getByRole('listitem').first().waitFor()
  t.pass('it lists the posts of the tenant')

  await page.getByLabel('Title').fill('From the <b>other</b> port')
  await page.getByLabel('Text').fill('Written in the browser')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Created.').waitFor()
  const first = page.getByRole('listitem').first()
  t.equal(await first.textContent(), 'From the <b>other</b> port: Written in the browser')
  await page.reload()
  await page.getByText('From the <b>other</b> port').waitFor()
  t.same(await seriousFindings(page), [])

  const [cookie] = (await page.context().cookies(baseUrl)).filter(({ name }) => name === 'sid')
  t.match(cookie, { sameSite: 'Lax', httpOnly: true, domain: 'localhost', path: '/' })

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  t.match(faults, [/401/], 'no script failed, and nothing was blocked')
})

t.test('the same page from a port that is not listed reads and changes nothing', async (t) => {
  const { baseUrl, front } = await start(t)
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(front)
  await signIn(page, /Ada Okafor/)
  await page.locator('#email').getByText('ada@').waitFor()

  // The same files, with the cookie in the browser, from a port beside it.
  const other = await context.newPage()
  const port = await findFreePort()
  await other.route(`http://localhost:${port}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname
    await route.fulfill({ response: await route.fetch({ url: front + path }) })
  })
  await other.goto(`http://localhost:${port}/`)
  await other.getByRole('link', { name: 'Sign in' }).waitFor()
  t.match(await other.getByRole('status').textContent(), /fetch/i, 'the browser shows it nothing')
  const written = await other.evaluate(async (url) => {
    const sent = { method: 'POST', credentials: 'include', mode: 'no-cors' } as const
    return fetch(`${url}/auth/logout`, sent).catch(({ message }) => message)
  }, baseUrl)
  t.equal(written, 'Failed to fetch', 'sent without a preflight, its response is blocked')
  await page.reload()
  await page.locator('#email').getByText('ada@').waitFor()
  t.pass('the session is live: the sign-out of the other port was refused')
})
