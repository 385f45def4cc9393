import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Signer } from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import type { Test } from 'tap'
import { buildApp } from '#src/app.ts'
import { type Config, readConfig } from '#src/config/config.ts'
import { createLogger } from '#src/observability/logger.ts'
import { OneAtATimePool } from './one-at-a-time.ts'
import { isOnCitus, logins, serverUrls, templateName, type Urls, urlsOf } from './template.ts'

export const webhookSecret = 'whsec_test_secret'
export const encryptionKey = `test:${'a'.repeat(43)}`
const sessionSecret = 'a session secret that is long enough for a test'

export type TestDatabase = Urls & {
  /** A superuser's connection, to which row-level security does not apply. */
  admin: pg.Pool
  /** The same on each node of a Citus cluster. */
  nodes?: readonly pg.Pool[]
}

/** A database for one test, copied from the migrated template and dropped when the test ends. */
export async function createDatabase(t: Test): Promise<TestDatabase> {
  const [clusterUrl, ...nodeUrls] = serverUrls()
  if (clusterUrl === undefined) throw new Error('Run tests with: npm test -- test/….test.ts')
  const servers = [clusterUrl, ...nodeUrls]
  const name = `test_${randomBytes(6).toString('hex')}`
  // FILE_COPY is faster than WAL_LOG; test databases need not survive a crash.
  const create = `CREATE DATABASE ${name} TEMPLATE ${templateName} STRATEGY FILE_COPY`
  await Promise.all(servers.map((url) => onCluster(url, (cluster) => cluster.query(create))))
  const urls = urlsOf(clusterUrl, name)
  const [admin, ...nodes] = servers.map((url) => openAdmin(urlsOf(url, name).superuserUrl))
  if (admin === undefined) throw new Error('There is no server.')
  t.teardown(async () => {
    await Promise.all([admin, ...nodes].map((pool) => pool.end()))
    for (const url of servers) await onCluster(url, (cluster) => dropDatabase(cluster, name))
  })
  return { ...urls, admin, nodes }
}

/** A database whose owner may create tables, on every server of a cluster, as `migrate` needs. */
export async function createOwnedDatabase(t: Test): Promise<TestDatabase> {
  const database = await createDatabase(t)
  const name = new URL(database.url).pathname.slice(1)
  for (const admin of [database.admin, ...(database.nodes ?? [])]) {
    await admin.query(`ALTER DATABASE ${name} OWNER TO ${logins.owner.name}`)
  }
  return database
}

function openAdmin(connectionString: string): pg.Pool {
  const Pool = isOnCitus() ? OneAtATimePool : pg.Pool
  const admin = new Pool({ connectionString, max: 4 })
  // Some tests, and the DROP below, terminate backends.
  admin.on('error', () => {})
  return admin
}

const closingLooks = 20
const closingPauseMs = 10

/**
 * The driver's pools end before their connections have closed. Ending those by force would be an error
 * that nobody listens to any more, so they get a moment; what a test has left open is ended then.
 */
async function dropDatabase(cluster: pg.Client, name: string): Promise<void> {
  for (let look = 0; look < closingLooks; look++) {
    const open = await cluster.query(
      `SELECT FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
      [name],
    )
    if (open.rowCount === 0) break
    await pause(closingPauseMs)
  }
  await cluster.query(`DROP DATABASE ${name} WITH (FORCE)`)
}

async function onCluster(
  clusterUrl: string,
  work: (cluster: pg.Client) => Promise<unknown>,
): Promise<void> {
  const cluster = new pg.Client({ connectionString: clusterUrl })
  await cluster.connect()
  await work(cluster).finally(() => cluster.end())
}

/** Settings for tests: free ports, no rate limits, and no log unless `LOG_LEVEL` is set. */
export function testSettings(urls: Urls): Record<string, string> {
  return {
    PORT: '0',
    ADMIN_PORT: '0',
    BASE_URL: 'http://localhost:3000',
    DATABASE_URL: urls.url,
    DATABASE_WORKER_URL: urls.workerUrl,
    SESSION_SECRETS: sessionSecret,
    BILLING_WEBHOOK_SECRETS: webhookSecret,
    ENCRYPTION_KEYS: encryptionKey,
    OIDC_PROVIDERS: 'demo',
    OIDC_DEMO_ISSUER: 'http://127.0.0.1:9',
    OIDC_DEMO_CLIENT_ID: 'gatehouse-test',
    OIDC_DEMO_CLIENT_SECRET: 'a client secret',
    OIDC_DEMO_TRUST_EMAIL: 'true',
    RATE_LIMIT_SIGN_IN: 'off',
    RATE_LIMIT_WEBHOOKS: 'off',
    RATE_LIMIT_LOGOUT: 'off',
    RATE_LIMIT_API: 'off',
    LOG_LEVEL: 'silent',
  }
}

/** @param settings overrides of testSettings */
export function testConfig(urls: Urls, settings: Record<string, string> = {}): Config {
  return readConfig({ ...testSettings(urls), ...settings })
}

export type TestApp = {
  app: FastifyInstance
  config: Config
  database: TestDatabase
  /** Every log line so far. */
  log: string[]
}

/**
 * The whole server on its own database, closed when the test ends.
 * @param settings overrides of testSettings
 * @param overrides overrides of the configuration, for instance a clock
 */
export async function build(
  t: Test,
  settings: Record<string, string> = {},
  overrides: Partial<Config> = {},
): Promise<TestApp> {
  const database = await createDatabase(t)
  const config = { ...testConfig(database, settings), ...overrides }
  const log: string[] = []
  const logger = createLogger('trace', { write: (line) => void log.push(line) })
  const app = await buildApp(config, logger)
  t.teardown(() => app.close())
  return { app, config, database, log }
}

export type TestUser = { userId: number; tenantId: string }

/** Creates a user as a member of a tenant; of a new tenant unless one is given. */
export async function createUser(
  database: TestDatabase,
  user: {
    role?: string
    department?: string
    email?: string
    emailVerified?: boolean
    billingCustomer?: string
    tenantId?: string
  } = {},
): Promise<TestUser> {
  const tenantId = user.tenantId ?? crypto.randomUUID()
  const own = user.tenantId === undefined
  if (own) {
    await database.admin.query('INSERT INTO tenants (id, name) VALUES ($1, $2)', [
      tenantId,
      `Tenant ${tenantId.slice(0, 8)}`,
    ])
    // A trigger has added it, except with Citus, where the functions that create tenants do.
    await database.admin.query(
      'INSERT INTO tenant_usage (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING',
      [tenantId],
    )
  }
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO users (email, email_verified, billing_customer, own_tenant_id)
     VALUES ($1, $2, $3, $4) RETURNING id`,
    [
      user.email ?? null,
      user.emailVerified ?? false,
      user.billingCustomer ?? null,
      own ? tenantId : null,
    ],
  )
  const userId = Number(rows[0]?.id)
  await database.admin.query(
    'INSERT INTO memberships (tenant_id, user_id, role, department) VALUES ($1, $2, $3, $4)',
    [tenantId, userId, user.role ?? 'viewer', user.department ?? null],
  )
  return { userId, tenantId }
}

/** Creates a session as sign-in does; resolves to its cookie header. */
export async function signIn(
  { config, database }: Pick<TestApp, 'config' | 'database'>,
  user: { userId: number; tenantId: string | null },
): Promise<{ cookie: string; cookieId: string }> {
  const cookieId = randomBytes(32).toString('base64url')
  await createSession(database, cookieId, user, config.session.absoluteSeconds)
  const signed = new Signer([...config.session.secrets]).sign(cookieId)
  return { cookie: `sid=${signed}`, cookieId }
}

/** Adds a session as a completed sign-in does, with the first identity of the user if there is one. */
async function createSession(
  { admin }: TestDatabase,
  cookieId: string,
  user: { userId: number; tenantId: string | null },
  absoluteSeconds: number,
): Promise<void> {
  await admin.query(
    `INSERT INTO sessions (id_hash, user_id, tenant_id, provider, provider_user_id,
                           authenticated_at, expires_at)
     VALUES (sha256(sha256(convert_to($1, 'UTF8'))), $2, $3, 'demo',
             (SELECT min(provider_user_id) FROM oauth_identities
              WHERE provider = 'demo' AND user_id = $2),
             now(), now() + make_interval(secs => $4))`,
    [cookieId, user.userId, user.tenantId, absoluteSeconds],
  )
}

const address = {
  name: 'Ada',
  line1: '1 Harbour Street',
  city: 'Lisbon',
  postalCode: '1100-012',
  country: 'PT',
}

/** Creates an order of `user`; resolves to its id. */
export async function createOrder(database: TestDatabase, user: TestUser): Promise<number> {
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
     VALUES ($1, $2, $3, $4, '4242') RETURNING id`,
    [
      user.tenantId,
      user.userId,
      JSON.stringify([{ sku: 'GATE', quantity: 1, unitPrice: 900 }]),
      JSON.stringify(address),
    ],
  )
  return Number(rows[0]?.id)
}

/** Creates an invoice of the tenant; resolves to its id. */
export async function createTestInvoice(database: TestDatabase, tenantId: string): Promise<number> {
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO invoices (tenant_id, amount, currency, status)
     VALUES ($1, 4900, 'eur', 'paid') RETURNING id`,
    [tenantId],
  )
  return Number(rows[0]?.id)
}

/** Creates a post of the tenant whose author no longer exists; resolves to its id. */
export async function createTestPost(
  database: TestDatabase,
  tenantId: string,
  department: string | null = null,
): Promise<number> {
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO posts (tenant_id, department, title, body)
     VALUES ($1, $2, 'A title', 'A body') RETURNING id`,
    [tenantId, department],
  )
  return Number(rows[0]?.id)
}
