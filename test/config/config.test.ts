import t from 'tap'
import { ConfigError, readConfig } from '#src/config/config.ts'

const complete: Record<string, string> = {
  BASE_URL: 'http://localhost:3000',
  DATABASE_URL: 'postgres://app:word@127.0.0.1/gatehouse',
  SESSION_SECRETS: 's'.repeat(32),
  BILLING_WEBHOOK_SECRETS: 'whsec_0123456789',
  ENCRYPTION_KEYS: `test:${'a'.repeat(43)}`,
  OIDC_PROVIDERS: 'acme',
  OIDC_ACME_ISSUER: 'https://login.example.com',
  OIDC_ACME_CLIENT_ID: 'gatehouse',
  OIDC_ACME_CLIENT_SECRET: 'client secret',
}

function faultsOf(changes: Record<string, string | undefined>): readonly string[] {
  try {
    readConfig({ ...complete, ...changes })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

t.test('a process in production says that it could read the password of the owner', async (t) => {
  const owner = { DATABASE_OWNER_URL: 'postgres://owner:word@127.0.0.1/gatehouse' }
  const warningsOf = (env: object) => readConfig({ ...complete, ...env }).warnings
  t.same(warningsOf(owner), [], 'not in development')
  const production = { NODE_ENV: 'production', BASE_URL: 'https://app.example.com' }
  t.same(warningsOf(production), [])
  const [warning, ...others] = warningsOf({ ...production, ...owner })
  t.match(warning, /^DATABASE_OWNER_URL is among the settings of this process/)
  t.notMatch(warning, 'word@')
  t.same(others, [])
})

t.test('the defaults are those of the contract', async (t) => {
  const config = readConfig(complete)
  t.match(config, {
    production: false,
    host: '127.0.0.1',
    port: 3000,
    baseUrl: 'http://localhost:3000',
    redirectUri: 'http://localhost:3000/auth/callback',
    admin: { host: '127.0.0.1', port: 9464 },
    trustProxy: [],
    role: 'all',
    database: { workerUrl: complete.DATABASE_URL, poolSize: 10 },
    session: { idleSeconds: 43_200, absoluteSeconds: 604_800, secureCookie: false },
    returnPaths: ['/'],
    appOrigins: [],
    rateLimits: {
      signIn: { max: 30, seconds: 60 },
      webhooks: { max: 10_000, seconds: 60 },
      logout: { max: 300, seconds: 60 },
      api: { max: 600, seconds: 60 },
    },
    outbound: {
      retrySeconds: [0, 5, 30, 300, 3_600],
      timeoutMs: 10_000,
      signature: 'spec',
      allow: [],
      retentionDays: 90,
    },
    logLevel: 'info',
    providers: [
      {
        name: 'acme',
        label: 'acme',
        clientSecrets: ['client secret'],
        clientAuth: 'client_secret_post',
        scopes: 'openid email profile',
        idTokenAlgorithms: ['RS256'],
        trustEmail: false,
        allowInsecure: false,
      },
    ],
  })
  const production = readConfig({
    ...complete,
    NODE_ENV: 'production',
    BASE_URL: 'https://a.example',
  })
  t.match(production, { production: true, host: '0.0.0.0', session: { secureCookie: true } })
})

t.test('every invalid value is a fault that names its setting', async (t) => {
  const cases: [Record<string, string | undefined>, RegExp][] = [
    [{ PORT: '65536' }, /^PORT: /],
    [{ PORT: '3000x' }, /^PORT: /],
    [{ PORT: '-1' }, /^PORT: /],
    [{ ROLE: 'boss' }, /^ROLE: must be one of all, web, worker/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL: /],
    [{ DATABASE_POOL_SIZE: '1' }, /^DATABASE_POOL_SIZE: /],
    [{ DATABASE_URL: '' }, /^DATABASE_URL: is missing/],
    [{ DATABASE_URL: 'mysql://a@b/c' }, /^DATABASE_URL: must be a postgresql/],
    [{ DATABASE_URL: 'postgres://a:b@h1,h2/c' }, /^DATABASE_URL: names several hosts/],
    [{ DATABASE_URL: 'postgres://a:b@h1:1,h2:2/c' }, /^DATABASE_URL: names several hosts/],
    [{ DATABASE_URL: 'postgres:///c?host=h1,h2' }, /^DATABASE_URL: names several hosts/],
    [{ DATABASE_URL: 'postgres://a:5%off@h/c' }, /^DATABASE_URL: a % in .* must be written %25/],
    [{ DATABASE_WORKER_URL: 'nonsense' }, /^DATABASE_WORKER_URL: must be/],
    [{ BASE_URL: 'https://a.example/path' }, /^BASE_URL: must be an origin/],
    [{ BASE_URL: 'https://user@a.example' }, /^BASE_URL: must be an origin/],
    [{ BASE_URL: 'http://a.example' }, /^BASE_URL: must be https/],
    [{ BASE_URL: 'http://localhost:3000', NODE_ENV: 'production' }, /^BASE_URL: must be https/],
    [{ BASE_URL: 'ftp://localhost' }, /^BASE_URL: must be https/],
    [{ SESSION_SECRETS: 's'.repeat(31) }, /^SESSION_SECRETS: .* at least 32/],
    [{ SESSION_SECRETS: `${'s'.repeat(32)},short` }, /^SESSION_SECRETS: .* at least 32/],
    [{ SESSION_SECRETS: ' , ' }, /^SESSION_SECRETS: must have at least one value/],
    [{ BILLING_WEBHOOK_SECRETS: 'short' }, /^BILLING_WEBHOOK_SECRETS: .* at least 16/],
    [
      { BILLING_WEBHOOK_SECRETS: undefined, BILLING_PROVIDER: 'signed' },
      /^BILLING_WEBHOOK_SECRETS: is missing/,
    ],
    [
      { BILLING_API_URL: 'https://api.example.com', BILLING_API_KEY: 'hidden\nkey' },
      /^BILLING_API_KEY: must be printable ASCII/,
    ],
    [{ OIDC_PROVIDERS: undefined }, /^OIDC_PROVIDERS: is missing/],
    [{ OIDC_PROVIDERS: 'Acme' }, /^OIDC_PROVIDERS: “Acme”/],
    [{ OIDC_PROVIDERS: 'acme, acme' }, /^OIDC_PROVIDERS: a name is listed twice/],
    [{ OIDC_PROVIDERS: ',' }, /^OIDC_PROVIDERS: is missing/],
    [{ OIDC_ACME_ISSUER: undefined }, /^OIDC_ACME_ISSUER: is missing/],
    [{ OIDC_ACME_ISSUER: 'http://login.example.com' }, /^OIDC_ACME_ISSUER: must be an https/],
    [
      {
        OIDC_ACME_ISSUER: 'http://localhost:3001',
        NODE_ENV: 'production',
        BASE_URL: 'https://a.example',
      },
      /^OIDC_ACME_ISSUER: must be an https/,
    ],
    [{ OIDC_ACME_ID_TOKEN_ALG: 'HS256' }, /^OIDC_ACME_ID_TOKEN_ALG: “HS256”/],
    [{ OIDC_ACME_ID_TOKEN_ALG: 'RS256,none' }, /^OIDC_ACME_ID_TOKEN_ALG: “none”/],
    [{ OIDC_ACME_ID_TOKEN_ALG: ',' }, /^OIDC_ACME_ID_TOKEN_ALG: /],
    [{ OIDC_ACME_SCOPES: 'email profile' }, /^OIDC_ACME_SCOPES: must contain openid/],
    [{ OIDC_ACME_CLIENT_AUTH: 'none' }, /^OIDC_ACME_CLIENT_AUTH: /],
    [{ OIDC_ACME_CLIENT_SECRET: ',' }, /^OIDC_ACME_CLIENT_SECRET: /],
    [{ SIGN_IN_RETURN_TO: 'https://evil.example' }, /^SIGN_IN_RETURN_TO: /],
    [{ SIGN_IN_RETURN_TO: '//evil.example' }, /^SIGN_IN_RETURN_TO: /],
    [{ SIGN_IN_RETURN_TO: '/\\evil.example' }, /^SIGN_IN_RETURN_TO: /],
    [{ RATE_LIMIT_API: '600' }, /^RATE_LIMIT_API: /],
    [{ RATE_LIMIT_API: '0/60' }, /^RATE_LIMIT_API: /],
    [{ OUTBOUND_RETRY_SECONDS: '0,5.5' }, /^OUTBOUND_RETRY_SECONDS: /],
    [{ OUTBOUND_RETRY_SECONDS: '0,-5' }, /^OUTBOUND_RETRY_SECONDS: /],
    [{ OUTBOUND_RETRY_SECONDS: ',' }, /^OUTBOUND_RETRY_SECONDS: /],
    [{ OUTBOUND_RETRY_SECONDS: '604801' }, /^OUTBOUND_RETRY_SECONDS: /],
    [{ OUTBOUND_TIMEOUT_MS: '30001' }, /^OUTBOUND_TIMEOUT_MS: /],
    [{ OUTBOUND_SIGNATURE: 'none' }, /^OUTBOUND_SIGNATURE: must be one of spec, standard, both/],
    [{ OUTBOUND_ALLOW: 'receiver.example' }, /^OUTBOUND_ALLOW: “receiver.example”/],
    [{ OUTBOUND_ALLOW: 'http://a.example:80' }, /^OUTBOUND_ALLOW: /],
    [{ OUTBOUND_ALLOW: '*:80' }, /^OUTBOUND_ALLOW: /],
    [{ OUTBOUND_ALLOW: '127.0.0.1:65536' }, /^OUTBOUND_ALLOW: /],
    [{ GATEHOUSE_NOW: 'yesterday' }, /^GATEHOUSE_NOW: must be an RFC 3339/],
  ]
  for (const [changes, pattern] of cases) {
    const faults = faultsOf(changes)
    t.ok(
      faults.some((fault) => pattern.test(fault)),
      `${JSON.stringify(changes)} → ${faults.join(' | ')}`,
    )
  }
  t.strictSame(faultsOf({}), [], 'and the values that are changed here are good')
})

t.test('a comma in the password of the database does not make two hosts', (t) => {
  for (const password of ['b,c', 'a@b,c']) {
    t.strictSame(faultsOf({ DATABASE_URL: `postgres://app:${password}@db/x` }), [], password)
  }
  t.match(faultsOf({ DATABASE_URL: 'postgres://app:a@b@h1,h2/x' }), [/several hosts/])
  t.end()
})

t.test('a worker needs no secret of the web, and keeps none that it is given', async (t) => {
  const { DATABASE_URL, SESSION_SECRETS, BILLING_WEBHOOK_SECRETS, ...rest } = complete
  const workerUrl = 'postgres://worker:word@127.0.0.1/gatehouse'
  const worker = readConfig({ ...rest, ROLE: 'worker', DATABASE_WORKER_URL: workerUrl })
  t.match(worker.database, { url: workerUrl, workerUrl })
  const given = readConfig({
    ...complete,
    ROLE: 'worker',
    DATABASE_WORKER_URL: workerUrl,
    REDIS_URL: 'redis://:hidden@127.0.0.1',
    SESSION_SECRETS: 'too short',
  })
  const kept = JSON.stringify(given)
  for (const secret of [DATABASE_URL, 'too short', BILLING_WEBHOOK_SECRETS, 'hidden']) {
    t.notOk(kept.includes(String(secret)))
  }
  t.match(readConfig({ ...complete, ROLE: 'worker' }).database, { workerUrl: DATABASE_URL })
  t.match(faultsOf({ ROLE: 'worker', DATABASE_URL: undefined }), [/^DATABASE_URL: is missing/])
})

t.test('a web process needs no secret of the worker, and keeps none', async (t) => {
  const given = {
    ...complete,
    ROLE: 'web',
    DATABASE_WORKER_URL: 'postgres://worker:hidden_one@127.0.0.1/gatehouse',
    BILLING_API_URL: 'https://api.example.com',
    BILLING_API_KEY: 'hidden_two',
    SMTP_URL: 'smtp://user:hidden_three@mail.example.com',
    ALERT_FROM: 'alerts@example.com',
  }
  const web = readConfig(given)
  t.notMatch(JSON.stringify(web), 'hidden')
  t.equal(web.database.workerUrl, complete.DATABASE_URL)
  t.strictSame(readConfig({ ...complete, ROLE: 'web' }).sendsMail, false)
  const { SMTP_URL, ...withoutServer } = given
  t.equal(readConfig(withoutServer).sendsMail, true, 'ALERT_FROM says that workers send mail')
  t.match(faultsOf({ ROLE: 'web', SESSION_SECRETS: undefined }), [/^SESSION_SECRETS: is missing/])
})

t.test('an http issuer is allowed only on loopback outside production', async (t) => {
  const { providers } = readConfig({ ...complete, OIDC_ACME_ISSUER: 'http://localhost:3001' })
  t.equal(providers[0]?.allowInsecure, true)
  t.equal(readConfig(complete).providers[0]?.allowInsecure, false)
})

t.test('rotation: of several secrets, the first is used for new values', async (t) => {
  const config = readConfig({
    ...complete,
    SESSION_SECRETS: `${'a'.repeat(32)}, ${'b'.repeat(32)}`,
    OIDC_ACME_CLIENT_SECRET: 'new,old',
    OIDC_ACME_TRUST_EMAIL: 'Example.com, example.org',
  })
  t.strictSame(config.session.secrets, ['a'.repeat(32), 'b'.repeat(32)])
  t.match(config.providers, [
    { clientSecrets: ['new', 'old'], trustEmail: ['example.com', 'example.org'] },
  ])
})

t.test('the clock starts at GATEHOUSE_NOW and runs from there', async (t) => {
  const { clock } = readConfig({ ...complete, GATEHOUSE_NOW: '2031-05-06T07:08:09Z' })
  const passed = clock.now().getTime() - Date.UTC(2031, 4, 6, 7, 8, 9)
  t.ok(passed >= 0 && passed < 60_000)
})
