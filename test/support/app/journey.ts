import type { Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { startReceiver } from '#dev/testing/receiver.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { start } from '#src/server.ts'
import { sign } from '#test/routes/webhooks/send-event.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startHostileProvider } from '#test/support/provider/hostile-provider.ts'
import { makeKey } from '#test/support/provider/hostile-tokens.ts'

const clientSecret = 'secret_of_the_client'
export const customerUrlSecret = 'secret-in-a-customers-url'

type Sending = { method?: string; headers?: Record<string, string>; body?: object }

/** The running program, its provider, a customer's receiver, and the log. */
export async function serveJourney(t: Test, settings: Record<string, string> = {}) {
  const key = await makeKey('RS256', 'rsa-1')
  const clock = { now: () => new Date() }
  const op = await startHostileProvider({ clock, keys: [key], secret: clientSecret })
  const receiver = await startReceiver()
  const database = await createDatabase(t)
  const config = testConfig(database, {
    OIDC_DEMO_ISSUER: op.issuer,
    OIDC_DEMO_CLIENT_SECRET: clientSecret,
    OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}`,
    OUTBOUND_RETRY_SECONDS: '0,0',
    ...settings,
  })
  const log: string[] = []
  const logger = createLogger('trace', { write: (line) => void log.push(line) })
  const running = await start(config, logger)
  let stopped: Promise<boolean> | undefined
  const stop = () => (stopped ??= running.stop())
  t.teardown(async () => {
    await stop()
    await Promise.all([op.close(), receiver.close()])
  })

  async function send(path: string, { method = 'GET', headers = {}, body }: Sending = {}) {
    const json: Record<string, string> = body ? { 'content-type': 'application/json' } : {}
    return fetch(`${running.address}${path}`, {
      method,
      headers: { ...json, ...headers },
      body: body ? JSON.stringify(body) : null,
      redirect: 'manual',
    })
  }
  const scrape = async () => (await fetch(`${running.adminAddress}/metrics`)).text()
  return { op, receiver, database, config, log, stop, send, scrape }
}

export type Journey = Awaited<ReturnType<typeof serveJourney>>

/** Starts a sign-in: the URL that the browser is redirected to, and its cookie. */
async function startSignIn({ send }: Journey): Promise<{ url: URL; cookie: string }> {
  const start = await send('/auth/login?provider=demo')
  return { url: new URL(String(start.headers.get('location'))), cookie: cookieOf(start) }
}

/**
 * A bit of everything: a refused and a successful sign-in; a token created and used; a webhook
 * recorded, duplicated and badly signed; a change delivered at the second attempt; sign-out.
 * @returns every secret that occurred
 */
export async function playJourney(journey: Journey): Promise<string[]> {
  const { op, receiver, database, config, send } = journey
  const secrets = [clientSecret, customerUrlSecret, ...config.billing.secrets]
  secrets.push(...config.session.secrets)

  const refused = await startSignIn(journey)
  const state = String(refused.url.searchParams.get('state'))
  const error = new URLSearchParams({ error: 'access_denied', error_description: 'said-secretly' })
  await send(`/auth/callback?${error}&state=${state}`, { headers: { cookie: refused.cookie } })
  await send(`/auth/callback?code=a-stolen-code&state=a-stolen-state`)
  secrets.push(state, refused.cookie, 'said-secretly', 'a-stolen-code', 'a-stolen-state')

  op.fault = {
    idToken(token) {
      secrets.push(token)
      return token
    },
  }
  const { url, cookie: pending } = await startSignIn(journey)
  const answer = op.approve(url)
  const signedIn = await send(`/auth/callback?${answer}`, { headers: { cookie: pending } })
  const headers = { cookie: cookieOf(signedIn) }
  for (const name of ['code', 'state']) secrets.push(String(answer.get(name)))
  secrets.push(String(url.searchParams.get('nonce')), pending, headers.cookie)

  const made = await send('/auth/tokens', {
    method: 'POST',
    headers,
    body: { name: 'script', permissions: null },
  })
  const { token } = (await made.json()) as { token: string }
  secrets.push(token)
  await send('/me', { headers: { authorization: `Bearer ${token}` } })
  await send('/me', { headers: { authorization: 'Bearer made-up-token' } })
  secrets.push('made-up-token')

  await receiveEvents(journey, secrets)
  await deliver(journey, secrets)
  const viewer = await createUser(database)
  const { cookie } = await signIn({ config, database }, viewer)
  await send('/posts/1', { method: 'DELETE', headers: { cookie } })
  secrets.push(cookie)
  await send('/auth/logout', { method: 'POST', headers })
  await receiver.next()
  return secrets
}

async function receiveEvents({ database, send }: Journey, secrets: string[]): Promise<void> {
  await createUser(database, { billingCustomer: 'cus_1' })
  const object = { customer: 'cus_1', amount: 500, currency: 'eur' }
  const body = { id: 'evt_1', type: 'charge.succeeded', data: { object } }
  const bytes = Buffer.from(JSON.stringify(body))
  const good = sign(bytes)
  for (const header of [good, good, sign(bytes, { secret: 'a secret of another sender' })]) {
    const headers = { 'webhook-signature': header }
    await send('/webhooks/billing', { method: 'POST', headers, body })
    secrets.push(String(header.split('v1=')[1]))
  }
}

/** The first attempt fails, the second succeeds. */
async function deliver(journey: Journey, secrets: string[]): Promise<void> {
  const { receiver, database, config, send } = journey
  const admin = await createUser(database, { role: 'admin' })
  const { cookie } = await signIn({ config, database }, admin)
  const headers = { cookie }
  const url = `${receiver.url}/hook?key=${customerUrlSecret}`
  const made = await send('/webhook-endpoints', { method: 'POST', headers, body: { url } })
  const { secret } = (await made.json()) as { secret: string }
  let attempts = 0
  receiver.respond((_request, response) => {
    attempts += 1
    response.writeHead(attempts === 1 ? 500 : 204).end()
  })
  const id = await createOrder(database, admin)
  const body = {
    shippingAddress: { name: 'A', line1: 'B', city: 'C', postalCode: 'D', country: 'PT' },
  }
  await send(`/orders/${id}`, { method: 'PATCH', headers, body })
  const { headers: sent } = await receiver.next()
  secrets.push(cookie, secret, String(sent['webhook-signature']).slice('v1,'.length))
}

function cookieOf(response: Response): string {
  const session = response.headers.getSetCookie().find((cookie) => cookie.startsWith('sid='))
  return session?.split(';')[0] ?? ''
}
