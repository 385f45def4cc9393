import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { type Clock, systemClock } from '#src/runtime/clock.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { startHostileProvider } from './hostile-provider.ts'
import { makeKey } from './hostile-tokens.ts'

export const clientSecret = 'secret_of_the_client'
export const rsaKey = await makeKey('RS256', 'rsa-1')

export type Journey = TestApp & { op: Awaited<ReturnType<typeof startHostileProvider>> }

/** The whole server with a test provider, honest until a fault is set. */
export async function buildWithProvider(
  t: Test,
  settings: Record<string, string> = {},
  clock: Clock = systemClock,
): Promise<Journey> {
  const op = await startHostileProvider({ clock, keys: [rsaKey], secret: clientSecret })
  t.teardown(() => op.close())
  const issuer = { OIDC_DEMO_ISSUER: op.issuer, OIDC_DEMO_CLIENT_SECRET: clientSecret }
  const test = await build(t, { ...issuer, ...settings }, { clock })
  return { ...test, op }
}

/** A browser's cookie. */
export type Browser = { cookie: string }

/** Sends a browser's request and stores the cookie of the response. */
export async function visit(
  app: FastifyInstance,
  browser: Browser,
  url: string,
  options: {
    method?: 'GET' | 'POST' | 'DELETE'
    headers?: Record<string, string>
    payload?: string
  } = {},
): Promise<LightMyRequestResponse> {
  const cookie = browser.cookie === '' ? {} : { cookie: browser.cookie }
  const response = await app.inject({
    method: options.method ?? 'GET',
    url,
    headers: { ...cookie, ...options.headers },
    ...(options.payload === undefined ? {} : { payload: options.payload }),
  })
  const sid = response.cookies.find(({ name }) => name === 'sid')
  if (sid !== undefined) browser.cookie = sid.value === '' ? '' : `sid=${sid.value}`
  return response
}

const loginAttempts = 5

/**
 * Opens the sign-in start in a tab; returns the URL of the authorization request. A busy machine may
 * answer 503, which a person repeats.
 */
export async function openTab(app: FastifyInstance, browser: Browser): Promise<URL> {
  for (let attempt = 1; attempt <= loginAttempts; attempt++) {
    const { statusCode, headers } = await visit(app, browser, '/auth/login?provider=demo')
    if (statusCode !== 503) return new URL(String(headers.location))
  }
  throw new Error('The sign-in does not start: 503')
}

/** Calls the callback with the provider's response. */
export function comeBack(
  app: FastifyInstance,
  browser: Browser,
  parameters: URLSearchParams,
): Promise<LightMyRequestResponse> {
  return visit(app, browser, `/auth/callback?${parameters}`)
}

/** A whole sign-in in `browser`. */
export async function signInThrough(
  { app, op }: Pick<Journey, 'app' | 'op'>,
  browser: Browser,
): Promise<LightMyRequestResponse> {
  return comeBack(app, browser, op.approve(await openTab(app, browser)))
}

/** Counts of the rows that a sign-in may change, to compare before and after. */
export async function accounts({ database }: Pick<TestApp, 'database'>): Promise<unknown> {
  const { rows } = await database.admin.query(`
    SELECT (SELECT count(*)::int FROM users) AS users,
           (SELECT count(*)::int FROM oauth_identities) AS identities,
           (SELECT count(*)::int FROM tenants) AS tenants,
           (SELECT count(*)::int FROM memberships) AS memberships,
           (SELECT count(*)::int FROM sessions WHERE user_id IS NOT NULL) AS signed_in`)
  return rows[0]
}

/** Outcome and reason of every audit entry, oldest first; a counted one as often as it counts. */
export async function auditTrail({
  app,
  database,
}: Pick<TestApp, 'database'> & { app?: FastifyInstance }): Promise<string[]> {
  await app?.refusals.close()
  const { rows } = await database.admin.query<{ entry: string }>(
    `SELECT action || ' ' || outcome || ' ' || reason AS entry
     FROM audit_log CROSS JOIN generate_series(1, occurrences) ORDER BY id`,
  )
  return rows.map(({ entry }) => entry)
}
