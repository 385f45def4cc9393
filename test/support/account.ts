import type { LightMyRequestResponse } from 'fastify'
import type { TestApp } from './helper.ts'

type Method = 'GET' | 'POST' | 'DELETE' | 'PATCH'

/** Requests with one cookie or token. */
export function as({ app }: Pick<TestApp, 'app'>, credentials: Record<string, string>) {
  // Async, so that it is sent at once and not when somebody waits for it.
  return async (method: Method, url: string, payload?: object): Promise<LightMyRequestResponse> =>
    app.inject({
      method,
      url,
      headers: credentials,
      ...(payload === undefined ? {} : { payload }),
    })
}

/** Requests whose body is text, for what no object serialises to. */
export function asText({ app }: Pick<TestApp, 'app'>, credentials: Record<string, string>) {
  const headers = { ...credentials, 'content-type': 'application/json' }
  return async (method: Method, url: string, payload: string): Promise<LightMyRequestResponse> =>
    app.inject({ method, url, headers, payload })
}

/** Sets back when the person of every session authenticated. */
export async function authenticatedAgo({ database }: TestApp, seconds: number): Promise<void> {
  await database.admin.query(
    'UPDATE sessions SET authenticated_at = now() - make_interval(secs => $1)',
    [seconds],
  )
}

/** A further identity of the user. */
export async function addIdentity(
  { database }: Pick<TestApp, 'database'>,
  userId: number,
  subject: string,
  provider = 'demo',
): Promise<void> {
  await database.admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ($1, $2, $3, 'https://op.example')`,
    [provider, subject, userId],
  )
}

/** Whose each identity is, as `provider:subject`. */
export async function owners({
  database,
}: Pick<TestApp, 'database'>): Promise<Record<string, number>> {
  const { rows } = await database.admin.query<{ key: string; user_id: string }>(
    `SELECT provider || ':' || provider_user_id AS key, user_id FROM oauth_identities ORDER BY 1`,
  )
  return Object.fromEntries(rows.map(({ key, user_id }) => [key, Number(user_id)]))
}
