import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import t, { type Test } from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { testSettings } from '#dev/testing/settings.ts'
import { signedAs } from '#src/billing/sample.ts'
import { createLogger } from '#src/observability/logger.ts'
import { systemClock, unixSeconds } from '#src/runtime/clock.ts'
import { startWorker } from '#src/worker.ts'
import { build } from '#test/support/app/app.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { runProgram } from '#test/support/processes/program.ts'
import {
  paddleAdjustment,
  paddleEvent,
  paddleSubscription,
  paddleTransaction,
} from './providers/bodies.ts'

type Fields = Record<string, unknown>
type Customer = Fields & { id: string; email: string }
type Answer = { status: number; body: object }

/** The part of Paddle that the steps need: its API, its checkout and portal, and its webhooks. */
async function startPaddle(t: Test, key: string, prices: readonly string[]) {
  const customers: Customer[] = []
  const transactions = new Map<string, { customer: string; price: string }>()
  const events: string[] = []
  /** What the notification destination is subscribed to, where it is, and its secret. */
  const destination = { types: [] as string[], url: '', secret: '' }
  const server = createServer(async (request, response) => {
    const { status, body } = answer(request, JSON.parse((await textOf(request)) || '{}'))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const origin = `http://127.0.0.1:${port}`

  function answer({ method, url = '', headers }: IncomingMessage, given: Fields): Answer {
    const { pathname, searchParams } = new URL(url, origin)
    if (headers.authorization !== `Bearer ${key}`) return fault(403, 'authentication')
    const [, kind, id = '', act] = pathname.split('/')
    const found = customers.find((one) => one.id === id)
    if (kind === 'customers' && act === 'portal-sessions') {
      const overview = `${origin}/portal/${id}`
      return found ? ok({ urls: { general: { overview } } }) : fault(404, 'not_found')
    }
    if (kind === 'customers' && method === 'POST') return createCustomer(given)
    if (kind === 'customers') {
      const email = searchParams.get('email')
      if (id !== '') return found ? ok(found) : fault(404, 'not_found')
      return ok(customers.filter((one) => one.email === email))
    }
    if (kind === 'transactions') return createTransaction(given)
    if (kind === 'events') return ok([...events].reverse().map((body) => JSON.parse(body)))
    return fault(404, 'not_found')
  }

  function createCustomer({ email, custom_data }: Fields): Answer {
    const isKnown = customers.some((one) => one.email === email)
    if (isKnown) return fault(409, 'customer_already_exists')
    const customer = { id: `ctm_${customers.length + 1}`, email: String(email), custom_data }
    customers.push(customer)
    return ok(customer)
  }

  /** Opens at the default payment link. */
  function createTransaction({ customer_id, items }: Fields): Answer {
    const [{ price_id: price = '' } = {}] = items as { price_id?: string }[]
    if (!prices.includes(price)) return fault(400, 'transaction_price_not_found')
    const id = `txn_${transactions.size + 1}`
    transactions.set(id, { customer: String(customer_id), price })
    return ok({ id, checkout: { url: `${origin}/pay?_ptxn=${id}` } })
  }

  /** Keeps the event for the list, and sends it if the destination is subscribed to its type. */
  async function send(type: string, data: Fields, secondsAgo = 0): Promise<string> {
    const occurred_at = new Date(Date.now() - secondsAgo * 1_000).toISOString()
    const id = `evt_${events.length + 1}`
    const body = paddleEvent(id, type, data, { occurred_at })
    events.push(body)
    if (!destination.types.includes(type) || secondsAgo > 0) return id
    const now = { id: '', created: unixSeconds(systemClock) }
    const headers = signedAs('paddle', destination.secret, body, now)
    const sent = await fetch(destination.url, { method: 'POST', body, headers })
    t.equal(sent.status, 200, `${type}: ${await sent.text()}`)
    return id
  }

  return {
    origin,
    customers,
    destination,
    send,
    /** What the checkout at this address would buy. */
    bought: (url: string) => transactions.get(new URL(url).searchParams.get('_ptxn') ?? ''),
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

const ok = (data: object): Answer => ({ status: 200, body: { data } })
const fault = (status: number, code: string): Answer => ({ status, body: { error: { code } } })

/** The section of the page, its events and its settings. */
async function readSteps() {
  const page = await readFile(new URL('../../docs/billing-events.md', import.meta.url), 'utf8')
  const [, section = ''] = /### With Paddle, step by step\n([\s\S]*)$/.exec(page) ?? []
  const [, first = ''] = /^1\. (.*)$/m.exec(section) ?? []
  const types = [...first.matchAll(/`((?:transaction|adjustment)\.\w+)`/g)].map(
    ([, type]) => `${type}`,
  )
  const settings = Object.fromEntries(
    [...section.matchAll(/^ +(BILLING_\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [
      name,
      value.replace('…', '0123456789abcdef'),
    ]),
  )
  return { first, types, settings }
}

t.test('with Paddle, step by step, at a sample of Paddle', async (t) => {
  const { first, types, settings } = await readSteps()
  t.match(first, /every `subscription\.…` event/)
  t.strictSame(types, ['transaction.completed', 'adjustment.created', 'adjustment.updated'])
  t.strictSame(Object.keys(settings).sort(), [
    'BILLING_API_KEY',
    'BILLING_PLANS',
    'BILLING_PROVIDER',
    'BILLING_WEBHOOK_SECRETS',
  ])

  // 1. Products, a key and a notification destination.
  const paddle = await startPaddle(t, settings.BILLING_API_KEY ?? '', ['pri_123'])
  const subscribed = ['created', 'activated', 'updated', 'canceled'].map(
    (one) => `subscription.${one}`,
  )
  Object.assign(paddle.destination, {
    types: [...types, ...subscribed],
    secret: settings.BILLING_WEBHOOK_SECRETS,
  })

  // 2. The settings, which doctor accepts.
  const whole = { ...settings, BILLING_API_URL: paddle.origin }
  const test = await build(t, whole)
  const env = { ...testSettings(test.database), ...whole }
  const origin = await test.app.listen({ host: '127.0.0.1', port: 0 })
  paddle.destination.url = `${origin}/webhooks/billing`
  const worker = await startWorker(test.config, createLogger('silent'))
  t.teardown(() => worker.stop())
  const doctor = await runProgram(t, ['doctor', '--json'], env)
  await doctor.ended
  const findings: { subject: string; faults: string[] }[] = JSON.parse(doctor.results())
  const own = findings.find(({ subject }) => subject.startsWith('billing provider paddle'))
  t.strictSame(own?.faults, [])

  // 3. People pay at the default payment link.
  const { database } = test
  const user = await createUser(database, { email: 'nia@newcomer.example', emailVerified: true })
  const send = as(test, await signIn(test, user))
  const me = async () => (await send('GET', '/me')).json()
  const checkout = await send('POST', '/billing/checkout', { price: 'pri_123' })
  t.equal(checkout.statusCode, 200, checkout.body)
  const bought = paddle.bought(checkout.json().url)
  t.strictSame(bought, { customer: 'ctm_1', price: 'pri_123' })
  const of = { customer_id: 'ctm_1', items: [{ price: { id: 'pri_123' }, quantity: 1 }] }
  await paddle.send('subscription.created', paddleSubscription(of))
  await paddle.send('subscription.activated', paddleSubscription(of))
  await paddle.send('transaction.completed', paddleTransaction(of))
  await untilTrue(async () => (await me()).plan === 'pro')
  await until(database, `SELECT FROM invoices WHERE status = 'paid' AND amount = 4900`)
  const again = await send('POST', '/billing/checkout', { price: 'pri_123' })
  t.equal(again.statusCode, 409)

  // Step 4 of Stripe: what happened before is recorded, and an operator links who paid elsewhere.
  const elsewhere = { ...of, id: 'sub_2', customer_id: 'ctm_elsewhere' }
  const missed = await paddle.send('subscription.created', paddleSubscription(elsewhere), 86_400)
  const backfill = await runProgram(t, ['billing', 'backfill', '--days', '30'], env)
  t.equal(await backfill.ended, 0, backfill.output())
  await until(
    database,
    `SELECT FROM received_events WHERE event_id = '${missed}' AND status = 'unlinked'`,
  )
  const other = await createUser(database, { email: 'ola@other.example', emailVerified: true })
  const link = await runProgram(t, ['billing', 'link', 'ctm_elsewhere', 'ola@other.example'], env)
  t.equal(await link.ended, 0, link.output())
  await until(database, `SELECT FROM users WHERE id = ${other.userId} AND plan = 'pro'`)

  // Step 6 of Stripe: the portal, where people cancel at the end of the period.
  const portal = await send('POST', '/billing/portal')
  t.match(portal.json(), { url: `${paddle.origin}/portal/ctm_1` })
  const ends = '2036-12-18T10:26:40Z'
  const scheduled_change = { action: 'cancel', effective_at: ends }
  await paddle.send('subscription.updated', paddleSubscription({ ...of, scheduled_change }))
  await untilTrue(async () => (await me()).subscription?.cancelsAt !== null)
  t.match(await me(), { plan: 'pro', subscription: { cancelsAt: new Date(ends).toISOString() } })
  await paddle.send('adjustment.created', paddleAdjustment({ ...of, status: 'pending_approval' }))
  await paddle.send('adjustment.updated', paddleAdjustment({ ...of, totals: { total: '4900' } }))
  await until(database, `SELECT FROM invoices WHERE status = 'refunded' AND amount_refunded = 4900`)
  await paddle.send('subscription.canceled', paddleSubscription({ ...of, status: 'canceled' }))
  await untilTrue(async () => (await me()).plan === null)

  // Whom an operator has to link: nobody gets the customer of a known address.
  paddle.customers.push({ id: 'ctm_old', email: 'old@known.example', custom_data: null })
  for (const [person, body] of [
    [{ email: 'old@known.example', emailVerified: true }, /no customer for you/],
    [{ email: 'claimed@known.example' }, /address that you have verified/],
    [{}, /address that you have verified/],
  ] as const) {
    const asPerson = as(test, await signIn(test, await createUser(database, person)))
    const refused = await asPerson('POST', '/billing/checkout', { price: 'pri_123' })
    t.match(refused, { statusCode: 409, body }, JSON.stringify(person))
  }
  t.equal(
    paddle.customers.some(({ email }) => email === 'claimed@known.example'),
    false,
    'the holder of the address can still become its customer',
  )
})
