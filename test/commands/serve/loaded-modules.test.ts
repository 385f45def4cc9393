import t, { type Test } from 'tap'
import { testSettings } from '#dev/testing/settings.ts'
import { signedAs } from '#src/billing/sample.ts'
import { systemClock, unixSeconds } from '#src/runtime/clock.ts'
import { stripeCharge, stripeEvent } from '#test/billing/providers/bodies.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { until } from '#test/support/database/until.ts'
import { addresses, runProgram } from '#test/support/processes/program.ts'

const secret = 'whsec_0123456789'
/** What no process has, with the settings below: it would only take memory. */
const unneeded = {
  'the official packages of billing providers':
    /\/node_modules\/(stripe|@paddle|standardwebhooks|@stablelib)\//,
  'the Public Suffix List without APP_ORIGINS': /\/node_modules\/tldts/,
  'a mail client without a mail server': /\/node_modules\/nodemailer\//,
  'a log for people without a terminal': /\/node_modules\/pino-pretty\//,
  'tracing that is off': /\/node_modules\/@opentelemetry\/(sdk|exporter|resources|otlp)/,
  'Redis without shared limits': /\/node_modules\/ioredis\//,
  'the engine of migrations': /\/node_modules\/@prisma\/schema-engine-wasm\//,
  'the demo and the commands':
    /\/dev\/demo\/|\/src\/commands\/(?!serve|kit|program|completion|\w+\/command-line)/,
}
const unneededByRole = {
  web: { 'the client that calls URLs of customers': /\/node_modules\/undici\// },
  worker: {
    'routes and pages':
      /\/(routes\/(api|auth|pages|webhooks)|src\/pages\/(tenant|resources|webhooks|billing|operations|docs)|src\/app\.ts)/,
  },
}

t.test('running processes have loaded what they need and nothing else', async (t) => {
  const database = await createDatabase(t)
  const settings = {
    ...testSettings(database),
    NODE_ENV: 'production', // otherwise the demo supplies what is missing
    HOST: '127.0.0.1',
    ADMIN_HOST: '127.0.0.1',
    BASE_URL: 'https://app.example.com',
    TRUST_PROXY: '127.0.0.1',
    OIDC_DEMO_ISSUER: 'https://login.example.com',
    LOG_LEVEL: 'info',
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
    BILLING_PROVIDER: 'stripe',
    BILLING_WEBHOOK_SECRETS: secret,
  }
  const start = (role: string) => runProgram(t, ['serve'], { ...settings, ROLE: role })
  const [web, worker] = [await start('web'), await start('worker')]
  const { address } = await addresses(web)
  await worker.says(/"msg":"started"/)
  const body = stripeEvent('evt_1', 'charge.succeeded', stripeCharge())
  const headers = signedAs('stripe', secret, body, { id: '', created: unixSeconds(systemClock) })
  const sent = await fetch(`${address}/webhooks/billing`, { method: 'POST', body, headers })
  t.equal(await sent.text(), 'recorded')
  await until(database, `SELECT FROM received_events WHERE status = 'unlinked'`)
  for (const [role, program] of Object.entries({ web, worker })) {
    const [, inspector = ''] = await program.says(/Debugger listening on (ws:\S+)/)
    const modules = await modulesOf(t, inspector)
    t.ok(
      modules.some((one) => one.endsWith('/src/billing/providers/stripe.ts')),
      `${role}: the list has what verifies Stripe`,
    )
    t.ok(
      modules.some((one) => one.includes('/node_modules/')),
      `${role}: the list has packages`,
    )
    const patterns = { ...unneeded, ...unneededByRole[role as 'web' | 'worker'] }
    for (const [what, pattern] of Object.entries(patterns)) {
      const loaded = modules.filter((one) => pattern.test(one))
      t.strictSame(loaded, [], `${role} is without ${what}`)
    }
  }
})

/** The scripts that a running process has loaded, as its debugger lists them. */
async function modulesOf(t: Test, inspector: string): Promise<string[]> {
  const socket = new WebSocket(inspector)
  t.teardown(() => socket.close())
  const modules: string[] = []
  const listed = Promise.withResolvers<void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params } = JSON.parse(String(data))
    if (method === 'Debugger.scriptParsed') modules.push(params.url)
    if (id === 1) listed.resolve() // after the scripts that are there already
  })
  socket.addEventListener('error', () => listed.reject(new Error('no debugger')))
  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ id: 1, method: 'Debugger.enable' })),
  )
  await listed.promise
  return modules
}
