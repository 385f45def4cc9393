import Fastify from 'fastify'
import pg from 'pg'
import { isSigned } from './signature.ts'

/*
 * Fastify, the signature, and one prepared statement that commits the event, its body and its job: the
 * least that a recorded event costs with HTTP. It verifies one secret and no time, shares no commits, and
 * leaves the options of the job to the defaults of the table. Prints its address.
 */

const { DATABASE_URL = '', WEBHOOK_SECRET = '', POOL_SIZE = '20' } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) })
const app = Fastify()

app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.post<{ Body: Buffer }>('/webhooks/billing', async ({ headers, body }, reply) => {
  if (!isSigned(headers['webhook-signature'], body, WEBHOOK_SECRET)) {
    return reply.code(400).send('bad signature')
  }
  const event = JSON.parse(body.toString('utf8'))
  await pool.query({
    name: 'record',
    text: `WITH event AS (
             INSERT INTO processed_events (event_id) VALUES ($1)
             ON CONFLICT DO NOTHING RETURNING event_id
           ), stored AS (
             INSERT INTO received_events (event_id, type, body, secret_index, status)
             SELECT event_id, $2, $3, 0, 'recorded' FROM event
           )
           INSERT INTO pgboss.job_common (name, data)
           SELECT 'billing-event', jsonb_build_object('eventId', event_id) FROM event`,
    values: [event.id, event.type, body],
  })
  return reply.send('recorded')
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
