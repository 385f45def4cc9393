import { type Config, readConfig } from '#src/config/config.ts'
import { defaultLimits } from '#src/db/connections/pool-options.ts'
import { app } from '#src/resources/running-app.ts'
import type { Urls } from './logins.ts'

export const webhookSecret = 'whsec_test_secret'
export const encryptionKey = `test:${'a'.repeat(43)}`
const sessionSecret = 'a session secret that is long enough for a test'

/** The client at the provider. */
export const testClient = { clientId: 'gatehouse-test', clientSecret: 'a client secret' }

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
    OIDC_DEMO_CLIENT_ID: testClient.clientId,
    OIDC_DEMO_CLIENT_SECRET: testClient.clientSecret,
    OIDC_DEMO_TRUST_EMAIL: 'true',
    RATE_LIMIT_SIGN_IN: 'off',
    RATE_LIMIT_WEBHOOKS: 'off',
    RATE_LIMIT_LOGOUT: 'off',
    RATE_LIMIT_VERIFY: 'off',
    RATE_LIMIT_PUBLISH: 'off',
    RATE_LIMIT_API: 'off',
    LOG_LEVEL: 'silent',
  }
}

const recorder = { connectMs: 5_000, waitMs: 5_000, sendMs: 10_000, beginMs: 5_000 }

/**
 * The configuration of a test, with patience for a busy machine.
 * @param settings overrides of testSettings
 */
export function testConfig(urls: Urls, settings: Record<string, string> = {}): Config {
  const { database, billing, ...config } = readConfig(
    { ...testSettings(urls), ...settings },
    app.settings?.schema,
    Object.keys(app.plans ?? {}),
  )
  // Tests hold locks for longer than a request waits, and a busy machine answers after seconds.
  const limits = { acquireMs: 20_000, silenceMs: 20_000, lockMs: defaultLimits.lockMs }
  return {
    ...config,
    database: { ...database, limits },
    billing: { ...billing, recorder },
    // The test itself, and all files of its process, are in this event loop.
    maxEventLoopDelayMs: 60_000,
  }
}
