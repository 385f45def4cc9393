import t, { type Test } from 'tap'
import type { TestUser } from '#dev/testing/people.ts'
import { startReceiver } from '#dev/testing/receiver.ts'
import { measureEndpoints, measurePeriod } from '#src/webhooks/history/stats.ts'
import { openEndpointSecrets } from '#src/webhooks/signing/secrets.ts'
import { signDelivery } from '#src/webhooks/signing/signature.ts'
import type { TestApp } from '#test/support/app/app.ts'
import { build } from '#test/support/app/app.ts'
import { standingClock, twoAdmins, url } from '#test/support/callers/webhook-admin.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { miscountedDeliveries } from '#test/support/receiver/delivery.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import {
  createEndpoint,
  endpointSecret,
  testKeys,
} from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const start = '2026-03-01T10:00:00.000Z'
const dayMs = 86_400_000

t.test(
  'a rotation returns a new secret; the previous one signs too until its overlap ends',
  async (t) => {
    const { clock } = standingClock(start)
    const { test, send } = await twoAdmins(await build(t, {}, { clock }))
    const { secret: first, ...endpoint } = (
      await send('POST', '/webhook-endpoints', { url })
    ).json()
    const rotate = `/webhook-endpoints/${endpoint.id}/rotate-secret`
    const rotated = await send('POST', rotate)
    t.equal(rotated.statusCode, 200)
    t.equal(rotated.headers['cache-control'], 'no-store')
    const { secret: second, previousSecretExpiresAt, ...rest } = rotated.json()
    t.strictSame(rest, endpoint)
    t.match(second, /^whsec_[A-Za-z0-9+/]{43}=$/)
    t.equal(previousSecretExpiresAt, '2026-03-02T10:00:00.000Z', 'a day by default')
    const end = new Date(start).getTime() + dayMs
    t.strictSame(await signingAt(test, end - 1), [second, first])
    t.strictSame(await signingAt(test, end), [second], 'not at the instant it ends')

    const third = (await send('POST', rotate, { overlapSeconds: 60 })).json().secret
    const soon = new Date(start).getTime() + 60_000
    t.strictSame(await signingAt(test, soon - 1), [third, second], 'the oldest stops at once')
    t.strictSame(await signingAt(test, soon), [third])

    const fourth = (await send('POST', rotate, { overlapSeconds: 0 })).json()
    t.equal(fourth.previousSecretExpiresAt, null)
    t.strictSame(
      await signingAt(test, clock.now().getTime() - 1),
      [fourth.secret],
      'not before it either',
    )
    const { rows } = await test.database.admin.query(
      'SELECT previous_secret FROM webhook_endpoints',
    )
    t.strictSame(rows, [{ previous_secret: null }], 'a secret that no longer signs is deleted')
  },
)

t.test('an overlap is 0 s to 7 days', async (t) => {
  const { send } = await twoAdmins(shared)
  const { id } = (await send('POST', '/webhook-endpoints', { url })).json()
  const rotate = (body: object) => send('POST', `/webhook-endpoints/${id}/rotate-secret`, body)
  for (const overlapSeconds of [-1, 604_801, 1.5, '60', null, 1e300]) {
    t.equal((await rotate({ overlapSeconds })).statusCode, 400, String(overlapSeconds))
  }
  for (const odd of [{ secret: 'whsec_x' }, { overlap: 1 }, []]) {
    t.equal((await rotate(odd)).statusCode, 400)
  }
  t.equal((await rotate({ overlapSeconds: 604_800 })).statusCode, 200)
})

t.test('a secret is only in the response that created it', async (t) => {
  const { test, send } = await twoAdmins(shared)
  const created = (await send('POST', '/webhook-endpoints', { url })).json()
  const one = `/webhook-endpoints/${created.id}`
  const rotated = (await send('POST', `${one}/rotate-secret`)).json()
  const later = await Promise.all([
    send('GET', one),
    send('GET', '/webhook-endpoints'),
    send('PATCH', one, { description: 'x' }),
    send('POST', `${one}/enable`),
    send('GET', '/events'),
    send('GET', `${one}/deliveries`),
    send('GET', '/audit'),
    send('POST', `${one}/rotate-secret`, { overlapSeconds: -1 }),
  ])
  const { rows } = await test.database.admin.query(
    `SELECT row_to_json(a)::text AS row FROM audit_log a
     UNION ALL SELECT row_to_json(e)::text FROM webhook_endpoints e
     UNION ALL SELECT row_to_json(j)::text FROM pgboss.job j`,
  )
  const text = [...later.map(({ body }) => body), ...test.log, ...rows.map(({ row }) => row)].join()
  for (const secret of [created.secret, rotated.secret]) {
    const bytes = Buffer.from(secret.replace('whsec_', ''), 'base64')
    for (const form of [secret.slice(6, 30), bytes.toString('hex'), bytes.toString('base64url')]) {
      t.notOk(text.includes(form))
    }
  }
  for (const { body } of later) t.notMatch(body, /whsec_|"secret"|previousSecret/)
})

t.test('an encrypted secret is bound to its endpoint and tenant', async (t) => {
  const { test, one, other } = await twoAdmins(await build(t))
  const id = await createEndpoint(test.database, one, { url })
  const { rows } = await test.database.admin.query('SELECT secret FROM webhook_endpoints')
  const sealed = { secret: rows[0]?.secret, previousSecret: null, previousSecretExpiresAt: null }
  const open = (place: { tenantId: string; id: string }) =>
    openEndpointSecrets(testKeys, { ...place, ...sealed }, new Date())
  t.strictSame(open({ tenantId: one.tenantId, id }), [endpointSecret])
  t.throws(() => open({ tenantId: other.tenantId, id }))
  t.throws(() => open({ tenantId: one.tenantId, id: crypto.randomUUID() }))
})

t.test('enabling an endpoint resets its failures', async (t) => {
  const { clock } = standingClock(start)
  const { test, one, send } = await twoAdmins(await build(t, {}, { clock }))
  for (const status of ['disabled', 'failing'] as const) {
    const id = await createEndpoint(test.database, one, { url, status })
    const enabled = await send('POST', `/webhook-endpoints/${id}/enable`)
    t.equal(enabled.statusCode, 200)
    t.match(enabled.json(), { id, status: 'active', failingSince: null, disabledAt: null })
    const { rows } = await test.database.admin.query(
      'SELECT enabled_at FROM endpoint_states WHERE id = $1',
      [id],
    )
    t.strictSame(rows, [{ enabled_at: clock.now() }])
    t.strictSame((await send('POST', `/webhook-endpoints/${id}/enable`)).json(), enabled.json())
    t.equal((await send('POST', `/webhook-endpoints/${id}/enable`, { x: 1 })).statusCode, 400)
  }
  const { rowCount } = await test.database.admin.query(
    `SELECT FROM audit_log WHERE action = 'endpoint-enable'`,
  )
  t.equal(rowCount, 2, 'enabling an active endpoint changes nothing')
})

t.test('an endpoint is paused and resumed, and nothing is sent again meanwhile', async (t) => {
  const { clock } = standingClock(start)
  const { test, one, send } = await twoAdmins(await build(t, {}, { clock }))
  const id = await createEndpoint(test.database, one, { url })
  const path = `/webhook-endpoints/${id}`
  t.equal((await send('POST', `${path}/pause`)).statusCode, 400, 'keep is a choice')
  const paused = await send('POST', `${path}/pause`, { keep: true })
  t.equal(paused.statusCode, 200)
  const pausedAt = clock.now().toISOString()
  t.match(paused.json(), {
    ...{ id, status: 'paused', pausedAt },
    health: { state: 'paused', since: pausedAt, reason: /wait/ },
  })
  t.strictSame((await send('POST', `${path}/pause`, { keep: true })).json(), paused.json())
  t.match((await send('POST', `${path}/pause`, { keep: false })).json().health.reason, /replay/)
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const replay = await send('POST', `${path}/replay`, range)
  t.equal(replay.statusCode, 409)
  t.match(replay.json().detail, /Resume it first: POST \/webhook-endpoints\/:id\/resume/)
  const resumed = await send('POST', `${path}/resume`)
  t.match(resumed.json(), { status: 'active', pausedAt: null, health: { state: 'healthy' } })
  t.strictSame((await send('POST', `${path}/resume`)).json(), resumed.json())
  const { rows } = await test.database.admin.query(
    `SELECT action, reason FROM audit_log WHERE target = $1 ORDER BY id`,
    [id],
  )
  t.strictSame(rows, [
    { action: 'endpoint-pause', reason: 'hold' },
    { action: 'endpoint-pause', reason: 'drop' },
    { action: 'endpoint-resume', reason: 'own-request' },
  ])
})

t.test('a test returns the result of one signed attempt', async (t) => {
  const { clock } = standingClock(start)
  const { test, receiver, id, send } = await withReceiver(t, clock)
  receiver.respond((_request, response) => response.writeHead(418).end('short and stout'))
  const failed = await send('POST', `/webhook-endpoints/${id}/test`)
  t.equal(failed.statusCode, 200)
  t.match(failed.json(), {
    eventType: 'endpoint.test',
    endpointId: id,
    status: 'exhausted',
    nextAttemptAt: null,
    attempts: [{ series: 0, number: 1, statusCode: 418, responseExcerpt: 'short and stout' }],
  })
  t.equal(failed.json().attempts.length, 1)
  const { headers, body } = await receiver.next()
  const timestamp = new Date(start).getTime() / 1_000
  const webhookId = String(headers['webhook-id'])
  t.equal(headers['webhook-timestamp'], String(timestamp))
  t.equal(
    headers['webhook-signature'],
    signDelivery({
      profile: 'spec',
      secrets: [endpointSecret],
      id: webhookId,
      timestamp,
      body: body.toString(),
    }),
  )
  t.match(JSON.parse(body.toString()), {
    id: failed.json().eventId,
    type: 'endpoint.test',
    createdAt: start,
    data: { endpointId: id },
  })
  t.equal(webhookId, failed.json().eventId)

  receiver.respond((_request, response) => response.writeHead(202).end())
  const well = (await send('POST', `/webhook-endpoints/${id}/test`)).json()
  t.match(well, { status: 'succeeded', attempts: [{ statusCode: 202, error: null }] })
  t.strictSame((await send('GET', `/deliveries/${well.id}`)).json(), well)
  const { data } = (await send('GET', `/webhook-endpoints/${id}/deliveries`)).json()
  t.equal(data.length, 2)
  t.strictSame(await miscountedDeliveries(test.database), [], 'what is stored is counted')
  t.match((await send('GET', `/webhook-endpoints/${id}`)).json(), { status: 'active' })
  const waiting = await test.database.admin.query('SELECT FROM due_attempts')
  t.equal(waiting.rowCount, 0, 'a test is not retried')
})

t.test('a test of a type sends its example, which is in no feed and no statistics', async (t) => {
  const { test, one, receiver, id, send } = await withReceiver(t)
  await test.database.admin.query(
    `UPDATE webhook_endpoints SET all_event_types = false, event_types = '{post.deleted}'`,
  )
  const body = { type: 'order.updated' }
  const made = await send('POST', `/webhook-endpoints/${id}/test`, body)
  t.match(made.json(), {
    eventType: 'order.updated',
    status: 'succeeded',
    attempts: [{ number: 1 }],
  })
  const sent = JSON.parse((await receiver.next()).body.toString())
  t.match(sent, { type: 'order.updated', data: { userId: one.userId, cardLast4: '4242' } })
  t.equal((await send('GET', `/orders/${sent.data.id}`)).statusCode, 404, 'an object of nobody')
  t.strictSame((await send('GET', '/events')).json().data, [])
  const { db } = test.app
  const entry = (await allowScopes<TestUser>(test.database))(one)
  t.equal((await db.read(entry, (tx) => measureEndpoints(tx, one, new Date()))).size, 0)
  const measureDay = () => db.read(entry, (tx) => measurePeriod(tx, one, new Date(), id, 'day'))
  t.equal(await measureDay(), null, 'no statistics of tests')

  for (const odd of [{ type: 'order.created' }, { type: null }, { kind: 'order.updated' }]) {
    t.equal((await send('POST', `/webhook-endpoints/${id}/test`, odd)).statusCode, 400)
  }
  t.equal(receiver.requests.length, 1)
})

t.test(
  'who loses the right during the attempt of a test is refused, and nothing is stored',
  async (t) => {
    const { test, one, receiver, id, send } = await withReceiver(t)
    const { admin } = test.database
    receiver.respond(async (_request, response) => {
      await admin.query(`UPDATE memberships SET role = 'editor' WHERE user_id = $1`, [one.userId])
      response.writeHead(204).end()
    })
    const refused = await send('POST', `/webhook-endpoints/${id}/test`)
    t.equal(refused.statusCode, 403)
    t.equal(receiver.requests.length, 1)
    for (const table of ['outbound_events', 'deliveries', 'delivery_attempts', 'audit_log']) {
      t.equal((await admin.query(`SELECT FROM ${table}`)).rowCount, 0, table)
    }
  },
)

t.test('a disabled endpoint can be tested, and stays disabled', async (t) => {
  const { test, id, send } = await withReceiver(t)
  await test.database.admin.query(
    `UPDATE endpoint_states SET status = 'disabled', disabled_at = now()`,
  )
  t.match((await send('POST', `/webhook-endpoints/${id}/test`)).json(), { status: 'succeeded' })
  t.match((await send('GET', `/webhook-endpoints/${id}`)).json(), { status: 'disabled' })
})

t.test('a test goes through the address guard, whatever URL is stored', async (t) => {
  const { test, receiver, id, send } = await withReceiver(t)
  const own = `http://127.0.0.1:${receiver.port + 1}/`
  for (const inside of ['https://169.254.169.254/', 'https://127.0.0.1/', own]) {
    await test.database.admin.query('UPDATE webhook_endpoints SET url = $1', [inside])
    const answer = await send('POST', `/webhook-endpoints/${id}/test`)
    t.match(answer.json(), { status: 'exhausted', attempts: [{ statusCode: null }] }, inside)
    t.equal(answer.json().attempts[0].error, 'could not be reached')
    t.notMatch(answer.body, /169\.254|127\.0|private|loopback|blocked|refused/)
  }
  const { rows } = await test.database.admin.query('SELECT DISTINCT cause FROM delivery_attempts')
  for (const { cause } of rows) t.match(cause, /^blocked: /, 'the operator sees why')
  t.equal(receiver.requests.length, 0)
})

t.test('every change leaves an entry in the audit log of the tenant', async (t) => {
  const { id, send } = await withReceiver(t)
  const created = (await send('POST', '/webhook-endpoints', { url })).json()
  await send('PATCH', `/webhook-endpoints/${created.id}`, { url, description: 'x' })
  await send('POST', `/webhook-endpoints/${created.id}/rotate-secret`, { overlapSeconds: 60 })
  await send('DELETE', `/webhook-endpoints/${created.id}`)
  await send('POST', `/webhook-endpoints/${id}/test`)
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  await send('POST', `/webhook-endpoints/${id}/replay`, range)
  const { data } = (await send('GET', '/audit')).json()
  const entries = data.map(({ action, reason, target }: Record<string, string>) => [
    action,
    reason,
    target,
  ])
  t.strictSame(entries.toReversed(), [
    ['endpoint-create', 'own-request', created.id],
    ['endpoint-change', 'description,url', created.id],
    ['endpoint-rotate', 'overlap-60', created.id],
    ['endpoint-delete', 'own-request', created.id],
    ['endpoint-test', 'succeeded', id],
    ['endpoint-replay', 'every-status', id],
  ])
})

/** The server, and an endpoint of its tenant with a receiver. */
async function withReceiver(t: Test, clock = { now: () => new Date() }) {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const settings = { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` }
  const admins = await twoAdmins(await build(t, settings, { clock }))
  await startCallers(t, admins.test)
  const id = await createEndpoint(admins.test.database, admins.one, { url: `${receiver.url}/hook` })
  return { ...admins, receiver, id }
}

/** The secrets that sign for the only endpoint. */
async function signingAt({ database }: TestApp, time: number): Promise<readonly string[]> {
  const { rows } = await database.admin.query('SELECT * FROM webhook_endpoints')
  const { tenant_id, id, secret, previous_secret, previous_secret_expires_at } = rows[0]
  const sealed = {
    secret,
    previousSecret: previous_secret,
    previousSecretExpiresAt: previous_secret_expires_at,
  }
  return openEndpointSecrets(testKeys, { tenantId: tenant_id, id, ...sealed }, new Date(time))
}
