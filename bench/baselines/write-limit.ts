import Fastify from 'fastify'
import pg from 'pg'
import { sha256 } from '#src/crypto/hash.ts'

/*
 * Creates an order with a select of the session and an insert, without transaction, row-level security,
 * locks, session plugin and policy: the limit. Prints its address.
 */

const { DATABASE_URL = '', POOL_SIZE = '20' } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) })
const app = Fastify()

type Order = { lineItems: object; shippingAddress: object; cardLast4: string }

app.post<{ Body: Order }>('/orders', async (request, reply) => {
  const [, cookieId = ''] = /(?:^|; )sid=([^.;]*)/.exec(request.headers.cookie ?? '') ?? []
  const session = await pool.query({
    name: 'find-session',
    text: `SELECT u.id, s.tenant_id FROM by_hand.sessions s JOIN by_hand.users u ON u.id = s.user_id
           WHERE s.id_hash = $1 AND s.expires_at > now()`,
    values: [sha256(sha256(cookieId))],
  })
  const [user] = session.rows
  if (user === undefined) return reply.code(401).send({ error: 'not signed in' })
  const { lineItems, shippingAddress, cardLast4 } = request.body
  const { rows } = await pool.query({
    name: 'insert-order',
    text: `INSERT INTO by_hand.orders (tenant_id, user_id, line_items, shipping_address, card_last4)
           VALUES ($1, $2, $3, $4, $5)
           RETURNING id, user_id, line_items, shipping_address, card_last4, created_at, updated_at`,
    values: [
      user.tenant_id,
      user.id,
      JSON.stringify(lineItems),
      JSON.stringify(shippingAddress),
      cardLast4,
    ],
  })
  const [row] = rows
  return reply.code(201).send({
    id: Number(row.id),
    userId: Number(row.user_id),
    lineItems: row.line_items,
    shippingAddress: row.shipping_address,
    cardLast4: row.card_last4,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  })
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
