import { encryptionKey, webhookSecret } from '#dev/testing/settings.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

/** A policy that only the isolation check detects: it mentions the tenant but compares nothing. */
export const leak =
  'CREATE POLICY wide ON posts FOR INSERT WITH CHECK (length(current_tenant_id()::text) > 0)'

const sessionSecret = 'a session secret that is long enough'

/** Complete production settings for the given database, on free ports of loopback. */
export function production(
  database: Pick<TestDatabase, 'url' | 'workerUrl'>,
): Record<string, string> {
  return {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    DRAIN_SECONDS: '0',
    BASE_URL: 'https://app.example.com',
    TRUST_PROXY: '127.0.0.1',
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
    SESSION_SECRETS: sessionSecret,
    BILLING_WEBHOOK_SECRETS: webhookSecret,
    ENCRYPTION_KEYS: encryptionKey,
    OIDC_PROVIDERS: 'acme_login',
    OIDC_ACME_LOGIN_ISSUER: 'https://login.example.com',
    OIDC_ACME_LOGIN_CLIENT_ID: 'gatehouse',
    OIDC_ACME_LOGIN_CLIENT_SECRET: 'a client secret',
  }
}
