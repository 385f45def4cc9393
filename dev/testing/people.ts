import { Signer } from '@fastify/cookie'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type pg from 'pg'
import { newSessionId } from '#src/auth/sessions/session-id.ts'
import type { Config } from '#src/config/config.ts'

/** What a test of an app needs of the database: a superuser's connections. */
type Admin = { readonly admin: pg.Pool }

export type TestUser = { userId: number; tenantId: string }

/** Creates a user as a member of a tenant; of a new tenant unless one is given. */
export async function createUser(
  database: Admin,
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
    // A trigger has added it, except on a cluster, where the functions that create tenants do.
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
  { config, database }: { config: Config; database: Admin },
  user: { userId: number; tenantId: string | null },
): Promise<{ cookie: string; cookieId: string }> {
  const cookieId = newSessionId()
  await createSession(database, cookieId, user, config.session.absoluteSeconds)
  const signed = new Signer([...config.session.secrets]).sign(cookieId)
  return { cookie: `sid=${signed}`, cookieId }
}

/** Adds a session as a completed sign-in does, with the first identity of the user if there is one. */
async function createSession(
  { admin }: Admin,
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

type Method = 'PUT' | 'GET' | 'POST' | 'DELETE' | 'PATCH'

/** Requests with one cookie or token. */
export function as({ app }: { app: FastifyInstance }, credentials: Record<string, string>) {
  // Async, so that the request is sent immediately and not only when it is awaited.
  return async (
    method: Method,
    url: string,
    payload?: object,
    headers: Record<string, string> = {},
  ): Promise<LightMyRequestResponse> =>
    app.inject({
      method,
      url,
      headers: { ...credentials, ...headers },
      ...(payload === undefined ? {} : { payload }),
    })
}

/** Requests with a text body, for JSON that no object serializes to. */
export function asText({ app }: { app: FastifyInstance }, credentials: Record<string, string>) {
  const headers = { ...credentials, 'content-type': 'application/json' }
  return async (method: Method, url: string, payload: string): Promise<LightMyRequestResponse> =>
    app.inject({ method, url, headers, payload })
}
