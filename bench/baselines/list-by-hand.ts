import Fastify from 'fastify'
import pg from 'pg'
import { sha256 } from '#src/crypto/hash.ts'

/*
 * Lists items with a filter and a sort as a careful team writes it by hand: one statement looks up the session, then
 * one packet sets the tenant as a setting, which any SQL could set, and selects the page under a policy on it. Prints
 * its address. `bench/lists.ts` creates the role and the policy.
 */

const { DATABASE_URL = '', SESSIONS_URL = '', POOL_SIZE = '20' } = process.env
const max = Number(POOL_SIZE)
const sessions = new pg.Pool({ connectionString: SESSIONS_URL, max })
const pool = new pg.Pool({ connectionString: DATABASE_URL, max, pipeline: true })
const app = Fastify()

app.get<{ Querystring: { status: string } }>('/items', async (request, reply) => {
  const [, cookieId = ''] = /(?:^|; )sid=([^.;]*)/.exec(request.headers.cookie ?? '') ?? []
  const { rows } = await sessions.query({
    name: 'find-session',
    text: `SELECT s.tenant_id FROM sessions s
           JOIN memberships m ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
           WHERE s.id_hash = $1 AND s.expires_at > now()`,
    values: [sha256(sha256(cookieId))],
  })
  if (rows[0] === undefined) return reply.code(401).send({ error: 'not signed in' })
  const found = await list(rows[0].tenant_id, request.query.status)
  const last = found[50] === undefined ? null : found[49]
  return {
    data: found.slice(0, 50).map((row) => ({
      id: Number(row.id),
      title: row.title,
      status: row.status,
      dueOn: row.due_on,
      projectId: Number(row.project_id),
      otherId: Number(row.other_id),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    })),
    nextCursor: last && Buffer.from(`${last.due_on} ${last.id}`).toString('base64url'),
  }
})

/** Four statements in one packet. */
async function list(tenantId: string, status: string) {
  const client = await pool.connect()
  const { stream } = client.connection
  stream.cork()
  process.nextTick(() => stream.uncork())
  try {
    const [, , page] = await Promise.all([
      client.query('BEGIN READ ONLY'),
      client.query({
        name: 'set-tenant',
        text: "SELECT set_config('app.tenant_id', $1, true)",
        values: [tenantId],
      }),
      client.query({
        name: 'list-items',
        text: `SELECT id, title, status, due_on::text, project_id, other_id, created_at, updated_at
               FROM items_by_hand WHERE tenant_id = $1 AND status = $2 ORDER BY items_by_hand.due_on, id LIMIT 51`,
        values: [tenantId, status],
      }),
      client.query('COMMIT'),
    ])
    return page.rows
  } finally {
    client.release()
  }
}

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
