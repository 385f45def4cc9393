import type { Place } from './place.ts'
import { type Server, startServer } from './processes.ts'

export const webhookSecret = 'whsec_bench_secret_bench'
export const sessionSecret = 'a session secret that is long enough for a bench'

/** A web process of Gatehouse. @param args of its command line, such as `--app FOLDER` */
export function startGatehouse(
  place: Pick<Place, 'url'>,
  settings: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<Server> {
  return startServer('./gatehouse.ts', { ...settingsOf(place), ...settings }, args)
}

/** Of a process without TLS in front of it, without limits for its callers. */
export function settingsOf({ url }: Pick<Place, 'url'>): Record<string, string> {
  return {
    NODE_ENV: 'development',
    BASE_URL: 'http://localhost:3000',
    DATABASE_URL: url,
    SESSION_SECRETS: sessionSecret,
    BILLING_WEBHOOK_SECRETS: webhookSecret,
    ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
    OIDC_PROVIDERS: 'demo',
    OIDC_DEMO_ISSUER: 'http://127.0.0.1:9',
    OIDC_DEMO_CLIENT_ID: 'bench',
    OIDC_DEMO_CLIENT_SECRET: 'bench',
    RATE_LIMIT_WEBHOOKS: 'off',
    RATE_LIMIT_API: 'off',
    RATE_LIMIT_VERIFY: 'off',
    RATE_LIMIT_PUBLISH: 'off',
    LOG_LEVEL: 'silent',
  }
}
