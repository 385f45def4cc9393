import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { applyEvent } from '#src/billing/process.ts'
import { stripe as stripeFormat } from '#src/billing/providers/stripe.ts'
import { addOperator, build, type TestApp } from '#test/support/app/app.ts'
import { signedInBy } from '#test/support/callers/account.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import {
  addSession,
  addToken,
  connect,
  enterSession,
  enterToken,
  inside,
} from '../db/credentials.ts'
import { type Call, startProvider, stripe, usual } from '../routes/api/stripe-provider.ts'
import { stripeCharge, stripeEvent, stripeSubscription } from './providers/bodies.ts'
import { openAsWorker, receive } from './received.ts'

const baseUrl = 'http://localhost:3000'
const plans = new Map([
  ['price_pro', 'pro'],
  ['price_team', 'team'],
])
const bought = (quantity: number, more: object = {}) =>
  stripeSubscription({
    items: { data: [{ price: { id: 'price_team' }, quantity, current_period_end: 1_897_592_000 }] },
    ...more,
  })

/** An app where tenants pay, and a worker to which Stripe has sent what it is given. */
async function open(t: Test, answer = usual, options: Parameters<typeof build>[2] = {}) {
  const provider = await startProvider(t, answer)
  const settings = { ...stripe(provider.url), BILLING_CUSTOMER: 'tenant' }
  const test = await build(t, settings, options)
  const { db } = openAsWorker(t, test.database)
  let events = 0
  const apply = async (type: string, object: object, holder: object | null = null) => {
    events += 1
    const body = stripeEvent(`evt_${events}`, type, { ...object }, { created: 100 + events })
    await receive(test.database, { id: `evt_${events}`, body: Buffer.from(body) })
    return applyEvent(db, `evt_${events}`, new Date(), {
      provider: stripeFormat({ production: true, baseUrl }),
      plans,
      api: { findSubscription: async () => 'unknown', findHolder: async () => holder as never },
    })
  }
  const subscribe = (object: object, holder?: object) =>
    apply('customer.subscription.updated', object, holder)
  const select = async (sql: string) => (await test.database.admin.query(sql)).rows
  return { test, provider, apply, subscribe, select }
}

/** A manager and a member of one tenant. */
async function team(test: TestApp) {
  const manager = await owner(test, { role: 'admin', email: 'ada@acme.example' })
  const { tenantId } = manager.user
  const member = await owner(test, { role: 'editor', tenantId })
  return { manager, member, tenantId }
}

t.test('those who manage a tenant pay for it, and nobody else does', async (t) => {
  const { test, provider, select } = await open(t)
  const { manager, member, tenantId } = await team(test)
  const order = { price: 'price_team' }
  const refused = { statusCode: 403, body: /Those who manage it choose it/ }
  t.match(await member.send('POST', '/billing/checkout', order), refused)
  t.match(await member.send('POST', '/billing/portal'), refused)
  t.match(await member.send('POST', '/app/account/checkout', order), { statusCode: 403 })
  const { use } = await manager.make()
  t.match(await use('POST', '/billing/checkout', order), { statusCode: 403 }, 'an API token')
  const service = await (await serviceOwner(test, { tenantId })).make(['invoice:read'])
  t.match(await service.use('POST', '/billing/checkout', order), { statusCode: 403 })
  t.strictSame(provider.calls, [], 'the provider was not asked')

  await manager.send('POST', '/users', { email: 'ben@acme.example', role: 'viewer' })
  t.match(await manager.send('POST', '/billing/checkout', order), { statusCode: 200 })
  const marks = {
    'metadata[gatehouse_tenant]': tenantId,
    'metadata[gatehouse_origin]': 'http://localhost:3000',
    'metadata[gatehouse_user]': undefined,
  }
  const forms = provider.calls.filter(({ method }) => method === 'POST').map(({ form }) => form)
  t.match(forms, [
    { ...marks, email: undefined },
    {
      ...marks,
      client_reference_id: tenantId,
      'line_items[0][quantity]': '4',
      'line_items[0][adjustable_quantity][minimum]': '4',
      'subscription_data[metadata][gatehouse_tenant]': tenantId,
    },
  ])
  const [linked] = await select('SELECT count(billing_customer)::int AS links FROM tenants')
  t.strictSame(linked, { links: 0 }, 'the worker links it, as the provider says')

  const other = await owner(test, { role: 'admin', tenantId })
  t.match(await other.send('POST', '/billing/checkout', order), { statusCode: 200 })
  const keys = provider.calls
    .filter(({ path }: Call) => path === '/v1/customers')
    .map(({ headers }) => headers['idempotency-key'])
  t.equal(new Set(keys).size, 1, 'Stripe answers two managers with one customer')
})

t.test('the plan of a tenant is that of its members, in it alone', async (t) => {
  const { test, apply, subscribe, select } = await open(t)
  const { manager, member, tenantId } = await team(test)
  const stranger = await owner(test, { role: 'admin' })
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'admin')`,
    [stranger.user.tenantId, member.user.userId],
  )
  t.equal(await subscribe(bought(5), { tenantId }), 'processed')
  const subscription = { status: 'active', cancelsAt: null }
  const me = async ({ send }: Pick<typeof member, 'send'>) => (await send('GET', '/me')).json()
  for (const one of [manager, member]) t.match(await me(one), { plan: 'team', subscription })
  t.match(await me({ send: (await member.make()).use }), { plan: 'team', subscription })
  t.match(await me(stranger), { plan: null, subscription: null })
  const elsewhere = { userId: member.user.userId, tenantId: stranger.user.tenantId }
  const { cookie } = await signIn(test, elsewhere)
  const there = await test.app.inject({ url: '/me', headers: { cookie } })
  t.match(there.json(), { plan: null }, 'the same person in another tenant')

  const mine = async ({ send }: Pick<typeof member, 'send'>) =>
    (await send('GET', '/subscriptions')).json().data
  t.match(await mine(manager), [{ id: 'sub_1', plan: 'team', items: [{ quantity: 5 }] }])
  t.strictSame(await mine(member), [], 'what is paid is for those who manage the tenant')
  t.match(await manager.send('POST', '/billing/checkout', { price: 'price_pro' }), {
    statusCode: 409,
    body: /Your tenant has a plan already/,
  })

  t.equal(await subscribe(bought(7), { tenantId }), 'processed')
  const { data } = JSON.parse(
    (await select('SELECT body FROM outbound_events ORDER BY sequence DESC LIMIT 1'))[0].body,
  )
  t.match(data, { userId: null, plan: 'team', status: 'active' })
  t.equal(
    await apply('customer.subscription.deleted', bought(7, { status: 'canceled' })),
    'processed',
  )
  t.match(await me(member), { plan: null, subscription: { status: 'canceled' } })
  const types = await select('SELECT type FROM outbound_events ORDER BY sequence')
  t.strictSame(
    types.map(({ type }) => type),
    ['subscription.activated', 'subscription.changed', 'subscription.ended'],
  )
  await subscribe(bought(1, { id: 'sub_2', cancel_at: 1_000 }), { tenantId })
  t.match(await me(member), { plan: null }, 'its end has passed')
})

t.test('a credential of a member has the plan of the tenant, and reads no customer', async (t) => {
  const { test, subscribe } = await open(t)
  const { member, tenantId } = await team(test)
  const web = await connect(t, test.database.url)
  const [session, token] = [
    await addSession(test.database, member.user),
    await addToken(test.database, member.user),
  ]
  const planOf = async (enter: () => Promise<unknown>) => {
    let plan: unknown
    await inside(web, async () => {
      plan = await enter()
    })
    return plan
  }
  const bySession = () =>
    planOf(async () => {
      const { rows } = await web.query('SELECT plan FROM enter_session($1, 1800, false)', [session])
      return rows[0].plan
    })
  const byToken = () =>
    planOf(async () => {
      const { rows } = await web.query('SELECT plan FROM enter_token($1, false)', [token])
      return rows[0].plan
    })
  t.strictSame([await bySession(), await byToken()], [null, null])
  await subscribe(bought(5), { tenantId })
  t.strictSame([await bySession(), await byToken()], ['team', 'team'])
  await inside(web, async () => {
    await enterSession(web, session)
    const denied = web.query('SELECT billing_customer FROM tenants')
    await t.rejects(denied, { code: '42501' }, 'the web role reads no customer')
  })
  await inside(web, async () => {
    await enterToken(web, token)
    t.strictSame((await web.query('SELECT is_manager()')).rows, [{ is_manager: false }])
    t.strictSame((await web.query('SELECT * FROM tenant_billing(NULL)')).rows, [])
  })
})

t.test('the invoices of a tenant are for those who manage it', async (t) => {
  const { test, apply } = await open(t)
  const { manager, member, tenantId } = await team(test)
  const stranger = await owner(test, { role: 'admin' })
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'admin')`,
    [stranger.user.tenantId, member.user.userId],
  )
  t.equal(await apply('charge.succeeded', stripeCharge(), { tenantId }), 'processed')
  const list = async ({ send }: Pick<typeof member, 'send'>) =>
    (await send('GET', '/invoices')).json().data
  const [invoice] = await list(manager)
  t.match(invoice, { tenantId, amount: 4_900, status: 'paid' })
  const url = `/invoices/${invoice.id}`
  t.match(await manager.send('GET', url), { statusCode: 200 })
  t.match(await (await manager.make({ permissions: ['invoice:read'] })).use('GET', url), {
    statusCode: 200,
  })
  const token = await member.make({ permissions: ['invoice:read'] })
  for (const one of [member, { send: token.use }, stranger]) {
    t.strictSame(await list(one), [])
    t.match(await one.send('GET', url), { statusCode: 404 })
  }
  const services = await serviceOwner(test, { tenantId })
  const given = await services.make(['invoice:read'])
  t.match(await given.use('GET', url), { statusCode: 200 }, 'a manager has given it this')
  t.match(await (await services.make(['post:read'])).use('GET', url), { statusCode: 403 })

  t.equal(
    await apply('charge.refunded', stripeCharge({ amount_refunded: 900 })),
    'processed',
    'its refund finds it',
  )
  t.match(await list(manager), [{ amountRefunded: 900 }])
  const web = await connect(t, test.database.url)
  for (const [user, seen] of [
    [manager.user, 1],
    [member.user, 0],
    [stranger.user, 0],
  ] as const) {
    const session = await addSession(test.database, user)
    await inside(web, async () => {
      await enterSession(web, session)
      t.equal((await web.query('SELECT FROM invoices')).rowCount, seen, 'row-level security')
    })
  }
  await test.database.admin.query('ALTER TABLE invoices DISABLE ROW LEVEL SECURITY')
  t.equal((await list(manager)).length, 1, 'the query alone')
  for (const one of [member, stranger]) t.strictSame(await list(one), [], 'the query alone')
})

t.test('nobody is invited beyond the seats, and nobody loses one', async (t) => {
  const { test, subscribe, select } = await open(t)
  const { manager, member, tenantId } = await team(test)
  const invite = (email: string) => manager.send('POST', '/users', { email, role: 'viewer' })
  const shown = async ({ send }: Pick<typeof member, 'send'>) =>
    (await send('GET', '/app/account', undefined, { accept: 'text/html' })).body
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
  t.match(await invite('free@acme.example'), { statusCode: 201 }, 'without a plan none are counted')
  t.match(await shown(manager), /People 3 .*Each price is for one seat\. You begin with 3,/)
  await subscribe(bought(4), { tenantId })
  t.match(await shown(manager), /Seats 3 of 4/)
  t.notMatch(await shown(member), /Seats/)
  t.match(await shown(member), /Those who manage your tenant choose the plan/)

  const answers = await Promise.all([invite('a@acme.example'), invite('b@acme.example')])
  t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [201, 403])
  const refused = answers.find(({ statusCode }) => statusCode === 403)
  t.match(refused?.json(), {
    type: '/docs/errors/limit-reached',
    detail:
      'Your tenant has 4 seats: 2 members and 2 open invitations need 4. Buy more seats, remove a member or withdraw an invitation. Open /app/account#plan to see your plan and the others.',
  })
  t.match(await shown(manager), /Seats 4 of 4 Full/)
  t.match(await invite('free@acme.example'), { statusCode: 201 }, 'it replaces its own')

  await subscribe(bought(1), { tenantId })
  t.match(await shown(manager), /Seats 4 of 1 Too few .* 3 more people and invitations than seats/)
  t.equal((await member.send('GET', '/me')).statusCode, 200, 'nobody is put out')
  t.match(await invite('c@acme.example'), { statusCode: 403 })
  const { data } = (await manager.send('GET', '/invitations')).json()
  await select('UPDATE invitations SET mailed_at = NULL')
  await select("UPDATE invitations SET created_at = now() - interval '2 days'")
  const again = { id: data[0].id, role: data[0].role }
  t.match(await manager.send('POST', '/app/tenant/invitations/resend', again), { statusCode: 403 })
  for (const { id } of data) await manager.send('DELETE', `/invitations/${id}`)
  await subscribe(bought(3), { tenantId })
  t.match(await invite('c@acme.example'), { statusCode: 201 })

  const { send } = await owner(test, { role: 'admin' })
  t.match(await send('POST', '/users', { email: 'c@acme.example', role: 'viewer' }), {
    statusCode: 201,
  })
})

t.test('operators link a customer to a tenant, which takes it from a person', async (t) => {
  const operators = new Set(['demo:an-operator'])
  const { test, subscribe, select } = await open(t, usual, { operators })
  const { database } = test
  const { manager, tenantId } = await team(test)
  const operator = await owner(test)
  await signedInBy(test, operator.user.userId, 'an-operator')
  await addOperator(database, 'demo:an-operator')
  const person = await createUser(database, { billingCustomer: 'cus_1' })
  await subscribe(bought(2))
  const link = (body: object) => operator.send('PUT', '/billing/customers/cus_1', body)
  t.match(await link({}), { statusCode: 400 })
  t.match(await link({ userId: person.userId, tenantId }), { statusCode: 400 })
  t.match(await link({ tenantId: crypto.randomUUID() }), {
    statusCode: 404,
    body: /no such tenant/,
  })
  t.match(await manager.send('PUT', '/billing/customers/cus_1', { tenantId }), { statusCode: 403 })
  const linked = await link({ tenantId })
  t.strictSame(linked.json(), { customer: 'cus_1', userId: null, tenantId })
  const links = 'SELECT billing_customer, plan FROM'
  t.strictSame(await select(`${links} users WHERE id = ${person.userId}`), [
    { billing_customer: null, plan: null },
  ])
  t.strictSame(await select(`${links} tenants WHERE id = '${tenantId}'`), [
    { billing_customer: 'cus_1', plan: 'team' },
  ])
  const listed = (await operator.send('GET', '/billing/customers')).json().data
  t.match(listed, [{ customer: 'cus_1', userId: null, tenantId, tenantName: String }])
  t.match((await operator.send('GET', '/billing/subscriptions')).json().data, [
    { id: 'sub_1', userId: null, tenantId },
  ])
  t.match(await operator.send('PUT', '/billing/customers/cus_2', { tenantId }), {
    statusCode: 409,
    body: /has another billing customer/,
  })
  t.equal((await link({ userId: person.userId })).statusCode, 200)
  t.strictSame(await select(`${links} tenants WHERE id = '${tenantId}'`), [
    { billing_customer: null, plan: null },
  ])
  const audit = `SELECT reason, target FROM audit_log WHERE action = 'customer-link' ORDER BY id`
  t.strictSame(await select(audit), [
    { reason: 'unlinked', target: `cus_1 user ${person.userId}` },
    { reason: 'linked', target: `cus_1 tenant ${tenantId}` },
    { reason: 'unlinked', target: `cus_1 tenant ${tenantId}` },
    { reason: 'linked', target: `cus_1 user ${person.userId}` },
  ])
})

t.test('a plan ends with its tenant, and a second customer waits', async (t) => {
  const { test, subscribe, select } = await open(t)
  const { manager, tenantId } = await team(test)
  await subscribe(bought(2), { tenantId })
  t.equal(await subscribe(bought(2, { id: 'sub_9', customer: 'cus_9' }), { tenantId }), 'unlinked')
  t.match(
    await select("SELECT outcome, last_error FROM received_events WHERE status = 'unlinked'"),
    [{ outcome: 'second-customer', last_error: new RegExp(`tenant ${tenantId}, who has another`) }],
  )
  const [{ name }] = await select(`SELECT name FROM tenants WHERE id = '${tenantId}'`)
  t.match(await manager.send('POST', '/session/tenant/delete', { name }), { statusCode: 204 })
  const columns = 'closed_at IS NULL AS open, billing_customer, plan, subscription_status, seats'
  t.strictSame(await select(`SELECT ${columns} FROM tenants WHERE id = '${tenantId}'`), [
    { open: false, billing_customer: null, plan: null, subscription_status: null, seats: null },
  ])
  t.equal(await subscribe(bought(3), { tenantId }), 'unlinked', 'nothing links a closed tenant')
})

t.test('after a change of the setting both kinds keep what they have paid for', async (t) => {
  const { test, provider, subscribe } = await open(t)
  const { manager, tenantId } = await team(test)
  await subscribe(bought(1, { id: 'sub_p', customer: 'cus_p' }), { userId: manager.user.userId })
  t.match((await manager.send('GET', '/me')).json(), { plan: 'team' }, 'her own, from before')
  t.match(
    await manager.send('POST', '/billing/portal'),
    { statusCode: 409 },
    'no tenant’s customer',
  )
  t.match(await manager.send('POST', '/billing/checkout', { price: 'price_pro' }), {
    statusCode: 200,
  })
  const pro = [{ price: { id: 'price_pro' }, quantity: 3, current_period_end: 1_897_592_000 }]
  await subscribe(bought(3, { items: { data: pro } }), { tenantId })
  t.match((await manager.send('GET', '/me')).json(), { plan: 'pro' }, 'that of the tenant counts')
  const byPerson = await build(t, stripe(provider.url))
  const person = await owner(byPerson, { role: 'admin' })
  await byPerson.database.admin.query(
    "UPDATE tenants SET plan = 'team', billing_customer = 'cus_t'",
  )
  t.match((await person.send('GET', '/me')).json(), { plan: 'team' })
  t.match(await person.send('POST', '/billing/checkout', { price: 'price_pro' }), {
    statusCode: 200,
  })
  t.match(provider.calls.at(-1)?.form, {
    'metadata[gatehouse_user]': String(person.user.userId),
    'line_items[0][adjustable_quantity][enabled]': undefined,
  })
})
