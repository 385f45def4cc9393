import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { startProvider } from '#dev/demo/provider.ts'
import { build } from '#test/support/app/app.ts'
import { seriousFindings } from '#test/support/browser/accessible.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { owners } from '#test/support/callers/account.ts'

const people = {
  home: [
    { subject: 'ada', name: 'Ada at home', email: 'ada@home.example', note: '' },
    { subject: 'bob', name: 'Bob at home', email: 'bob@home.example', note: '' },
  ],
  work: [{ subject: 'a.okafor', name: 'Ada at work', email: 'ada@work.example', note: '' }],
}

/** The server with two certified providers, on its own port. */
async function serve(t: Test) {
  const port = await findFreePort()
  const baseUrl = `http://localhost:${port}`
  const settings: Record<string, string> = { BASE_URL: baseUrl, OIDC_PROVIDERS: 'home,work' }
  for (const name of ['home', 'work'] as const) {
    const provider = await startProvider({
      port: 0,
      clientId: 'gatehouse',
      clientSecret: `the secret of ${name}`,
      redirectUris: [`${baseUrl}/auth/callback`],
      postLogoutRedirectUris: [baseUrl],
      people: people[name],
    })
    t.teardown(() => provider.stop())
    const prefix = `OIDC_${name.toUpperCase()}`
    settings[`${prefix}_ISSUER`] = provider.issuer
    settings[`${prefix}_CLIENT_ID`] = 'gatehouse'
    settings[`${prefix}_CLIENT_SECRET`] = `the secret of ${name}`
    settings[`${prefix}_LABEL`] = name
  }
  const test = await build(t, settings)
  await test.app.listen({ port, host: '127.0.0.1' })
  return { ...test, baseUrl }
}

/** Submits the form of a page, which leads to the provider's page. */
async function submitForm(page: Page, action: string): Promise<void> {
  await page.evaluate(
    `(() => {
      const form = document.createElement('form')
      form.method = 'post'
      form.action = ${JSON.stringify(action)}
      document.body.append(form)
      form.submit()
    })()`,
  )
}

const choose = (page: Page, name: string) =>
  page.getByRole('button', { name: new RegExp(name) }).click()

t.test('a browser links an identity, re-authenticates, signs in with either', async (t) => {
  const server = await serve(t)
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const home = `${server.baseUrl}/`
  await page.goto(`${server.baseUrl}/auth/login`)
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  t.strictSame(await seriousFindings(page), [], 'several providers')
  await page.getByRole('link', { name: 'Sign in with home' }).click()
  await choose(page, 'Ada at home')
  await page.getByRole('link', { name: 'Skip', exact: true }).click()
  await page.waitForURL(home)

  await submitForm(page, '/auth/identities/work')
  await choose(page, 'Ada at work')
  await page.waitForURL(home)
  const [userId] = Object.values(await owners(server))
  t.same(await owners(server), { 'home:ada': userId, 'work:a.okafor': userId })

  await server.database.admin.query(
    `UPDATE sessions SET authenticated_at = now() - interval '1 hour'`,
  )
  await submitForm(page, '/auth/identities/work')
  await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor()
  t.strictSame(await seriousFindings(page), [], 'a refusal that asks for re-authentication')
  await page.getByRole('link', { name: 'Confirm' }).click()
  await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor()
  t.strictSame(await seriousFindings(page), [], 'providers for re-authentication')
  await page.getByRole('link', { name: 'Sign in with home' }).click()
  await choose(page, 'Ada at home')
  await page.waitForURL(home)
  await submitForm(page, '/auth/identities/home')
  await choose(page, 'Bob at home')
  await page.waitForURL(home)
  t.same(await owners(server), {
    'home:ada': userId,
    'home:bob': userId,
    'work:a.okafor': userId,
  })

  const other = await (await browser.newContext()).newPage()
  await other.goto(home)
  await other.getByRole('link', { name: 'Sign in with work' }).click()
  await choose(other, 'Ada at work')
  await other.waitForURL(home)
  const me = await other.goto(`${server.baseUrl}/me`)
  t.match(await me?.json(), { user: { id: userId, email: 'ada@home.example' } })
})
