import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'

export type Call = {
  method: string
  path: string
  form: Record<string, string>
  headers: IncomingMessage['headers']
}

export type Reply = [status: number, body: object]

/** A provider on loopback that records what it is asked. */
export async function startProvider(t: Test, answer: (call: Call) => Reply | Promise<Reply>) {
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { method = '', url = '', headers } = request
    const form = Object.fromEntries(new URLSearchParams(text))
    const call = { method, path: url, form, headers }
    calls.push(call)
    const [status, body] = await answer(call)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}/v1`, calls }
}

/** Settings with which a server uses it. */
export const stripe = (url: string) => ({
  BILLING_PROVIDER: 'stripe',
  BILLING_WEBHOOK_SECRETS: 'whsec_0123456789',
  BILLING_API_URL: url,
  BILLING_API_KEY: 'sk_test_key',
  BILLING_PLANS: 'price_pro:pro,price_team:team',
  SIGN_IN_RETURN_TO: '/,/welcome',
})

/** What Stripe answers. */
export const usual = ({ path }: Call): Reply => {
  if (path === '/v1/customers') return [200, { id: 'cus_new' }]
  if (path === '/v1/checkout/sessions') {
    return [200, { id: 'cs_1', url: 'https://checkout.example/c' }]
  }
  if (path.startsWith('/v1/checkout/sessions?')) return [200, { data: [] }]
  return [200, { url: 'https://billing.example/p' }]
}
