import { Signer } from '@fastify/cookie'
import pg from 'pg'
import { newSessionId } from '#src/auth/sessions/session-id.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { sessionSecret } from './contender.ts'

/**
 * Creates users with a session, each in a separate tenant.
 * @param further the end of the statement, which also creates what they own: `tenant` has the id, `member` the tenant
 *   and the user
 * @param values its parameters, from $2
 * @returns the row that it returned for each, with their cookie
 */
export async function placePeople<Row extends object>(
  superuserUrl: string,
  count: number,
  further: string,
  values: readonly unknown[],
): Promise<(Row & { cookie: string })[]> {
  const client = new pg.Client({ connectionString: superuserUrl })
  const signer = new Signer(sessionSecret)
  const people: (Row & { cookie: string })[] = []
  await client.connect()
  try {
    for (let n = 0; n < count; n++) {
      const cookieId = newSessionId()
      const { rows } = await client.query<Row>(`${placing}${further}`, [
        sha256(sha256(cookieId)),
        ...values,
      ])
      const [row] = rows
      if (row === undefined) throw new Error('A person was not created.')
      people.push({ ...row, cookie: `sid=${signer.sign(cookieId)}` })
    }
  } finally {
    await client.end()
  }
  return people
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
  )`
