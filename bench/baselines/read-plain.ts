import Fastify from 'fastify'
import pg from 'pg'
import { sha256 } from '#src/crypto/hash.ts'

/*
 * Reads an own order with two prepared selects, without row-level security, session plugin and policy,
 * as a baseline. Prints its address.
 */

const { DATABASE_URL = '', POOL_SIZE = '20' } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) })
const app = Fastify()

app.get<{ Params: { id: string } }>('/orders/:id', async (request, reply) => {
  const [, cookieId = ''] = /(?:^|; )sid=([^.;]*)/.exec(request.headers.cookie ?? '') ?? []
  const session = await pool.query({
    name: 'find-session',
    text: `SELECT u.id FROM sessions s JOIN users u ON u.id = s.user_id
           WHERE s.id_hash = $1 AND s.expires_at > now()`,
    values: [sha256(sha256(cookieId))],
  })
  const [user] = session.rows
  if (user === undefined) return reply.code(401).send({ error: 'not signed in' })
  const order = await pool.query({
    name: 'find-order',
    text: `SELECT id, user_id, line_items, shipping_address, card_last4, created_at, updated_at
           FROM orders WHERE id = $1 AND user_id = $2`,
    values: [request.params.id, user.id],
  })
  const [row] = order.rows
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

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
