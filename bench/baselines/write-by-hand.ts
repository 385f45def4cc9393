import Fastify, { type FastifyRequest } from 'fastify'
import pg from 'pg'
import { randomToken, sha256 } from '#src/crypto/hash.ts'

/*
 * Creates and changes an own order as a careful team writes it by hand, with the guarantees of
 * Gatehouse: one transaction that checks the session under a lock of the rows that give the right, sets
 * the scope of row-level security, and publishes the event of a change with a delivery and a job for each
 * endpoint. Left out in its favour: quotas, Idempotency-Key, If-Match, and a scope that SQL cannot forge.
 * Prints its address. `bench/by-hand.ts` creates the tables.
 */

const { DATABASE_URL = '', POOL_SIZE = '20' } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) })
const app = Fastify()

type Person = { session_id: string; user_id: string; tenant_id: string; role: string }
type Order = { lineItems: object; shippingAddress: object; cardLast4: string }

app.post<{ Body: Order }>('/orders', async (request, reply) => {
  const person = await findPerson(request)
  if (person === undefined) return reply.code(401).send({ error: 'not signed in' })
  const { lineItems, shippingAddress, cardLast4 } = request.body
  const row = await within(person, async (client) => {
    const { rows } = await client.query({
      name: 'insert-order',
      text: `INSERT INTO by_hand.orders (tenant_id, user_id, line_items, shipping_address, card_last4)
             VALUES ($1, $2, $3, $4, $5)
             RETURNING id, user_id, line_items, shipping_address, card_last4, created_at, updated_at`,
      values: [
        person.tenant_id,
        person.user_id,
        JSON.stringify(lineItems),
        JSON.stringify(shippingAddress),
        cardLast4,
      ],
    })
    return rows[0]
  })
  if (row === null) return reply.code(401).send({ error: 'not signed in' })
  return reply.code(201).send(toOrder(row))
})

app.patch<{ Params: { id: string }; Body: Order }>('/orders/:id', async (request, reply) => {
  const person = await findPerson(request)
  if (person === undefined) return reply.code(401).send({ error: 'not signed in' })
  const row = await within(person, async (client) => {
    const { rows } = await client.query({
      name: 'update-order',
      text: `UPDATE by_hand.orders SET shipping_address = $3, updated_at = now()
             WHERE id = $1 AND user_id = $2
             RETURNING id, user_id, line_items, shipping_address, card_last4, created_at, updated_at`,
      values: [request.params.id, person.user_id, JSON.stringify(request.body.shippingAddress)],
    })
    if (rows[0] !== undefined) await publish(client, person, toOrder(rows[0]))
    return rows[0]
  })
  if (row === null) return reply.code(401).send({ error: 'not signed in' })
  if (row === undefined) return reply.code(404).send({ error: 'not found' })
  return toOrder(row)
})

async function findPerson({ headers }: FastifyRequest): Promise<Person | undefined> {
  const [, cookieId = ''] = /(?:^|; )sid=([^.;]*)/.exec(headers.cookie ?? '') ?? []
  const { rows } = await pool.query<Person>({
    name: 'find-person',
    text: `SELECT s.id AS session_id, s.user_id, s.tenant_id, m.role FROM by_hand.sessions s
           JOIN by_hand.users u ON u.id = s.user_id
           JOIN by_hand.memberships m ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
           WHERE s.id_hash = $1 AND s.expires_at > now()`,
    values: [sha256(sha256(cookieId))],
  })
  return rows[0]
}

/** @returns null if the right has been taken away meanwhile */
async function within<T>(person: Person, work: (client: pg.PoolClient) => Promise<T>) {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const { rows } = await client.query({
      name: 'lock-right',
      text: `SELECT m.role FROM by_hand.memberships m JOIN by_hand.sessions s
               ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
             WHERE s.id = $1 AND s.expires_at > now() FOR SHARE OF m FOR KEY SHARE OF s`,
      values: [person.session_id],
    })
    if (rows[0]?.role !== person.role) {
      await client.query('ROLLBACK')
      return null
    }
    await client.query({
      name: 'set-scope',
      text: `SELECT set_config('app.user_id', $1, true), set_config('app.tenant_id', $2, true)`,
      values: [person.user_id, person.tenant_id],
    })
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

async function publish(client: pg.PoolClient, { tenant_id }: Person, data: object): Promise<void> {
  const id = `msg_${randomToken()}`
  const type = 'order.updated'
  const now = new Date()
  await client.query({
    name: 'insert-event',
    text: `INSERT INTO by_hand.events (tenant_id, id, type, body, created_at) VALUES ($1, $2, $3, $4, $5)`,
    values: [tenant_id, id, type, JSON.stringify({ id, type, createdAt: now, data }), now],
  })
  const { rows: endpoints } = await client.query({
    name: 'find-endpoints',
    text: `SELECT id FROM by_hand.endpoints
           WHERE tenant_id = $1 AND (all_event_types OR $2 = ANY (event_types)) FOR KEY SHARE`,
    values: [tenant_id, type],
  })
  for (const endpoint of endpoints) {
    const { rows } = await client.query({
      name: 'insert-delivery',
      text: `INSERT INTO by_hand.deliveries (tenant_id, event_id, endpoint_id, event_type, status,
               created_at, next_attempt_at)
             VALUES ($1, $2, $3, $4, 'pending', $5, $5) RETURNING id`,
      values: [tenant_id, id, endpoint.id, type, now],
    })
    await client.query({
      name: 'insert-job',
      text: `INSERT INTO by_hand.jobs (name, data) VALUES ('deliver', $1)`,
      values: [JSON.stringify({ tenantId: tenant_id, deliveryId: rows[0].id })],
    })
  }
}

function toOrder(row: Record<string, unknown>) {
  return {
    id: Number(row.id),
    userId: Number(row.user_id),
    lineItems: row.line_items,
    shippingAddress: row.shipping_address,
    cardLast4: row.card_last4,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
