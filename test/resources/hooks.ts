import t, { type Test } from 'tap'
import { startTestApp } from '#dev/testing/index.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { eraseByCommand } from '#src/auth/erasure/erase.ts'
import { requireHookTypes } from '#src/billing/hooks.ts'
import { applyEvent } from '#src/billing/process.ts'
import { openDatabase } from '#src/db/database.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { addHook, billingHooks } from '#src/queue/app/hooks.ts'
import { publishIn } from '#src/rows/own-events.ts'
import { charge, receive } from '#test/billing/received.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'
import {
  type Browser,
  buildWithProvider,
  type Journey,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

/* The hooks of an app: those of test/support/office-app write down what has happened. */

const mapped = '0b8b1f0e-5b1a-4c55-9d3f-8f6c2f1f5a10'

/** The runs that were added since the last call, and the server of a provider that gives roles in one tenant. */
async function setUp(t: Test) {
  const journey = await buildWithProvider(t, {
    OIDC_DEMO_ROLE_MAP: 'groups:staff=clerk',
    OIDC_DEMO_ROLE_TENANT: mapped,
  })
  const { admin } = journey.database
  const runs = async () => {
    const { rows } = await admin.query(
      `WITH gone AS (DELETE FROM pgboss.job WHERE name = 'app-job' RETURNING *)
       SELECT data->>'job' AS job, data->>'tenantId' AS tenant, (data->'input'->>'userId')::int AS "userId"
       FROM gone ORDER BY 1`,
    )
    return rows
  }
  return { journey, admin, runs }
}

/** Signs in at the provider, with these groups. */
async function enter(journey: Journey, claims: object, browser: Browser = { cookie: '' }) {
  journey.op.fault = { claims: { ...claims } }
  await signInThrough(journey, browser)
  const { user, tenant } = (await visit(journey.app, browser, '/me')).json()
  return { userId: user.id as number, tenantId: tenant.id as string, browser }
}

t.test('a first sign-in and a new tenant add their hooks, once', async (t) => {
  const { journey, runs } = await setUp(t)
  const { userId, tenantId: tenant, browser } = await enter(journey, { sub: 'ada' })
  t.strictSame(await runs(), [
    { job: 'tenant.created', tenant, userId },
    { job: 'user.created', tenant, userId },
  ])
  await enter(journey, { sub: 'ada' })
  t.strictSame(await runs(), [], 'a further sign-in is none')
  const send = as(journey, browser)
  const second = await send('POST', '/tenants', { name: 'Second' })
  t.strictSame(await runs(), [{ job: 'tenant.created', tenant: second.json().id, userId }])
})

t.test('who joins and leaves adds the hook in that tenant alone', async (t) => {
  const { journey, runs } = await setUp(t)
  const host = await createUser(journey.database, { role: 'manager' })
  const { tenantId: tenant } = host
  const asHost = as(journey, await signIn(journey, host))
  const email = 'grace@example.com'
  const grace = await enter(journey, { sub: 'grace', email, email_verified: true })
  await runs()
  const join = async () => {
    const invited = await asHost('POST', '/users', { email, role: 'clerk' })
    t.equal(invited.statusCode, 201)
    const asGrace = as(journey, grace.browser)
    const accepted = await asGrace('POST', `/invitations/${invited.json().id}/accept`)
    t.equal(accepted.statusCode, 204)
    const { userId } = grace
    t.strictSame(await runs(), [{ job: 'user.joined', tenant, userId }])
    return asGrace
  }
  const left = [{ job: 'user.left', tenant, userId: grace.userId }]
  await join()
  t.equal((await asHost('DELETE', `/users/${grace.userId}`)).statusCode, 204)
  t.strictSame(await runs(), left, 'removed')
  const asGrace = await join()
  t.equal((await asGrace('DELETE', `/tenants/${tenant}/membership`)).statusCode, 204)
  t.strictSame(await runs(), left, 'of their own accord')
  await join()
  const { browser } = await enter(journey, { sub: 'grace', email, email_verified: true })
  const again = as(journey, browser)
  t.equal((await again('POST', '/auth/account/delete', { confirm: 'delete' })).statusCode, 204)
  t.strictSame(await runs(), left, 'with their account; the tenant of their own is closed')

  const last = await asHost('DELETE', `/tenants/${tenant}/membership`)
  t.equal(last.statusCode, 409)
  t.strictSame(await runs(), [], 'what is refused has not happened')
})

t.test('a provider that gives and takes a role adds the hooks too', async (t) => {
  const { journey, admin, runs } = await setUp(t)
  const host = await createUser(journey.database, { role: 'manager' })
  await admin.query(`INSERT INTO tenants (id, name) VALUES ($1, 'Example Ltd')`, [mapped])
  await admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'manager')`,
    [mapped, host.userId],
  )
  const ada = await enter(journey, { sub: 'ada', groups: ['staff'] })
  const { userId } = ada
  const joined = { job: 'user.joined', tenant: mapped, userId }
  t.match(await runs(), [{ job: 'tenant.created' }, { job: 'user.created' }, joined])
  const left = { job: 'user.left', tenant: mapped, userId }
  const home = await enter(journey, { sub: 'ada', groups: [] })
  t.strictSame(await runs(), [left])
  await enter(journey, { sub: 'ada', groups: ['staff'] })
  await runs()
  await admin.query('UPDATE tenants SET closed_at = now() WHERE id = $1', [home.tenantId])
  const moved = await enter(journey, { sub: 'ada', groups: [] })
  t.not(moved.tenantId, home.tenantId)
  t.strictSame(await runs(), [{ job: 'tenant.created', tenant: moved.tenantId, userId }, left])
})

t.test(
  'an account that an operator deletes adds the hook in each tenant that goes on',
  async (t) => {
    const database = await createDatabase(t)
    const { admin } = database
    const person = await createUser(database, { role: 'manager' })
    const host = await createUser(database, { role: 'manager' })
    const closed = await createUser(database, { role: 'manager' })
    for (const { tenantId } of [host, closed]) {
      await admin.query(
        `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'clerk')`,
        [tenantId, person.userId],
      )
    }
    await admin.query('UPDATE tenants SET closed_at = now() WHERE id = $1', [closed.tenantId])
    const owner = openSystemDatabase(database.ownerUrl, 1, patient)
    t.teardown(() => owner.close())
    const queue = await startQueue(t, database, 'worker')
    const erased = await owner.transaction({ statementTimeoutMs: 30_000 }, (connection) =>
      eraseByCommand(connection, queue, person.userId),
    )
    t.equal(erased, 'erased')
    const { rows } = await admin.query(`SELECT data FROM pgboss.job WHERE name = 'app-job'`)
    const { userId } = person
    t.strictSame(rows, [{ data: { tenantId: host.tenantId, job: 'user.left', input: { userId } } }])
  },
)

t.test('what fails adds no hook', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database, { role: 'clerk' })
  const within = (await allowScopes(database))(user)
  const db = openDatabase(database.url, 2, patient)
  t.teardown(() => db.close())
  await t.rejects(
    db.write(within, async (tx) => {
      await addHook(tx, 'tenant.created', user.tenantId, user)
      throw new Error('no')
    }),
    /no/,
  )
  const { rows } = await database.admin.query(`SELECT FROM pgboss.job WHERE name = 'app-job'`)
  t.strictSame(rows, [])
})

t.test('a hook runs in its tenant, where it writes, publishes and enqueues', async (t) => {
  const people = ['ada', 'grace'].map((subject) => ({
    ...{ subject, name: subject, email: `${subject}@example.com` },
  }))
  const app = await startTestApp({ people })
  t.teardown(app.stop)
  const [ada, grace] = [await app.signIn('ada'), await app.signIn('grace')]
  await app.runJobs()
  const titles = async () =>
    (
      await app.sql<{ title: string }>(
        'SELECT title FROM notes WHERE tenant_id = $1 ORDER BY title',
        [ada.tenantId],
      )
    ).map(({ title }) => title)
  t.strictSame(await titles(), ['created', 'founded'])
  const shown = await ada.send('GET', '/notes?sort=place')
  t.match(
    shown.body.data.map(({ place }: { place: number }) => place),
    [ada.userId, ada.userId],
    'about the person',
  )
  const receiver = await app.addReceiver(ada, ['note.greeted'])
  const invited = await ada.send('POST', '/users', { email: 'grace@example.com', role: 'clerk' })
  await grace.send('POST', `/invitations/${invited.body.id}/accept`)
  await app.runJobs()
  t.match((await receiver.next()).body, { data: { userId: grace.userId } })
  t.strictSame(await titles(), ['created', 'founded', 'joined'])

  await ada.send('POST', '/notes', { title: 'fail', status: 'draft' })
  await ada.send('DELETE', `/users/${grace.userId}`)
  await t.rejects(app.runJobs(), {
    message:
      /The hook user\.left of .*office-app\/gatehouse\.config\.ts:\d+ failed: the note says so$/,
  })
  t.strictSame(await titles(), ['created', 'fail', 'founded', 'joined'], 'nothing of it is left')
  const memberships = await app.sql('SELECT FROM memberships WHERE user_id = $1', [grace.userId])
  t.equal(memberships.length, 1, 'and the person has left')
  await app.sql(`DELETE FROM notes WHERE title = 'fail'`)
  await app.sql(`UPDATE pgboss.job SET start_after = now() WHERE name = 'app-job'`)
  await untilTrue(async () => (await titles()).includes('left'))
  t.strictSame(
    await titles(),
    ['created', 'founded', 'joined', 'left'],
    'the next try is done once',
  )
})

t.test('the hook of a billing event commits with it, once, in the tenant that pays', async (t) => {
  const app = await startTestApp()
  t.teardown(app.stop)
  const payer = await app.addPerson({ billingCustomer: 'cus_1' })
  await app.addPerson({ billingCustomer: 'cus_2' })
  const written = () => app.sql('SELECT tenant_id, title, place::int FROM notes')
  const invoices = () => app.sql('SELECT FROM invoices')
  const expected = [
    { tenant_id: payer.tenantId, title: 'payment of 1900 eur', place: payer.userId },
  ]
  await app.sql(`INSERT INTO notes (tenant_id, title, status) VALUES ($1, 'fail', 'draft')`, [
    payer.tenantId,
  ])
  const payment = { id: 'evt_1', customer: 'cus_1', amount: 1_900 }
  const failed = await app.sendBillingEvent(payment)
  t.match(failed.event, {
    status: 'failed',
    error:
      /^The hook billing\.charge\.succeeded of .*gatehouse\.config\.ts:\d+ failed: the note says so$/,
  })
  t.strictSame(await invoices(), [], 'the payment waits for its hook')
  await app.sql(`DELETE FROM notes WHERE title = 'fail'`)
  await app.sql(`UPDATE pgboss.job SET start_after = now() WHERE name = 'billing-event'`)
  await untilTrue(async () => (await invoices()).length > 0)
  t.strictSame(await written(), expected)
  await app.sendBillingEvent({ ...payment, id: 'evt_2', type: 'subscription.updated' })
  t.strictSame(await written(), expected, 'an event of another type has no hook')
  const waiting = await app.sendBillingEvent({ id: 'evt_3', customer: 'cus_9' })
  t.match(waiting.event, { status: 'unlinked' })
  t.strictSame(await written(), expected, 'nor an event that waits for its customer')
})

t.test('a hook that never ends ends with its transaction', async (t) => {
  const database = await createDatabase(t)
  const { userId } = await createUser(database, { role: 'clerk', billingCustomer: 'cus_1' })
  const logger = createLogger('silent')
  const db = openDatabase(database.workerUrl, 2, { ...patient, transactionMs: 500 })
  t.teardown(() => db.close())
  const hookOf = billingHooks({ clock: { now: () => new Date() }, settings: {}, logger, publishIn })
  const object = { ...charge, status: 'active' }
  const eventId = await receive(database, { id: 'evt_1', type: 'subscription.created', object })
  await t.rejects(applyEvent(db, eventId, new Date(), { hookOf }), {
    message:
      /^The hook billing\.subscription\.created of .*gatehouse\.config\.ts:\d+ failed: the transaction took too long$/,
  })
  const { rows } = await database.admin.query('SELECT plan FROM users WHERE id = $1', [userId])
  t.strictSame(rows, [{ plan: null }], 'nothing of the event is left')
})

t.test('a hook of an event that no provider has is refused at the start', async (t) => {
  t.throws(() => requireHookTypes(['charge.succeeded', 'charge.failed']), {
    message:
      /^The hook billing\.charge\.failed of .*gatehouse\.config\.ts is about a billing event that no provider has\.$/,
    remedy: /^Name the event as the provider does\. Those with a hook are .*charge\.succeeded, /,
  })
  t.throws(() => requireHookTypes(['checkout.session.completed']), /no provider has/)
  t.doesNotThrow(() => requireHookTypes(['charge.succeeded']), 'the corrected type')
})

t.test('a replay of a processed event does not run its hook again', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { role: 'clerk', billingCustomer: 'cus_1' })
  const db = openDatabase(database.workerUrl, 2, patient)
  t.teardown(() => db.close())
  const facts: object[] = []
  const run = async (_tx: unknown, _tenant: string, fact: object) => void facts.push(fact)
  const hookOf = (type: string) =>
    type === 'charge.succeeded' ? { name: `billing.${type}`, run } : null
  const eventId = await receive(database, { id: 'evt_1', type: 'customer.charge.succeeded' })
  const again = { hookOf, again: true }
  t.equal(await applyEvent(db, eventId, new Date(), again), 'processed')
  t.equal(await applyEvent(db, eventId, new Date(), again), 'processed')
  t.match(facts, [{ eventId, type: 'charge.succeeded', kind: 'payment', amount: 4_900 }])
  t.equal(facts.length, 1)
})
