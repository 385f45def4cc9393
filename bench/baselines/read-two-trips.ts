import Fastify from 'fastify'
import pg from 'pg'
import { sha256 } from '#src/crypto/hash.ts'

/*
 * Reads an own order in the usual form of row-level security, as a baseline: one statement looks up
 * the session and records its use; then a transaction on another pool sets the user as a setting,
 * which any SQL could set, and selects the order. Prints its address. `bench/two-trips.ts` creates the
 * table.
 */

const { DATABASE_URL = '', SESSIONS_URL = '', POOL_SIZE = '20' } = process.env
const max = Number(POOL_SIZE)
const sessions = new pg.Pool({ connectionString: SESSIONS_URL, max })
const pool = new pg.Pool({ connectionString: DATABASE_URL, max, pipeline: true })
const app = Fastify()

app.get<{ Params: { id: string } }>('/orders/:id', async (request, reply) => {
  const [, cookieId = ''] = /(?:^|; )sid=([^.;]*)/.exec(request.headers.cookie ?? '') ?? []
  const session = await sessions.query({
    name: 'find-session',
    text: `WITH used AS (
             UPDATE sessions SET last_seen_at = now()
             WHERE id_hash = $1 AND last_seen_at < now() - interval '1 minute' RETURNING id_hash
           )
           SELECT u.id FROM sessions s JOIN users u ON u.id = s.user_id
           WHERE s.id_hash = $1 AND s.expires_at > now()`,
    values: [sha256(sha256(cookieId))],
  })
  const [user] = session.rows
  if (user === undefined) return reply.code(401).send({ error: 'not signed in' })
  const row = await findOrder(user.id, request.params.id)
  if (row === undefined) return reply.code(404).send({ error: 'not found' })
  return {
    id: Number(row.id),
    userId: Number(row.user_id),
    lineItems: row.line_items,
    shippingAddress: row.shipping_address,
    cardLast4: row.card_last4,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
})

/** Four statements in one packet. */
async function findOrder(userId: string, id: string) {
  const client = await pool.connect()
  const { stream } = client.connection
  stream.cork()
  process.nextTick(() => stream.uncork())
  try {
    const [, , order] = await Promise.all([
      client.query('BEGIN READ ONLY'),
      client.query({
        name: 'set-user',
        text: "SELECT set_config('app.user_id', $1, true)",
        values: [userId],
      }),
      client.query({
        name: 'find-order',
        text: `SELECT id, user_id, line_items, shipping_address, card_last4, created_at, updated_at
               FROM orders_by_setting WHERE id = $1 AND user_id = $2`,
        values: [id, userId],
      }),
      client.query('COMMIT'),
    ])
    return order.rows[0]
  } finally {
    client.release()
  }
}

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
