import Fastify from 'fastify'
import pg from 'pg'
import { sha256 } from '#src/crypto/hash.ts'

/*
 * Answers a proxy with one prepared select, without row-level security, session plugin, policy and a
 * signed token, as a baseline. Prints its address.
 */

const { DATABASE_URL = '', POOL_SIZE = '20' } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) })
const app = Fastify()

app.get('/auth/verify', async (request, reply) => {
  const [, cookieId = ''] = /(?:^|; )sid=([^.;]*)/.exec(request.headers.cookie ?? '') ?? []
  const { rows } = await pool.query({
    name: 'find-person',
    text: `SELECT u.id, u.plan, s.tenant_id, m.role
           FROM sessions s JOIN users u ON u.id = s.user_id
           LEFT JOIN memberships m ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
           WHERE s.id_hash = $1 AND s.expires_at > now()`,
    values: [sha256(sha256(cookieId))],
  })
  const [person] = rows
  if (person === undefined) return reply.code(401).send({ error: 'not signed in' })
  return reply
    .code(204)
    .headers({
      'gatehouse-user': String(person.id),
      'gatehouse-tenant': person.tenant_id ?? '',
      'gatehouse-role': person.role ?? '',
      'gatehouse-plan': person.plan ?? '',
    })
    .send()
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
