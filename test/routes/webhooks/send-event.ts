import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { webhookSecret } from '#dev/testing/settings.ts'
import { hmacSha256 } from '#src/crypto/hash.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

export const path = '/webhooks/billing'

type Options = { secret?: string; time?: number; headers?: Record<string, string> }

/** The `webhook-signature` header for the bytes, at the given time or now. */
export function sign(body: Buffer, { secret = webhookSecret, time = seconds() }: Options = {}) {
  return `t=${time},v1=${hmacSha256(secret, `${time}.`, body).toString('hex')}`
}

/** Sends the body like the billing provider, signed unless `headers` override it. */
export function send(
  app: FastifyInstance,
  body: Buffer | string | object,
  options: Options = {},
): Promise<LightMyRequestResponse> {
  const payload = bytesOf(body)
  return app.inject({
    method: 'POST',
    url: path,
    headers: {
      'content-type': 'application/json',
      'webhook-signature': sign(payload, options),
      ...options.headers,
    },
    payload,
  })
}

/** The number of known ids, recorded events and jobs. */
export async function countRows({ admin }: TestDatabase): Promise<Record<string, number>> {
  const { rows } = await admin.query(
    `SELECT (SELECT count(*)::int FROM processed_events) AS known,
      (SELECT count(*)::int FROM received_events) AS received,
      (SELECT count(*)::int FROM pgboss.job) AS jobs`,
  )
  return rows[0]
}

export const nothingRecorded = { known: 0, received: 0, jobs: 0 }

export function bytesOf(body: Buffer | string | object): Buffer {
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function seconds(): number {
  return Math.floor(Date.now() / 1000)
}
