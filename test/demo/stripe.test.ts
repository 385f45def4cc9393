import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import { startStripe } from '#dev/demo/stripe.ts'
import { createStripeApi } from '#src/billing/providers/stripe-api.ts'

const key = 'sk_test_key'
const baseUrl = 'http://localhost:3000'
const payer = { holder: { userId: 7 }, verifiedEmail: null }
const order = { returnUrl: `${baseUrl}/app/account`, quantity: 1 }

/** The sample, whose webhooks go to this listener. */
async function open(t: Test, listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const webhook = { url: `http://127.0.0.1:${port}`, secret: 'whsec_0123456789' }
  const sample = await startStripe({
    key,
    prices: ['price_pro', 'price_team'],
    webhook,
    deadlineMs: 50,
  })
  t.teardown(() => sample.stop())
  const api = createStripeApi({ url: sample.url, key, baseUrl })
  const customer = await api.createCustomer(payer)
  if (customer === null) throw new Error('no customer')
  const start = async (price = 'price_pro') => {
    const page = await api.startCheckout(customer, payer, { ...order, price })
    if (typeof page === 'string') throw new Error(page)
    return page.url
  }
  return { start, pay: (url: string) => fetch(url, { method: 'POST', redirect: 'manual' }) }
}

t.test('a webhook that is not answered in time is sent again', async (t) => {
  const waiting = Promise.withResolvers<void>()
  let requests = 0
  const { start, pay } = await open(t, (request, response) => {
    request.resume()
    requests += 1
    if (requests <= 4) return // of four events, none is answered
    response.end()
    waiting.resolve()
  })
  await pay(await start())
  await waiting.promise
  t.ok(requests > 4)
})

t.test('of two checkouts of one person the newer one can be paid', async (t) => {
  const { start, pay } = await open(t, (_request, response) => void response.end())
  const older = await start()
  t.match(await (await fetch(older)).text(), 'Pay 49.00 EUR')
  t.equal(await start(), older, 'the same again')
  const newer = await start('price_team')
  t.match(await (await fetch(older)).text(), /was used already/)
  t.equal((await pay(older)).status, 200, 'nothing is paid there')
  t.equal((await pay(newer)).status, 303)
  t.match(await (await fetch(newer)).text(), /was used already/)
})
