import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import pg from 'pg'
import { acme } from '#src/commands/development/sample/people.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { sha256 } from '#src/crypto/hash.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { sealEndpointSecret } from '#src/webhooks/signing/secrets.ts'
import { isSigned } from './webhook-signature.ts'

export type DemoReceiver = {
  /** The URL for deliveries. */
  url: string
  /** For `OUTBOUND_ALLOW`. */
  hostAndPort: string
  stop(): Promise<void>
}

type Options = {
  secret: string
  port: number
  clock: Clock
  print(line: string): void
}

type Answer = { status: number; text: string }

const maxBodyBytes = 1_048_576
const maxFailures = 100

/**
 * A webhook receiver on loopback. `POST /webhooks` verifies the signature and its time, and prints the event and
 * whether it is a duplicate; `POST /fail?times=3` makes the next three responses 500; `GET /`
 * returns the last 20 lines.
 */
export async function startReceiver({
  secret,
  port,
  clock,
  print,
}: Options): Promise<DemoReceiver> {
  const seen = new Set<string>()
  const lines: string[] = []
  let failures = 0

  const server = createServer((request, response) => {
    answer(request)
      .then(({ status, text }) => send(response, status, text))
      .catch(() => response.destroy()) // the sender disconnected, or the body is too large
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const hostAndPort = `127.0.0.1:${address.port}`

  async function answer(request: IncomingMessage): Promise<Answer> {
    const url = new URL(request.url ?? '/', `http://${hostAndPort}`)
    const route = `${request.method} ${url.pathname}`
    if (route === 'GET /') return { status: 200, text: lines.map((line) => `${line}\n`).join('') }
    if (route === 'POST /fail') return failNext(Number(url.searchParams.get('times') ?? 1))
    if (route === 'POST /webhooks') return receive(request, await readBody(request))
    return { status: 404, text: 'POST /webhooks, POST /fail?times=3 or GET /\n' }
  }

  function failNext(times: number): Answer {
    const known = Number.isInteger(times) && times >= 0 && times <= maxFailures
    if (!known) return { status: 400, text: `times must be 0 to ${maxFailures}\n` }
    failures = times
    return { status: 200, text: `The next ${times} deliveries get the response 500.\n` }
  }

  function receive({ headers }: IncomingMessage, body: string): Answer {
    const id = String(headers['webhook-id'])
    if (!isSigned({ headers, body }, { secret, profile: 'spec', clock }))
      return report({ status: 400, text: 'bad signature\n' }, `${id}, invalid signature`)
    const { type }: { type: string } = JSON.parse(body)
    const what = `${type} ${id}, valid signature${seen.has(id) ? ', duplicate' : ''}`
    if (failures > 0) {
      failures -= 1
      return report({ status: 500, text: 'told to fail\n' }, what)
    }
    seen.add(id)
    return report({ status: 200, text: 'thank you\n' }, what)
  }

  function report(answer: Answer, what: string): Answer {
    const line = `receiver: ${what}, response ${answer.status}`
    lines.push(line)
    lines.splice(0, lines.length - 20)
    print(line)
    return answer
  }

  return {
    url: `http://${hostAndPort}/webhooks`,
    hostAndPort,
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
}

/** Fixed, so that the endpoint stays the same after a restart. */
const endpointId = '5d3f0c1e-8f0a-4b7e-9c55-2a6f1b0d4e03'

type SampleCustomer = {
  keys: EncryptionKeys
  /** The receiver's URL and its signing secret. */
  url: string
  secret: string
  /** Ada's API token, for the commands of the greeting. */
  token: string
}

/**
 * Registers the receiver as an endpoint of Ada's tenant, and her API token. If they exist, URL,
 * secret and expiry are updated.
 */
export async function addSampleCustomer(
  ownerUrl: string,
  { keys, url, secret, token }: SampleCustomer,
): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl, connectionTimeoutMillis: 5_000 })
  await owner.connect()
  try {
    const tenantId = acme.id
    const sealed = sealEndpointSecret(keys, { tenantId, id: endpointId }, secret)
    await owner.query('BEGIN')
    await owner.query(`SELECT set_scope('owner', '', NULL, $1)`, [tenantId])
    await owner.query(
      `WITH endpoint AS (
         INSERT INTO webhook_endpoints (tenant_id, id, url, description, signature, secret)
         VALUES ($1, $2, $3, 'The receiver of the demo', 'spec', $4)
         ON CONFLICT (tenant_id, id) DO UPDATE SET url = EXCLUDED.url, secret = EXCLUDED.secret,
           previous_secret = NULL, previous_secret_expires_at = NULL)
       INSERT INTO endpoint_states (tenant_id, id) VALUES ($1, $2)
       ON CONFLICT (tenant_id, id) DO NOTHING`,
      [tenantId, endpointId, url, sealed],
    )
    await owner.query(
      `INSERT INTO api_tokens (last_four, hash, user_id, tenant_id, name, all_permissions, expires_at)
       SELECT 'test', sha256($1), user_id, $2, 'demo', true, now() + interval '90 days'
       FROM oauth_identities JOIN memberships USING (user_id)
       WHERE provider = 'demo' AND provider_user_id = 'ada' AND tenant_id = $2
       ON CONFLICT (hash) DO UPDATE SET expires_at = EXCLUDED.expires_at`,
      [sha256(token), tenantId],
    )
    await owner.query('COMMIT')
  } finally {
    await owner.end()
  }
}
