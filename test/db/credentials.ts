import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Test } from 'tap'
import type { TestUser } from '#dev/testing/people.ts'
import { heldInCluster } from '#test/schema/citus/sql.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { isOnCluster } from '#test/support/database/template.ts'
import { untilWaiting } from '#test/support/database/until.ts'

/** What a program sends for a cookie or token: its SHA-256. */
export function credentialOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

export function randomCredential(): Buffer {
  return credentialOf(randomBytes(32).toString('base64url'))
}

type SessionOptions = {
  expired?: boolean
  idleSeconds?: number
  provider?: string
  /** Of the identity that signed in, which the user has. */
  subject?: string | null
}

/** A session of `user`, anonymous without one; resolves to what enters it. */
export async function addSession(
  database: TestDatabase,
  user: { userId: number; tenantId: string | null } | null,
  { expired = false, idleSeconds = 0, provider = 'demo', subject = null }: SessionOptions = {},
): Promise<Buffer> {
  const credential = randomCredential()
  await database.admin.query(
    `INSERT INTO sessions (id_hash, user_id, tenant_id, provider, provider_user_id, authenticated_at,
                           last_seen_at, expires_at)
     VALUES (sha256($1), $2, $3, $4, $7, CASE WHEN $2::bigint IS NOT NULL THEN now() END,
             now() - make_interval(secs => $5), now() + make_interval(secs => $6))`,
    [
      credential,
      user?.userId ?? null,
      user?.tenantId ?? null,
      user === null ? null : provider,
      idleSeconds,
      expired ? -1 : 3_600,
      subject,
    ],
  )
  return credential
}

/** An API token of `user`; resolves to what enters it. */
export async function addToken(
  database: TestDatabase,
  user: TestUser,
  { expired = false, permissions = null as string[] | null } = {},
): Promise<Buffer> {
  const credential = randomCredential()
  await database.admin.query(
    `INSERT INTO api_tokens (last_four, hash, user_id, tenant_id, name, all_permissions, permissions, expires_at)
     VALUES ('test', sha256($1), $2, $3, 'test', $4::text[] IS NULL, coalesce($4, '{}'),
             now() + make_interval(secs => $5))`,
    [credential, user.userId, user.tenantId, permissions, expired ? -1 : 3_600],
  )
  return credential
}

/** A service token of the tenant of `user`; resolves to what enters it. */
export async function addService(
  database: TestDatabase,
  { tenantId, userId }: TestUser,
  { expired = false, permissions = ['post:read'] } = {},
): Promise<Buffer> {
  const credential = randomCredential()
  await database.admin.query(
    `INSERT INTO service_tokens (last_four, tenant_id, hash, name, permissions, created_by, expires_at)
     VALUES ('test', $1, sha256($2), 'a service', $3, $4, now() + make_interval(secs => $5))`,
    [tenantId, credential, permissions, userId, expired ? -1 : 3_600],
  )
  return credential
}

/** An app token; resolves to what enters it. */
export async function addApp(
  database: TestDatabase,
  { expired = false, permissions = ['event:publish'] } = {},
): Promise<Buffer> {
  const credential = randomCredential()
  await database.admin.query(
    `INSERT INTO app_tokens (last_four, hash, name, permissions, expires_at)
     VALUES ('test', sha256($1), 'the app', $2, now() + make_interval(secs => $3))`,
    [credential, permissions, expired ? -1 : 3_600],
  )
  return credential
}

/** A session of the portal, or a link that was not opened; resolves to what enters or opens it. */
export async function addPortal(
  database: TestDatabase,
  tenantId: string,
  { app, isOpen = true, seconds = 300 }: { app?: Buffer; isOpen?: boolean; seconds?: number } = {},
): Promise<Buffer> {
  const [credential, by] = [randomCredential(), app ?? (await addApp(database, ofPortal))]
  await database.admin.query(
    `INSERT INTO portal_sessions (hash, tenant_id, app_token_id, opened_at, expires_at)
     SELECT sha256($1), $2, id, CASE WHEN $4 THEN now() END, now() + make_interval(secs => $5)
     FROM app_tokens WHERE hash = sha256($3)`,
    [credential, tenantId, by, isOpen, seconds],
  )
  return credential
}

const ofPortal = { permissions: ['portal-link:create'] }

/** A job of the queue's own table; resolves to its id. */
export async function addJob(
  database: TestDatabase,
  queue: string,
  data: object,
  state = 'active',
): Promise<string> {
  const { rows } = await database.admin.query<{ id: string }>(
    'INSERT INTO pgboss.job (name, data, state) VALUES ($1, $2, $3) RETURNING id',
    [queue, JSON.stringify(data), state],
  )
  return rows[0]?.id ?? ''
}

/**
 * A connection of the test's own, closed with it. It sends without waiting for earlier answers, and waits
 * for a lock longer than a request, because the test looks whether it waits.
 */
export async function connect(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, pipeline: true, lock_timeout: 4_500 })
  // Some tests end backends.
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** Runs `work` in a transaction and takes it back. */
export async function inside<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  try {
    return await work()
  } finally {
    await client.query('ROLLBACK')
  }
}

export const idleSeconds = 1_800

export async function enterSession(client: pg.Client, credential: Buffer, forWrite = false) {
  const { rows } = await client.query('SELECT * FROM enter_session($1, $2, $3)', [
    credential,
    idleSeconds,
    forWrite,
  ])
  return rows[0]
}

export async function enterToken(client: pg.Client, credential: Buffer, forWrite = false) {
  const { rows } = await client.query('SELECT * FROM enter_token($1, $2)', [credential, forWrite])
  return rows[0]
}

/** Whom and what the transaction is for, as policies see it. */
export async function scopeOf(client: pg.Client) {
  const { rows } = await client.query<{ user: string | null; tenant: string | null }>(
    'SELECT current_user_id() AS user, current_tenant_id() AS tenant',
  )
  const [row] = rows
  return { userId: row?.user === null ? null : Number(row?.user), tenantId: row?.tenant ?? null }
}

export const nobody = { userId: null, tenantId: null }

/** The code of what PostgreSQL refuses; null when it does not. */
export async function refusalOf(query: Promise<unknown>): Promise<string | null> {
  return query.then(
    () => null,
    (error) => {
      if (error instanceof pg.DatabaseError) return error.code ?? ''
      throw error
    },
  )
}

/** Resolves when `waiting` is held up by a lock of another connection. */
export async function isHeldUp(database: TestDatabase, waiting: pg.Client): Promise<void> {
  await untilWaiting(async () => {
    const { rows } = await database.admin.query<{ held: boolean }>(
      isOnCluster() ? heldInCluster : 'SELECT cardinality(pg_blocking_pids($1)) > 0 AS held',
      [processOf(waiting)],
    )
    return rows[0]?.held === true
  })
}

function processOf(client: pg.Client): number {
  if ('processID' in client && typeof client.processID === 'number') return client.processID
  throw new Error('not connected')
}
