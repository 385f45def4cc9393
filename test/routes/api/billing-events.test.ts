import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { measureBacklog } from '#src/billing/events.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { receive } from '#test/billing/received.ts'
import { send } from '#test/routes/webhooks/send-event.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { untilTrue } from '#test/support/database/until.ts'

const operator = { provider: 'demo', subject: 'olga' }
const operators = { OPERATORS: 'demo:olga,other:ada' }
const routes = [
  ['GET', '/billing/events'],
  ['GET', '/billing/events/a'],
  ['POST', '/billing/events/a/replay'],
  ['POST', '/billing/events/a/dismiss'],
  ['POST', '/billing/events/replay'],
  ['GET', '/billing/replays/00000000-0000-4000-8000-000000000000'],
  ['GET', '/billing/reconciliations'],
  ['GET', '/billing/reconciliations/00000000-0000-4000-8000-000000000000'],
] as const

t.test('403 for everyone but operators, admins included; 401 without a session', async (t) => {
  const built = await build(t, operators)
  await receive(built.database, { id: 'a', status: 'dead' })
  const others = {
    'an admin': await signInAs(built, { provider: 'demo', subject: 'ada' }),
    'a subject of an operator at another provider': await signInAs(built, {
      provider: 'third',
      subject: 'olga',
    }),
    'a user without an identity': await signInAs(built, null),
    'an operator who signed in at another provider': await signInAs(built, {
      provider: 'other',
      subject: 'ada',
    }),
  }
  for (const [method, url] of routes) {
    const payload = url.endsWith('dismiss') ? { reason: 'a test' } : { status: 'dead' }
    const body = /s\/replay|dismiss/.test(url) ? { payload } : {}
    t.equal((await built.app.inject({ method, url, ...body })).statusCode, 401, `${method} ${url}`)
    for (const [who, cookie] of Object.entries(others)) {
      const { statusCode } = await built.app.inject({ method, url, headers: { cookie }, ...body })
      t.equal(statusCode, 403, `${who}: ${method} ${url}`)
    }
  }
  const { rowCount } = await built.database.admin.query('SELECT FROM billing_replays')
  t.equal(rowCount, 0)
})

t.test('an API token of an operator has no operator access', async (t) => {
  const built = await build(t, operators)
  const { userId, tenantId } = await createUser(built.database, { role: 'admin' })
  await built.database.admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', 'olga', $1, 'https://issuer.example')`,
    [userId],
  )
  const token = randomApiToken()
  await built.database.admin.query(
    `INSERT INTO api_tokens (last_four, user_id, tenant_id, name, hash, expires_at)
     VALUES ('test', $1, $2, 'script', sha256($3), now() + interval '1 day')`,
    [userId, tenantId, sha256(token)],
  )
  const authorization = `Bearer ${token}`
  const ask = (url: string) => built.app.inject({ url, headers: { authorization } })
  t.equal((await ask('/me')).statusCode, 200)
  t.equal((await ask('/billing/events')).statusCode, 403)
})

t.test('removing an operator identity takes effect with the next request', async (t) => {
  const built = await build(t, operators)
  const cookie = await signInAs(built, operator)
  const ask = () => built.app.inject({ url: '/billing/events', headers: { cookie } })
  t.equal((await ask()).statusCode, 200)
  await built.database.admin.query('DELETE FROM oauth_identities')
  t.equal((await ask()).statusCode, 403)
})

t.test('events are listed newest first, in pages without gaps or repeats', async (t) => {
  const built = await build(t, operators)
  const cookie = await signInAs(built, operator)
  // Several have the same microsecond: the id orders them.
  for (let n = 0; n < 9; n++) {
    const receivedAt = `2026-11-01T00:00:00.00000${n >> 2}Z`
    await receive(built.database, { id: `evt/${n} é`, receivedAt })
  }
  const seen: string[] = []
  let after = ''
  do {
    const url = `/billing/events?limit=2${after && `&cursor=${after}`}`
    const answer = (await built.app.inject({ url, headers: { cookie } })).json()
    seen.push(...answer.data.map(({ id }: { id: string }) => id))
    after = answer.nextCursor ?? ''
  } while (after !== '')
  t.strictSame(
    seen,
    [8, 7, 6, 5, 4, 3, 2, 1, 0].map((n) => `evt/${n} é`),
  )
})

t.test('the list is filtered by status, type and time of receipt', async (t) => {
  const built = await build(t, operators)
  const cookie = await signInAs(built, operator)
  const events = [
    { id: 'a', status: 'dead', receivedAt: '2026-11-01T00:00:00Z' },
    { id: 'b', status: 'dead', type: 'subscription.created', receivedAt: '2026-11-02T00:00:00Z' },
    { id: 'c', status: 'processed', receivedAt: '2026-11-03T00:00:00Z' },
  ]
  for (const event of events) await receive(built.database, event)
  await built.database.admin.query(
    `UPDATE received_events SET forwarding = 'failed', forward_attempts = 5,
       forward_error = 'the app answered 503', forwarded_at = '2026-11-04T00:00:00Z'
     WHERE event_id = 'c'`,
  )
  const one = await built.app.inject({ url: '/billing/events/c', headers: { cookie } })
  t.strictSame(one.json().forwarding, {
    status: 'failed',
    attempts: 5,
    lastError: 'the app answered 503',
    attemptedAt: '2026-11-04T00:00:00.000Z',
  })
  const cases: [string, string[]][] = [
    ['?forwarding=failed', ['c']],
    ['?forwarding=delivered', []],
    ['?forwarding=waiting', []],
    ['', ['c', 'b', 'a']],
    ['?status=dead', ['b', 'a']],
    ['?status=processed', ['c']],
    ['?status=failed', []],
    ['?type=subscription.created', ['b']],
    ['?status=dead&type=charge.succeeded', ['a']],
    ['?from=2026-11-02T00:00:00Z', ['c', 'b']],
    ['?to=2026-11-02T00:00:00Z', ['a']],
  ]
  for (const [query, ids] of cases) {
    const { data: events } = (
      await built.app.inject({ url: `/billing/events${query}`, headers: { cookie } })
    ).json()
    t.strictSame(
      events.map(({ id }: { id: string }) => id),
      ids,
      query,
    )
  }
})

t.test('an invalid query is 400', async (t) => {
  const built = await build(t, operators)
  const cookie = await signInAs(built, operator)
  const queries = ['status=odd', 'limit=0', 'limit=101', 'limit=x', 'from=yesterday', 'odd=1']
  const cursors = ['x', '!', 'bnVsbA', 'W10', 'WyIxIl0', 'WyJ4IiwiYSJd', 'x'.repeat(3_000)]
  for (const query of [...queries, ...cursors.map((cursor) => `cursor=${cursor}`)]) {
    const answer = await built.app.inject({ url: `/billing/events?${query}`, headers: { cookie } })
    t.equal(answer.statusCode, 400, query)
  }
})

t.test('one event is shown with its raw body; an unknown one is 404', async (t) => {
  const built = await build(t, operators)
  const cookie = await signInAs(built, operator)
  const id = `evt_/?#%é${'x'.repeat(240)}`
  const body = `{ "id": ${JSON.stringify(id)}, "type": "charge.succeeded" }`
  t.equal((await send(built.app, body)).statusCode, 200)
  t.equal((await send(built.app, { id, type: 'charge.succeeded' })).body, 'duplicate')
  const url = `/billing/events/${encodeURIComponent(id)}`
  const event = (await built.app.inject({ url, headers: { cookie } })).json()
  t.match(event, { id, status: 'recorded', attempts: 0, lastError: null, body, otherBodies: 1 })
  for (const [unknown, status] of [
    ['nothing', 404],
    [encodeURIComponent('\u0000'), 400],
    ['x'.repeat(256), 400],
  ] as const) {
    const answer = await built.app.inject({
      url: `/billing/events/${unknown}`,
      headers: { cookie },
    })
    t.equal(answer.statusCode, status, unknown)
  }
})

t.test('a dead event is replayed after its cause is fixed, one or many', async (t) => {
  const built = await build(t, operators)
  const { app, database, config } = built
  const cookie = await signInAs(built, operator)
  const object = { id: 'ch_1', customer: 'cus_late', amount: 5, currency: 'eur' }
  for (const id of ['a', 'b', 'c']) {
    await receive(database, { id, object, status: 'dead' })
  }
  await receive(database, { id: 'poison', object: {}, status: 'dead' })
  const worker = await startWorker(config, createLogger('silent'))
  t.teardown(() => worker.stop())

  await createUser(database, { billingCustomer: 'cus_late' })
  await database.admin.query('ALTER TABLE invoices ADD CONSTRAINT cheap CHECK (amount < 5)')
  const one = await replay('/billing/events/a/replay')
  t.match(one, { total: 1, succeeded: 0, failed: 1 }, 'the cause is still there')
  await database.admin.query('ALTER TABLE invoices DROP CONSTRAINT cheap')
  t.match(await replay('/billing/events/a/replay'), { total: 1, succeeded: 1, failed: 0 })
  t.match(
    await replay('/billing/events/a/replay'),
    { succeeded: 1 },
    'processing it again changes nothing',
  )
  t.match(await replay('/billing/events/replay', { status: 'dead' }), {
    total: 3,
    succeeded: 2,
    failed: 1,
  })
  const { rows } = await database.admin.query(
    'SELECT source_event FROM invoices ORDER BY source_event',
  )
  t.same(rows, [{ source_event: 'a' }, { source_event: 'b' }, { source_event: 'c' }])
  const { data: events } = (
    await app.inject({ url: '/billing/events?status=dead', headers: { cookie } })
  ).json()
  t.match(events, [{ id: 'poison', lastError: /customer is missing/ }])

  /** Requests a replay and waits until it is finished. */
  async function replay(url: string, payload?: object) {
    const options = payload === undefined ? {} : { payload }
    const answer = await app.inject({ method: 'POST', url, headers: { cookie }, ...options })
    t.equal(answer.statusCode, 202, url)
    let state = answer.json()
    await untilTrue(async () => {
      state = (
        await app.inject({ url: `/billing/replays/${state.id}`, headers: { cookie } })
      ).json()
      return state.finishedAt !== null
    })
    return state
  }
})

t.test('a dead event is dismissed with a reason, audited, and no longer counted', async (t) => {
  const built = await build(t, operators)
  const { app, database } = built
  const { admin } = database
  const cookie = await signInAs(built, operator)
  for (const id of ['poison', 'other']) await receive(database, { id, status: 'dead' })
  const dismiss = (id: string, payload: object, headers: Record<string, string> = { cookie }) =>
    app.inject({ method: 'POST', url: `/billing/events/${id}/dismiss`, headers, payload })
  const measure = async () => {
    await measureBacklog(app.systemDb, app.metrics.billing)
    const text = await app.metrics.registry.metrics()
    return /backlog_events\{status="dead"\} (\d+)/.exec(text)?.[1]
  }
  t.equal(await measure(), '2')

  const reason = 'a test of the provider, <not> ours'
  const answer = await dismiss('poison', { reason })
  t.equal(answer.statusCode, 200)
  const shown = { id: 'poison', status: 'dismissed', dismissedReason: reason, body: String }
  t.match(answer.json(), shown)
  t.equal(await measure(), '1')
  const { rows } = await admin.query(
    `SELECT outcome, target, user_id IS NOT NULL AS known FROM audit_log WHERE action = 'event-dismiss'`,
  )
  t.strictSame(rows, [{ outcome: 'done', target: `poison: ${reason}`, known: true }])

  const replay = await app.inject({
    method: 'POST',
    url: '/billing/events/replay',
    headers: { cookie },
    payload: { status: 'dead' },
  })
  t.equal(replay.json().total, 1, 'the dead events are replayed without it')
  const one = await app.inject({
    method: 'POST',
    url: '/billing/events/poison/replay',
    headers: { cookie },
  })
  t.equal(one.json().total, 1, 'by its id it is')
})

t.test('only a dead event can be dismissed, with one line as reason', async (t) => {
  const built = await build(t, operators)
  const { app, database } = built
  const cookie = await signInAs(built, operator)
  const states = ['recorded', 'processed', 'ignored', 'failed', 'dismissed']
  for (const status of states) await receive(database, { id: status, status })
  await receive(database, { id: 'dead', status: 'dead' })
  const dismiss = async (id: string, payload: object) => {
    const url = `/billing/events/${id}/dismiss`
    return (await app.inject({ method: 'POST', url, headers: { cookie }, payload })).statusCode
  }
  for (const status of states) t.equal(await dismiss(status, { reason: 'x' }), 409, status)
  t.equal(await dismiss('none', { reason: 'x' }), 404)
  for (const payload of [{}, { reason: '' }, { reason: ' ' }, { reason: 'a\nb' }, { reason: 1 }]) {
    t.equal(await dismiss('dead', payload), 400, JSON.stringify(payload))
  }
  t.equal(await dismiss('dead', { reason: 'x'.repeat(501) }), 400)
  t.equal(await dismiss('dead', { reason: 'x', status: 'processed' }), 400)
  const { rows } = await database.admin.query(
    `SELECT status FROM received_events WHERE event_id = 'dead'`,
  )
  t.strictSame(rows, [{ status: 'dead' }])
  t.equal(
    (await database.admin.query(`SELECT FROM audit_log WHERE action = 'event-dismiss'`)).rowCount,
    0,
  )
})

t.test('the age of events that are retried is measured apart from new ones', async (t) => {
  const { app, database } = await build(t, operators)
  const receivedAt = new Date(Date.now() - 3_600_000).toISOString()
  await receive(database, { id: 'retried', status: 'failed', receivedAt })
  await receive(database, { id: 'dead', status: 'dead', receivedAt: '2020-01-01T00:00:00Z' })
  await measureBacklog(app.systemDb, app.metrics.billing)
  const text = await app.metrics.registry.metrics()
  t.match(text, /^gatehouse_billing_retrying_age_seconds 36\d\d/m)
  t.match(text, /^gatehouse_billing_backlog_age_seconds 0$/m)
})

t.test('an event that cannot be replayed is refused', async (t) => {
  const built = await build(t, operators)
  const { app, database } = built
  const cookie = await signInAs(built, operator)
  await receive(database, { id: 'old', status: 'dead' })
  await database.admin.query('UPDATE received_events SET body = NULL')
  const post = (url: string, payload?: object) =>
    app.inject({ method: 'POST', url, headers: { cookie }, ...(payload && { payload }) })
  t.equal((await post('/billing/events/old/replay')).statusCode, 409)
  t.equal((await post('/billing/events/none/replay')).statusCode, 404)
  for (const body of [
    {},
    { status: 'odd' },
    { status: 'dead', from: 'x' },
    { status: 'dead', x: 1 },
  ]) {
    t.equal((await post('/billing/events/replay', body)).statusCode, 400, JSON.stringify(body))
  }
  const unknown = '/billing/replays/00000000-0000-4000-8000-000000000000'
  t.equal((await app.inject({ url: unknown, headers: { cookie } })).statusCode, 404)
  t.equal((await database.admin.query('SELECT FROM pgboss.job')).rowCount, 0)
})

/** The session cookie of a user with the identity, who is admin of their own tenant. */
async function signInAs(
  built: TestApp,
  identity: { provider: string; subject: string } | null,
): Promise<string> {
  const user = await createUser(built.database, { role: 'admin' })
  if (identity !== null) {
    await built.database.admin.query(
      `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
       VALUES ($1, $2, $3, 'https://issuer.example')`,
      [identity.provider, identity.subject, user.userId],
    )
  }
  return (await signIn(built, user)).cookie
}
