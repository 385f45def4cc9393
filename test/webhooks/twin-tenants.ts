import type { Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import type { Database, Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { sealEndpointSecret } from '#src/webhooks/signing/secrets.ts'
import { createReplayOf } from '#test/support/callers/webhook-admin.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import {
  createEndpoint,
  endpointSecret,
  testKeys,
} from '#test/support/receiver/webhook-endpoint.ts'

/** Parents before children. */
const tables = [
  'webhook_endpoints',
  'endpoint_states',
  'endpoint_probes',
  'outbound_events',
  'deliveries',
  'delivery_attempts',
  'due_attempts',
  'notifications',
  'endpoint_replays',
]

/**
 * Two tenants whose endpoints, events, deliveries and notifications have the same ids, without
 * row-level security: only the queries separate them. Texts of the twin contain “twin”.
 */
export type Twins = {
  database: TestDatabase
  db: Database
  /** Opens transactions of `db` in a tenant. */
  enter(tenant: TestUser): Entry<TestUser>
  /** A query by id alone finds its rows first. */
  original: TestUser
  twin: TestUser
  ids: {
    endpoint: string
    /** Five attempts, the last one answered with 401. */
    exhausted: string
    /** One attempt. */
    pending: string
    /** Pending in the twin, exhausted in the original. */
    fresh: string
    replay: string
    notification: number
  }
  /**
   * Runs `work` in a transaction that is rolled back.
   * @param prepare statements that run before it
   */
  inTwin<Result>(work: (tx: Tx) => Promise<Result>, ...prepare: string[]): Promise<Result>
  /** A database whose transactions are all `tx`, in the twin. */
  databaseOf(tx: Tx): Database
  /** Every row of the tenant. */
  rows(tenant: TestUser): Promise<unknown[]>
}

export async function createTwins(t: Test): Promise<Twins> {
  const database = await createDatabase(t)
  const { admin } = database
  const db = openPatiently(t, database.superuserUrl, 2)
  const enter = await allowScopes<TestUser>(database)
  const admins = [
    await createUser(database, { role: 'admin', email: 'a@one.example', emailVerified: true }),
    await createUser(database, { role: 'admin', email: 'a@other.example', emailVerified: true }),
  ]
  const [original, twin] = admins.toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1))
  if (original === undefined || twin === undefined) throw new Error('two were made')
  const ids = await createOriginal(database, original)
  await copyRows(database, original, twin)
  await tellApart(database, twin, ids)
  await createMoreOfOriginal(database, original, ids.endpoint)

  return {
    database,
    db,
    enter,
    original,
    twin,
    ids,
    async inTwin(work, ...prepare) {
      const undone = new Error('undone')
      const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof work>>>()
      const working = db.write(enter(twin), async (tx) => {
        for (const sql of prepare) await tx.sql({ text: sql })
        const before = await findRows(tx, original)
        const result = await work(tx)
        t.strictSame(await findRows(tx, original), before, 'the original is unchanged')
        resolve(result)
        throw undone
      })
      await working.catch((error) => {
        if (error !== undone) throw error
      })
      return promise
    },
    databaseOf(tx) {
      const run: Database['write'] = async (_entry, work) => {
        if (typeof work === 'function') return work(tx, twin as never)
        if ('whole' in work) throw new Error('not in this transaction')
        return work.read(await tx.sql(work.statement), twin as never)
      }
      const read = run as Database['read']
      return { read, write: run, close: () => Promise.reject(new Error('not in this transaction')) }
    },
    rows: (tenant) => db.read(enter(tenant), (tx) => findRows(tx, tenant)),
  }

  async function createOriginal(database: TestDatabase, tenant: TestUser) {
    const lastSuccessAt = new Date(Date.now() - 7 * 86_400_000)
    const facts = { url: 'https://8.8.8.8/original', lastSuccessAt }
    const endpoint = await createEndpoint(database, tenant, { ...facts, status: 'failing' })
    const of = { ...tenant, endpointId: endpoint }
    const exhausted = await createDelivery(database, of)
    const pending = await createDelivery(database, { ...of, status: 'pending', attempts: 1 })
    const fresh = await createDelivery(database, { ...of, attempts: 0 })
    await admin.query(
      `INSERT INTO due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
       VALUES ($1, $2, $3, now() - interval '1 hour', 0, 6)`,
      [tenant.tenantId, exhausted, endpoint],
    )
    const replay = await createReplayOf(database, tenant, endpoint)
    await admin.query(`UPDATE endpoint_replays SET replay_to = now() + interval '1 hour'`)
    // If a query took them for the twin's, the rotation would appear in the explanation of a failure,
    // and the next exhausted delivery would disable the twin.
    await admin.query('UPDATE webhook_endpoints SET secret_rotated_at = now()')
    await admin.query(`UPDATE endpoint_states
      SET failing_since = now() - interval '6 days', exhausted_deliveries = 99`)
    const { rows } = await admin.query<{ id: string }>(
      `INSERT INTO notifications (tenant_id, kind, endpoint_id, message)
       VALUES ($1, 'endpoint.failing', $2, 'original') RETURNING id`,
      [tenant.tenantId, endpoint],
    )
    const notification = Number(rows[0]?.id)
    return { endpoint, exhausted, pending, fresh, replay, notification }
  }
}

/** Copies the tenant's rows to another tenant, with the same ids. */
async function copyRows({ admin }: TestDatabase, from: TestUser, to: TestUser): Promise<void> {
  for (const table of tables) {
    const { rows } = await admin.query<{ columns: string }>(
      `SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'tenant_id'`,
      [table],
    )
    const columns = rows[0]?.columns
    await admin.query(
      `INSERT INTO ${table} (tenant_id, ${columns}) OVERRIDING SYSTEM VALUE
       SELECT $2, ${columns} FROM ${table} WHERE tenant_id = $1`,
      [from.tenantId, to.tenantId],
    )
  }
}

async function tellApart({ admin }: TestDatabase, { tenantId }: TestUser, ids: Twins['ids']) {
  const { endpoint, exhausted, fresh } = ids
  const change = (sql: string, ...values: (string | Buffer)[]) =>
    admin.query(sql, [tenantId, ...values])
  await change(`UPDATE webhook_endpoints SET url = 'https://8.8.4.4/twin', secret_rotated_at = NULL
    WHERE tenant_id = $1`)
  // Bound to the tenant: a copy could not be opened.
  const secret = sealEndpointSecret(testKeys, { tenantId, id: endpoint }, endpointSecret)
  await change('UPDATE webhook_endpoints SET secret = $2 WHERE tenant_id = $1', secret)
  await change(`UPDATE endpoint_states SET status = 'active', failing_since = NULL,
    exhausted_deliveries = 0 WHERE tenant_id = $1`)
  await change(`UPDATE outbound_events SET body = '{"data":"twin"}' WHERE tenant_id = $1`)
  await change(`UPDATE deliveries SET event_type = 'post.updated' WHERE tenant_id = $1`)
  await change(`UPDATE delivery_attempts SET status_code = 401 WHERE tenant_id = $1`)
  await change(`UPDATE notifications SET message = 'twin' WHERE tenant_id = $1`)
  await change('UPDATE endpoint_replays SET total = 3 WHERE tenant_id = $1')
  await change(
    `UPDATE deliveries SET status = 'pending', attempts = 0, finished_at = NULL
     WHERE tenant_id = $1 AND id = $2`,
    fresh,
  )
  const dayBefore = new Date(Date.now() - 86_400_000).toISOString()
  const move = 'UPDATE deliveries SET created_at = $3 WHERE tenant_id = $1 AND id = $2'
  await change(move, exhausted, dayBefore)
}

/** The maximum number of endpoints, and enough failures to disable one. */
async function createMoreOfOriginal(database: TestDatabase, tenant: TestUser, endpointId: string) {
  for (let number = 2; number <= 50; number += 1) {
    await createEndpoint(database, tenant, {
      url: 'https://8.8.8.8/',
      eventTypes: ['post.deleted'],
    })
  }
  for (let number = 1; number <= 10; number += 1) {
    await createDelivery(database, { ...tenant, endpointId, attempts: 1 })
  }
}

async function findRows(tx: Tx, { tenantId }: TestUser): Promise<unknown[]> {
  const found: unknown[] = []
  for (const table of tables) {
    const text = `SELECT to_jsonb(one) AS row FROM ${table} AS one WHERE tenant_id = $1::uuid ORDER BY 1`
    found.push(...(await tx.sql({ text, values: [tenantId] })))
  }
  return found
}
