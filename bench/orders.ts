import { Signer } from '@fastify/cookie'
import pg from 'pg'
import { newSessionId } from '#src/auth/sessions/session-id.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { sessionSecret } from './contender.ts'
import type { Place } from './place.ts'

/** A request for an order: its path and the owner's cookie. */
export type Read = { path: string; cookie: string }

export const people = 16

export const anOrder = {
  lineItems: [
    { sku: 'GATE', quantity: 1, unitPrice: 900 },
    { sku: 'HINGE', quantity: 2, unitPrice: 150 },
  ],
  shippingAddress: {
    name: 'Ada',
    line1: '1 Harbour Street',
    city: 'Lisbon',
    postalCode: '1100-012',
    country: 'PT',
  },
  cardLast4: '4242',
}

/** Creates users with a session and an order each, each in a separate tenant. */
export async function placeOrders({ superuserUrl }: Place, count = people): Promise<Read[]> {
  const client = new pg.Client({ connectionString: superuserUrl })
  const signer = new Signer(sessionSecret)
  const reads: Read[] = []
  await client.connect()
  try {
    for (let n = 0; n < count; n++) {
      const cookieId = newSessionId()
      const { rows } = await client.query(placing, [
        sha256(sha256(cookieId)),
        JSON.stringify(anOrder.lineItems),
        JSON.stringify(anOrder.shippingAddress),
        anOrder.cardLast4,
      ])
      reads.push({ path: `/orders/${rows[0].id}`, cookie: `sid=${signer.sign(cookieId)}` })
    }
  } finally {
    await client.end()
  }
  return reads
}

const placing = `
  WITH tenant AS (
    INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'Bench') RETURNING id
  ), person AS (
    INSERT INTO users (own_tenant_id) SELECT id FROM tenant RETURNING id, own_tenant_id
  ), member AS (
    INSERT INTO memberships (tenant_id, user_id, role)
    SELECT own_tenant_id, id, 'admin' FROM person RETURNING tenant_id, user_id
  ), session AS (
    INSERT INTO sessions (id_hash, user_id, tenant_id, provider, authenticated_at, expires_at)
    SELECT $1, user_id, tenant_id, 'demo', now(), now() + interval '1 day' FROM member
  )
  INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
  SELECT tenant_id, user_id, $2, $3, $4 FROM member RETURNING id`
