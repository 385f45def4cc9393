import t from 'tap'
import { findUnknownSettings } from '#src/config/documentation.ts'

t.test('a misspelled setting is found, with the most similar setting', async (t) => {
  const slips: Record<string, string> = {
    BILLING_WEBHOOK_SECRET: 'BILLING_WEBHOOK_SECRETS',
    SESSION_SECRET: 'SESSION_SECRETS',
    DATABASE_URI: 'DATABASE_URL',
    OIDC_PROVIDER: 'OIDC_PROVIDERS',
    OIDC_ACME_CLIENTID: 'OIDC_ACME_CLIENT_ID',
    RATE_LIMIT_SIGNIN: 'RATE_LIMIT_SIGN_IN',
    OPERATROS: 'OPERATORS',
    BRAND_ACENT: 'BRAND_ACCENT',
    BRAND_SUPPORT_LINK: 'BRAND_SUPPORT_URL',
    log_level: 'LOG_LEVEL',
  }
  const env = Object.fromEntries(Object.keys(slips).map((name) => [name, 'x']))
  const found = findUnknownSettings({ ...env, OIDC_PROVIDERS: 'acme' })
  t.same(Object.fromEntries(found.map(({ name, nearest }) => [name, nearest])), slips)
})

t.test('known settings and unrelated variables are not reported', async (t) => {
  const env = {
    DATABASE_URL: 'x',
    OIDC_PROVIDERS: 'acme, other',
    OIDC_ACME_ISSUER: 'x',
    OIDC_OTHER_ISSUER: 'x',
    GATEHOUSE_TOKEN: 'x',
    GATEHOUSE_LISTEN_SECRET: 'x',
    PATH: 'x',
    HOME: 'x',
    PORTS: 'x',
    HOSTNAME: 'x',
    NODE_OPTIONS: 'x',
    PGHOST: 'x',
    npm_lifecycle_event: 'x',
    KUBERNETES_SERVICE_HOST: 'x',
  }
  t.same(findUnknownSettings(env), [])
})

t.test('a setting of a provider that is not configured is unknown', async (t) => {
  const found = findUnknownSettings({ OIDC_PROVIDERS: 'acme', OIDC_ACNE_ISSUER: 'x' })
  t.same(found, [{ name: 'OIDC_ACNE_ISSUER', nearest: 'OIDC_ACME_ISSUER' }])
})
