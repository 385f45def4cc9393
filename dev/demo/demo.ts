import { resolve } from 'node:path'
import pg from 'pg'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { type EmbeddedPostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { samplePayments, signSample } from '#src/billing/sample.ts'
import { type Person, people, strangers } from '#src/commands/development/sample/people.ts'
import { seed } from '#src/commands/development/sample/seed.ts'
import type { Demo } from '#src/commands/kit/development.ts'
import { readBillingProvider } from '#src/config/billing.ts'
import type { Config } from '#src/config/config.ts'
import { list, readClock, readEncryptionKeys } from '#src/config/parse.ts'
import { randomToken } from '#src/crypto/hash.ts'
import type { DemoOfApp } from '#src/resources/define-app.ts'
import { app } from '#src/resources/running-app.ts'
import { unixSeconds } from '#src/runtime/clock.ts'
import { onFirstUse } from '#src/runtime/lazy.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { isPortRefused, toListenProblem } from '#src/runtime/process/ports.ts'
import { migrate } from '#src/schema/migrate.ts'
import { passwordLiteral } from '#src/schema/roles.ts'
import { startBillingApi } from './billing-api.ts'
import { requireDemoPackages } from './packages.ts'
import { type LocalProvider, startProvider } from './provider.ts'
import { addSampleCustomer, type DemoReceiver, startReceiver } from './receiver.ts'
import { announceDemo, findRunningDemo, readSecrets, type Secrets } from './running-demo.ts'
import { startStripe } from './stripe.ts'

type Environment = Readonly<Record<string, string | undefined>>

const dataFolder = '.data'
const databaseName = 'gatehouse'
const clientId = 'gatehouse-demo'
const usualPorts = {
  DEMO_PROVIDER_PORT: 3001,
  DEMO_RECEIVER_PORT: 3002,
  DEMO_BILLING_PORT: 3003,
  DEMO_SECOND_PROVIDER_PORT: 3004,
} as const

/**
 * Starts the parts that are not configured, outside production: a real PostgreSQL in `.data/`
 * (migrated and seeded), a real OpenID Provider, random secrets. Configured parts are used as given.
 * One demo runs in a folder; a process without embedded parts can run beside it.
 * @throws OperatorError if a demo runs in this folder and this process needs embedded parts too, or a package is
 *   missing
 */
export async function startDemo(given: Environment): Promise<Demo> {
  const embedded = {
    database: given.DATABASE_URL === undefined,
    provider: given.OIDC_PROVIDERS === undefined,
  }
  const folder = resolve(dataFolder)
  if (!embedded.database && !embedded.provider) {
    const env = await completeSettings(given, folder)
    return { env, embedded, customer: null, stop: async () => {} }
  }
  requireDemoPackages(embedded)
  await refuseSecondDemo()
  const env = await completeSettings(given, folder)
  const secrets = await readSecrets(folder)
  const started: { stop(): Promise<void> }[] = []
  const stop = onFirstUse(async () => {
    for (const part of started.toReversed()) await part.stop()
  })
  try {
    if (embedded.provider) {
      for (const offered of providers) started.push(await addProvider(env, secrets, offered))
    }
    if (embedded.database && env.BILLING_API_URL === undefined)
      started.push(await addBillingApi(env))
    if (embedded.database) started.push(await addDatabase(env, secrets, folder))
    const receiver = embedded.database ? await addReceiver(env, secrets) : null
    if (receiver !== null) started.push(receiver)
    const customer = receiver && { receiverUrl: receiver.url, token: secrets.token }
    started.push({ stop: await announceDemo(addedSettings(env, given), customer) })
    return { env, embedded, customer, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function refuseSecondDemo(): Promise<void> {
  const running = await findRunningDemo()
  if (running === null) return
  throw new OperatorError(
    `A demo already runs in this folder: ${running.env.BASE_URL}, process ${running.pid}.`,
    'Stop it first, or set DATABASE_URL and OIDC_PROVIDERS to use your own.',
  )
}

/** Adds the address, and random secrets for those that are not configured. */
async function completeSettings(given: Environment, folder: string): Promise<Demo['env']> {
  const env: Demo['env'] = { ...given }
  const port = env.PORT === '0' ? await findFreePort() : Number(env.PORT ?? 3000)
  env.PORT = String(port)
  env.BASE_URL ??= `http://localhost:${port}`
  const { SESSION_SECRETS, BILLING_WEBHOOK_SECRETS, ENCRYPTION_KEYS } = env
  if (SESSION_SECRETS && BILLING_WEBHOOK_SECRETS && ENCRYPTION_KEYS) return env
  const secrets = await readSecrets(folder)
  env.SESSION_SECRETS ??= secrets.session
  env.BILLING_WEBHOOK_SECRETS ??= secrets.billing
  env.ENCRYPTION_KEYS ??= secrets.encryption
  return env
}

/** What the demo has added to the given settings, and where it listens. */
function addedSettings(env: Environment, given: Environment): Environment {
  const added = Object.entries(env).filter(([name, value]) => value !== given[name])
  const { BASE_URL, PORT, ADMIN_PORT, BILLING_PROVIDER } = env
  return { ...Object.fromEntries(added), BASE_URL, PORT, ADMIN_PORT, BILLING_PROVIDER }
}

/**
 * Starts a part on the port of its setting, or on its usual port, which gives way to a free one.
 * @throws OperatorError if the port of the setting is taken; other errors as they are
 */
async function startAt<Part>(
  env: Environment,
  setting: keyof typeof usualPorts,
  start: (port: number) => Promise<Part>,
): Promise<Part> {
  const given = env[setting]
  if (given === undefined) {
    return start(usualPorts[setting]).catch((error) => {
      if (!isPortRefused(error)) throw error
      return start(0)
    })
  }
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN
  if (!(port <= 65_535)) {
    throw new OperatorError(`${setting}: ${given} is not a port.`, 'Set it to 0 to 65535.')
  }
  return start(port).catch((error) => {
    throw toListenProblem(error, { host: '127.0.0.1', port, setting })
  })
}

type OfferedProvider = {
  name: string
  port: keyof typeof usualPorts
  people: readonly Person[]
  settings: Readonly<Record<string, string>>
}

const providers: readonly OfferedProvider[] = [
  {
    name: 'demo',
    port: 'DEMO_PROVIDER_PORT',
    people,
    settings: { LABEL: 'the demo provider', TRUST_EMAIL: 'true' },
  },
  {
    // Answers with a form that the browser posts, as Apple does.
    name: 'second',
    port: 'DEMO_SECOND_PROVIDER_PORT',
    people: strangers,
    settings: { LABEL: 'the second provider', RESPONSE_MODE: 'form_post' },
  },
]

async function addProvider(
  env: Demo['env'],
  secrets: Secrets,
  { name, port: setting, people, settings }: OfferedProvider,
): Promise<LocalProvider> {
  const options = {
    clientId,
    clientSecret: secrets.client,
    redirectUris: [`${env.BASE_URL}/auth/callback`],
    postLogoutRedirectUris: [`${env.BASE_URL}/auth/signed-out`],
    people,
  }
  const provider = await startAt(env, setting, (port) => startProvider({ ...options, port }))
  env.OIDC_PROVIDERS = [env.OIDC_PROVIDERS, name].filter(Boolean).join()
  const whole = {
    ISSUER: provider.issuer,
    CLIENT_ID: clientId,
    CLIENT_SECRET: secrets.client,
    ...settings,
  }
  for (const [key, value] of Object.entries(whole)) env[`OIDC_${name.toUpperCase()}_${key}`] = value
  env.OPERATORS ??= 'demo:ada'
  return provider
}

/** The provider that BILLING_PROVIDER names: the specification's, or Stripe. Others need their own. */
async function addBillingApi(env: Demo['env']): Promise<{ stop(): Promise<void> }> {
  const provider = readBillingProvider(env)
  if (provider === 'stripe') return addStripe(env)
  if (provider !== 'signed') return { stop: async () => {} }
  const key = randomToken()
  const api = await startAt(env, 'DEMO_BILLING_PORT', (port) => startBillingApi(key, { port }))
  env.BILLING_API_URL = api.url
  env.BILLING_API_KEY = key
  return api
}

async function addStripe(env: Demo['env']): Promise<{ stop(): Promise<void> }> {
  const key = `sk_test_${randomToken()}`
  env.BILLING_PLANS ??= 'price_pro:pro,price_team:team'
  const prices = list(env.BILLING_PLANS).map((pair) => pair.split(':')[0] ?? '')
  const [secret = ''] = list(env.BILLING_WEBHOOK_SECRETS ?? '')
  const webhook = { url: `${env.BASE_URL}/webhooks/billing`, secret }
  const api = await startAt(env, 'DEMO_BILLING_PORT', (port) =>
    startStripe({ key, prices, webhook, port }),
  )
  env.BILLING_API_URL = api.url
  env.BILLING_API_KEY = key
  return api
}

async function addDatabase(
  env: Demo['env'],
  secrets: Secrets,
  folder: string,
): Promise<EmbeddedPostgres> {
  const postgres = await startPostgres({ dataDir: resolve(folder, 'postgres') })
  try {
    const owner = { name: 'gatehouse_owner', password: secrets.owner }
    await createOwnerAndDatabase(postgres.url('postgres'), owner)
    const ownerUrl = postgres.url(databaseName, owner)
    const url = postgres.url(databaseName, { name: 'gatehouse_app', password: secrets.app })
    const workerUrl = postgres.url(databaseName, {
      name: 'gatehouse_worker',
      password: secrets.worker,
    })
    await migrate({ ownerUrl, url, workerUrl })
    await seed(ownerUrl, env.OIDC_DEMO_ISSUER ?? 'demo')
    env.DATABASE_OWNER_URL = ownerUrl
    env.DATABASE_URL = url
    env.DATABASE_WORKER_URL = workerUrl
    return postgres
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

/** A webhook receiver of Acme's on loopback, allowed by OUTBOUND_ALLOW. */
async function addReceiver(env: Demo['env'], secrets: Secrets): Promise<DemoReceiver> {
  const options = {
    secret: secrets.endpoint,
    clock: readClock(env.GATEHOUSE_NOW, false, []), // a bad value is reported with the settings
    print: (line: string) => void process.stdout.write(`  ${line}\n`),
  }
  const receiver = await startAt(env, 'DEMO_RECEIVER_PORT', (port) =>
    startReceiver({ ...options, port }),
  )
  try {
    env.OUTBOUND_ALLOW = [env.OUTBOUND_ALLOW, receiver.hostAndPort].filter(Boolean).join()
    await addSampleCustomer(String(env.DATABASE_OWNER_URL), {
      keys: readEncryptionKeys(env.ENCRYPTION_KEYS, []),
      url: receiver.url,
      secret: secrets.endpoint,
      token: secrets.token,
    })
    return receiver
  } catch (error) {
    await receiver.stop()
    throw error
  }
}

/** Creates the owner without superuser rights, so that row-level security applies to it too. */
export async function createOwnerAndDatabase(
  superuserUrl: string,
  owner: { name: string; password: string },
  database = databaseName,
): Promise<void> {
  const superuser = new pg.Client({ connectionString: superuserUrl })
  await superuser.connect()
  try {
    const name = pg.escapeIdentifier(owner.name)
    const role = await superuser.query('SELECT FROM pg_roles WHERE rolname = $1', [owner.name])
    if (role.rowCount === 0) {
      const password = passwordLiteral(owner.password)
      await superuser.query(`CREATE ROLE ${name} LOGIN CREATEROLE PASSWORD ${password}`)
    }
    const known = await superuser.query('SELECT FROM pg_database WHERE datname = $1', [database])
    if (known.rowCount === 0) {
      await superuser.query(`CREATE DATABASE ${pg.escapeIdentifier(database)} OWNER ${name}`)
    }
  } finally {
    await superuser.end()
  }
}

/**
 * The text that the demo prints after its start: the address, and commands to paste. It names only
 * what the embedded parts have.
 */
export async function greeting(config: Config, { embedded, customer }: Omit<Demo, 'env' | 'stop'>) {
  const { baseUrl } = config
  const who = embedded.provider ? " and sign in as one of the demo's people" : ''
  const ofApp: DemoOfApp = (await app.demo?.())?.default ?? {}
  const facts = embedded.database && ofApp.facts !== undefined ? `\n  ${ofApp.facts}` : ''
  const end = embedded.database
    ? 'Ctrl-C stops everything. The data stays in .data/; delete that folder to start over.'
    : 'Ctrl-C stops everything.'
  return `
  Gatehouse is running: open ${baseUrl}${who}.${facts}
${partAddresses(config, embedded, customer)}${billingEvent(config)}${customer === null ? '' : changeOf(baseUrl, customer, ofApp)}
  ${end}
`
}

/** Where the other parts listen, whose ports are not always the usual ones. */
function partAddresses(
  { providers: [first, second], billing }: Config,
  embedded: Demo['embedded'],
  customer: Demo['customer'],
): string {
  const parts = [
    ['provider', embedded.provider ? first?.issuer : undefined, 'DEMO_PROVIDER_PORT'],
    [
      'second provider',
      embedded.provider ? second?.issuer : undefined,
      'DEMO_SECOND_PROVIDER_PORT',
    ],
    ['webhook receiver', customer?.receiverUrl, 'DEMO_RECEIVER_PORT'],
    ['billing API', embedded.database ? billing.api?.url : undefined, 'DEMO_BILLING_PORT'],
  ] as const
  const lines = parts.flatMap(([name, url, setting]) =>
    url === undefined ? [] : [`  ${name}: ${new URL(url).origin} (${setting})\n`],
  )
  return lines.length === 0 ? '' : `\n${lines.join('')}`
}

/** A billing event that the service accepts now. */
function billingEvent({ baseUrl, billing, clock }: Config): string {
  const timestamp = unixSeconds(clock)
  const type = samplePayments[billing.provider]
  const charge = { type, customer: 'cus_ada', amount: 4_900, currency: 'eur' }
  const { body, headers } = signSample(
    billing.provider,
    { ...charge, id: `evt_demo_${timestamp}`, created: timestamp, status: 'active' },
    billing.secrets[0],
  )
  const signature = Object.entries(headers).map(
    ([name, value]) => `    -H '${name}: ${value}' \\\n`,
  )
  return `
  A signed billing event, valid for five minutes (send it twice: the second is a duplicate):

  curl -i ${baseUrl}/webhooks/billing \\
    -H 'content-type: application/json' \\
${signature.join('')}    -d '${body}'
`
}

/** A change that is delivered to Acme's receiver. */
function changeOf(
  baseUrl: string,
  { receiverUrl, token }: NonNullable<Demo['customer']>,
  { change }: DemoOfApp,
): string {
  if (change === undefined) return `\n  A token of Ada for the API:\n\n  export TOKEN=${token}\n`
  const { method, path, body } = change
  return `
  A change that sends a webhook to Acme's receiver at ${new URL(receiverUrl).origin}, as Ada with an API token:

  export TOKEN=${token}
  curl -X ${method} ${baseUrl}${path} \\
    -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
    -d '${JSON.stringify(body)}'
`
}
