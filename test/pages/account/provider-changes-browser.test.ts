import { exportJWK, generateKeyPair } from 'jose'
import type { BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { type LocalProvider, startProvider } from '#dev/demo/provider.ts'
import { type Person, people } from '#src/commands/development/sample/people.ts'
import { build } from '#test/support/app/app.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'

/** The server on its own port, the certified provider, and a browser. */
async function openAll(t: Test) {
  const baseUrl = `http://localhost:${await findFreePort()}`
  const options = {
    clientId: 'gatehouse-test',
    clientSecret: 'a client secret of some length',
    redirectUris: [`${baseUrl}/auth/callback`],
    postLogoutRedirectUris: [`${baseUrl}/auth/signed-out`],
    people,
  }
  const jwks = await newKeys()
  const provider: { running: LocalProvider } = {
    // It is closed and opened again, so it must be a port that the system gives to nobody meanwhile.
    running: await startProvider({ ...options, port: await findFreePort(), jwks }),
  }
  t.teardown(() => provider.running.stop())
  const { issuer } = provider.running
  const { app } = await build(t, {
    BASE_URL: baseUrl,
    OIDC_DEMO_ISSUER: issuer,
    OIDC_DEMO_CLIENT_SECRET: options.clientSecret,
    OIDC_DEMO_LABEL: 'the provider',
  })
  await app.listen({ host: '127.0.0.1', port: Number(new URL(baseUrl).port) })
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const context = await browser.newContext()
  return {
    baseUrl,
    context,
    stopProvider: () => provider.running.stop(),
    /** Restarts the provider with the same issuer and without its previous state. */
    async startAgain(keys = jwks) {
      const port = Number(new URL(issuer).port)
      provider.running = await startProvider({ ...options, port, jwks: keys })
    },
  }
}

t.test('two tabs, a changed key set and an outage: the same sign-in works', async (t) => {
  const { baseUrl, context, stopProvider, startAgain } = await openAll(t)
  const [first, second] = [await context.newPage(), await context.newPage()]

  await openPicker(first, baseUrl)
  await openPicker(second, baseUrl)
  await choose(second, baseUrl, 'Grace')
  await choose(first, baseUrl, 'Ada')
  t.equal(await whoAmI(context, baseUrl), emailOf('Ada'), 'of two tabs, the last sign-in counts')

  await openPicker(first, baseUrl)
  await stopProvider()
  t.equal(await whoAmI(context, baseUrl), emailOf('Ada'), 'a session needs no provider')
  await startAgain()
  await openPicker(second, baseUrl)
  await choose(second, baseUrl, 'Grace')
  t.equal(await whoAmI(context, baseUrl), emailOf('Grace'), 'after the outage')

  await stopProvider()
  await startAgain(await newKeys())
  await openPicker(first, baseUrl)
  await openPicker(second, baseUrl)
  await choose(first, baseUrl, 'Ed')
  t.equal(await whoAmI(context, baseUrl), emailOf('Ed'), 'after a changed key set')
  await choose(second, baseUrl, 'Vera')
  t.equal(await whoAmI(context, baseUrl), emailOf('Vera'), 'also in the other tab')
})

t.test(
  'a provider that is down at the first sign-in is a 503 page; it works once it is up',
  async (t) => {
    const { baseUrl, context, stopProvider, startAgain } = await openAll(t)
    await stopProvider()
    const page = await context.newPage()
    const response = await page.goto(`${baseUrl}/auth/login`)
    t.equal(response?.status(), 503)
    t.match(response?.headers()['retry-after'], /^\d+$/)
    t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Sign-in failed')
    await startAgain()
    await page.getByRole('link', { name: 'Try again' }).click()
    await choose(page, baseUrl, 'Ada')
    t.equal(await whoAmI(context, baseUrl), emailOf('Ada'))
  },
)

t.test('sign-out, then logout at the provider, which redirects back', async (t) => {
  const { baseUrl, context } = await openAll(t)
  const page = await context.newPage()
  await openPicker(page, baseUrl)
  await choose(page, baseUrl, 'Ada')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
  t.equal((await context.request.get(`${baseUrl}/me`)).status(), 401, 'the local session has ended')
  await page.getByRole('link', { name: 'Also sign out of the provider' }).click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.waitForURL(/\/auth\/signed-out\?state=demo\./)
  t.match(await page.locator('main').textContent(), /You have returned from the provider\./)
  await openPicker(page, baseUrl)
  t.notMatch(await page.locator('main').textContent(), /signed in/, 'no session at the provider')
})

async function openPicker(page: Page, baseUrl: string): Promise<void> {
  await page.goto(`${baseUrl}/auth/login`)
  await page.getByRole('heading', { name: 'Choose who to sign in as' }).waitFor()
}

async function choose(page: Page, baseUrl: string, name: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(person(name).name) }).click()
  await page.waitForURL(({ pathname }) => ['/', '/app/welcome'].includes(pathname))
  // The first sign-in asks for the name of the tenant.
  await page.goto(`${baseUrl}/`)
}

async function whoAmI(context: BrowserContext, baseUrl: string): Promise<string> {
  const response = await context.request.get(`${baseUrl}/me`)
  return (await response.json()).user.email
}

const emailOf = (name: string) => person(name).email

function person(name: string): Person {
  const found = people.find((candidate) => candidate.name.startsWith(name))
  if (found === undefined) throw new Error(`no person is called ${name}`)
  return found
}

async function newKeys() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = await exportJWK(privateKey)
  return { keys: [{ ...key, kid: crypto.randomUUID(), alg: 'RS256', use: 'sig' }] }
}
