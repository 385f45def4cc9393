import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { greeting, startDemo } from '#dev/demo/demo.ts'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { announceDemo, findRunningDemo, withDemoSettings } from '#dev/demo/running-demo.ts'
import { testConfig, testSettings } from '#dev/testing/settings.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

const urls = {
  superuserUrl: '',
  ownerUrl: '',
  url: 'postgres://app:secret_word@127.0.0.1:9/gatehouse',
  workerUrl: 'postgres://worker:secret_word@127.0.0.1:9/gatehouse',
}
const file = '.data/running.json'

/** The demo keeps its files in the current folder. */
async function inEmptyFolder(t: Test): Promise<void> {
  const before = process.cwd()
  process.chdir(await temporaryFolder(t))
  t.teardown(() => process.chdir(before))
}

t.test('a running demo is found, and one whose process has ended is not', async (t) => {
  await inEmptyFolder(t)
  await mkdir('.data')
  t.equal(await findRunningDemo(), null)
  const remove = await announceDemo({ PORT: '3000' }, null)
  t.same(await findRunningDemo(), {
    ...{ pid: process.pid, env: { PORT: '3000' }, customer: null },
  })
  const running = JSON.parse(await readFile(file, 'utf8'))
  const stale: [string, object][] = [
    ['its id belongs to this process now', { started: 'earlier' }],
    ['its id belongs to another program now', { pid: 1 }],
    ['no process has its id', { pid: 2 ** 30 }],
    ['a file of an older version', { started: undefined }],
  ]
  for (const [name, change] of stale) {
    await writeFile(file, JSON.stringify({ ...running, ...change }))
    t.equal(await findRunningDemo(), null, name)
  }
  await writeFile(file, JSON.stringify(running))
  await remove()
  t.same(await readdir('.data'), [])
})

t.test('one demo runs in a folder; a process without embedded parts runs beside it', async (t) => {
  await inEmptyFolder(t)
  const given = { ...testSettings(urls), PORT: '4000' }
  const alone = await startDemo(given)
  t.match(alone.env, given)
  await alone.stop()
  t.same(await readdir('.'), [], 'no file is written when nothing is embedded')

  await mkdir('.data')
  await announceDemo({}, null)
  await startDemo(given)
  for (const setting of ['DATABASE_URL', 'OIDC_PROVIDERS']) {
    const partly = { ...given, [setting]: undefined }
    await t.rejects(startDemo(partly), /A demo already runs in this folder/, setting)
  }
})

t.test('configured secrets are not written, and stop() can be called twice', async (t) => {
  await inEmptyFolder(t)
  const settings = { ...testSettings(urls), SESSION_SECRETS: 'secret_word' }
  const demo = await startDemo({ ...settings, OIDC_PROVIDERS: undefined })
  t.same(demo.embedded, { database: false, provider: true })
  const written = await readFile(file, 'utf8')
  t.notMatch(written, 'secret_word')
  t.match(JSON.parse(written).env, {
    PORT: String,
    ADMIN_PORT: '0',
    BASE_URL: 'http://localhost:3000',
    OIDC_PROVIDERS: 'demo,second',
    OIDC_DEMO_ISSUER: /^http:/,
    OIDC_SECOND_RESPONSE_MODE: 'form_post',
  })
  await Promise.all([demo.stop(), demo.stop()])
  await demo.stop()
  t.equal(await findRunningDemo(), null)
})

t.test('other commands use a configured database or provider alone', async (t) => {
  const env = {
    BASE_URL: 'http://localhost:3000',
    DATABASE_URL: 'demo',
    DATABASE_WORKER_URL: 'demo',
    OIDC_PROVIDERS: 'demo',
    OIDC_DEMO_ISSUER: 'demo',
  }
  const complete = (given: Record<string, string>) =>
    withDemoSettings(given, { pid: 1, env, customer: null })
  t.same(complete({ LOG_LEVEL: 'warn' }), { ...env, LOG_LEVEL: 'warn' })
  const { DATABASE_URL: _, DATABASE_WORKER_URL: _worker, ...withoutDatabase } = env
  t.same(complete({ DATABASE_URL: 'own' }), { ...withoutDatabase, DATABASE_URL: 'own' })
  t.same(complete({ OIDC_PROVIDERS: 'own' }).OIDC_DEMO_ISSUER, undefined)
})

t.test('the greeting names what the embedded parts have', async (t) => {
  const config = testConfig(urls)
  const customer = { receiverUrl: 'http://127.0.0.1:3002/webhooks', token: 'gth_x' }
  const both = await greeting(config, { embedded: { database: true, provider: true }, customer })
  t.match(both, "open http://localhost:3000 and sign in as one of the demo's people.")
  t.match(both, /Ada \(Acme\) owns.*webhook-signature.*export TOKEN=gth_x.*stays in \.data/s)
  const provider = { embedded: { database: false, provider: true }, customer: null }
  t.match(
    await greeting(config, provider),
    /and sign in as one.*webhook-signature.*Ctrl-C stops everyth/s,
  )
  t.notMatch(await greeting(config, provider), /Ada \(Acme\)|TOKEN|\.data/)
  const database = { embedded: { database: true, provider: false }, customer }
  t.match(
    await greeting(config, database),
    /open http:\/\/localhost:3000\.\n.*Ada \(Acme\).*TOKEN/s,
  )
})

t.test('a port that is set is used, or the start fails and names the setting', async (t) => {
  await inEmptyFolder(t)
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const { port } = taken.address() as { port: number }
  const start = (value: string) =>
    startDemo({ DATABASE_URL: urls.url, PORT: '0', DEMO_PROVIDER_PORT: value })
  await t.rejects(start(String(port)), {
    name: 'OperatorError',
    message: `Port ${port} on 127.0.0.1 is in use.`,
    remedy: 'Stop the process that uses it, or set DEMO_PROVIDER_PORT to another port.',
  })
  for (const value of ['65536', '-1', 'x', ' ', '1e3']) {
    await t.rejects(
      start(value),
      { name: 'OperatorError', message: /^DEMO_PROVIDER_PORT: / },
      value,
    )
  }
  const free = String(await findFreePort())
  const demo = await start(free)
  t.teardown(demo.stop)
  t.equal(demo.env.OIDC_DEMO_ISSUER, `http://localhost:${free}`)
})

t.test('the ports of the parts are shown, with their settings', async (t) => {
  const config = testConfig(urls, { OIDC_DEMO_ISSUER: 'http://localhost:3911' })
  const api = { url: 'http://127.0.0.1:3913/v1', key: 'x' }
  const withApi = { ...config, billing: { ...config.billing, api } }
  const customer = { receiverUrl: 'http://127.0.0.1:3912/hooks', token: 'gth_x' }
  const shown = await greeting(withApi, { embedded: { database: true, provider: true }, customer })
  t.match(shown, 'provider: http://localhost:3911 (DEMO_PROVIDER_PORT)')
  t.match(shown, 'webhook receiver: http://127.0.0.1:3912 (DEMO_RECEIVER_PORT)')
  t.match(shown, 'billing API: http://127.0.0.1:3913 (DEMO_BILLING_PORT)')
  const none = { embedded: { database: false, provider: true }, customer: null }
  t.notMatch(await greeting(withApi, none), /receiver|billing API/)
})
