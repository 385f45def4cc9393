import t from 'tap'
import { listManagers } from '#src/auth/members/members.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import type { Mail } from '#src/mail/mailer.ts'
import { openQueue } from '#src/queue/queue.ts'
import { claimDue } from '#src/webhooks/delivery/claim.ts'
import { pauseEndpoint, resumeEndpoint } from '#src/webhooks/delivery/held/pause.ts'
import { recordOutcomes } from '#src/webhooks/delivery/record.ts'
import { recordHealth } from '#src/webhooks/delivery/record-health.ts'
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  enableEndpoint,
  findEndpoint,
  findEndpointSecrets,
  listEndpoints,
  lockEndpoint,
  rotateSecret,
} from '#src/webhooks/endpoints/endpoints.ts'
import { createKnownTypes } from '#src/webhooks/events/app-types.ts'
import {
  countRecentEvents,
  listRecentEvents,
  readFeed,
  searchedEvents,
} from '#src/webhooks/events/feed.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { publishAppEvents } from '#src/webhooks/events/publish-app-events.ts'
import { mailAlert } from '#src/webhooks/health/alert-mail.ts'
import { alertOwners, listNotifications } from '#src/webhooks/health/alerts.ts'
import {
  countDeliveriesOf,
  findDelivery,
  findSentRequest,
  listDeliveries,
  listDeliveriesOf,
} from '#src/webhooks/history/deliveries.ts'
import {
  cancelReplay,
  createReplay,
  findReplay,
  startReplay,
  workReplayTurn,
} from '#src/webhooks/history/replays.ts'
import { purgeHistory } from '#src/webhooks/history/retention.ts'
import { measureEndpoints, measurePeriod } from '#src/webhooks/history/stats.ts'
import { sealOutput } from '#src/webhooks/probe/call.ts'
import { sendTest, testType } from '#src/webhooks/probe/test-event.ts'
import { patient } from '#test/support/database/open.ts'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { untilInFeed } from '#test/support/receiver/until-in-feed.ts'
import { testKeys } from '#test/support/receiver/webhook-endpoint.ts'
import { createTwins } from './twin-tenants.ts'

const noTurn = { id: '', retryCount: 0 }

const twins = await createTwins(t)
const { database, db, enter, original, twin, ids, inTwin, databaseOf } = twins
const queue = openQueue(database.superuserUrl, 'worker', () => {})
await queue.start()
t.teardown(() => queue.stop({ graceful: false }))
const by = { ...twin, clientInfo: { userAgent: null, ip: null } }
const page = { limit: 100, after: null }
const replay = { endpointId: ids.endpoint, id: ids.replay }
const now = new Date()
const url = 'https://8.8.4.4/twin'

t.test('with the same endpoint id, each tenant reads and changes its own', async (t) => {
  const { data } = await inTwin((tx) => listEndpoints(tx, twin, page))
  t.strictSame(
    data.map((one) => one.url),
    [url],
  )
  t.match(await inTwin((tx) => findEndpoint(tx, twin, ids.endpoint)), { url })
  const secrets = await inTwin((tx) => findEndpointSecrets(tx, twin, ids.endpoint))
  t.match(secrets, { tenantId: twin.tenantId })
  // Endpoints of the original have this URL.
  const change = { description: 'changed', url: 'https://8.8.8.8/' }
  t.match(await inTwin((tx) => changeEndpoint(tx, by, ids.endpoint, change, now)), change)
  const sealing = { keys: testKeys, now }
  const rotating = { ...sealing, overlap: 0 }
  t.match(await inTwin((tx) => rotateSecret(tx, by, ids.endpoint, rotating)), { url })
  t.match(
    await inTwin(
      (tx) => enableEndpoint(tx, by, ids.endpoint, now),
      `UPDATE endpoint_states SET status = 'failing', failing_since = now()
       WHERE tenant_id = '${twin.tenantId}'`,
    ),
    { url, status: 'active' },
  )
  const pause = { keep: true, now }
  const paused = await inTwin((tx) => pauseEndpoint(tx, queue, by, ids.endpoint, pause))
  t.match(paused, { url, status: 'paused' })
  const resumed = await inTwin(
    (tx) => resumeEndpoint(tx, queue, by, ids.endpoint, now),
    `UPDATE endpoint_states SET paused = 'hold', paused_at = now()`,
  )
  t.match(resumed, { url, pausedAt: null })
  t.equal(await inTwin((tx) => deleteEndpoint(tx, by, ids.endpoint)), true)
  const facts = {
    url: `${url}/new`,
    description: null,
    eventTypes: null,
    signature: 'spec',
    rateLimit: null,
    payload: 'full',
    recoverWhenDisabled: false,
  } as const
  t.match(
    await inTwin((tx) => createEndpoint(tx, by, facts, sealing)),
    { url: facts.url },
    'below the limit of endpoints',
  )
})

t.test('an endpoint is locked in its own tenant only', async (t) => {
  await inTwin(async (tx) => {
    await lockEndpoint(tx, twin, ids.endpoint)
    const { rows } = await database.admin.query(
      'SELECT tenant_id FROM webhook_endpoints WHERE id = $1 FOR UPDATE SKIP LOCKED',
      [ids.endpoint],
    )
    t.strictSame(rows, [{ tenant_id: original.tenantId }], 'not locked')
  })
})

t.test('with the same delivery id, each tenant reads its own', async (t) => {
  const found = await inTwin((tx) => findDelivery(tx, twin, ids.exhausted))
  t.match(found, { eventType: 'post.updated', attempts: Array(5).fill({ statusCode: 401 }) })
  t.notMatch(found?.attempts[4]?.explanation, 'rotated', 'explained by its own endpoint')
  const list = await inTwin((tx) => listDeliveries(tx, twin, ids.endpoint, {}, page))
  t.equal(list?.data.length, 3)
  const { body, url: to } = (await inTwin((tx) =>
    findSentRequest(tx, twin, { eventId: found?.eventId ?? '', endpointId: ids.endpoint }),
  )) ?? { body: '', url: '' }
  t.strictSame([body, to], ['{"data":"twin"}', url])
  const claim = { turn: noTurn, endpointId: ids.endpoint, since: null, known: [], room: 10 }
  const due = await inTwin((tx) => claimDue(databaseOf(tx), twin, [claim], now))
  const createdAt = new Date(found?.createdAt ?? '')
  t.match(due, [
    [
      {
        deliveryId: ids.exhausted,
        delivery: {
          createdAt,
          event: { body: '{"data":"twin"}' },
          endpoint: { url: to, status: 'active' },
        },
      },
    ],
  ])
  t.equal(due[0]?.length, 1)
  const stats = await inTwin((tx) => measureEndpoints(tx, twin, now))
  t.match(stats.get(ids.endpoint), { attempts: 1 }, 'attempts of the last day')
  const day = await inTwin((tx) => measurePeriod(tx, twin, now, ids.endpoint, 'day'))
  t.match(day, { attempts: 1 }, 'the same of the page of the endpoint')
})

t.test('with the same event id, each tenant reads its own deliveries', async (t) => {
  const found = await inTwin((tx) => findDelivery(tx, twin, ids.exhausted))
  const eventId = found?.eventId ?? ''
  const deliveries = await inTwin((tx) => listDeliveriesOf(tx, twin, eventId))
  t.strictSame(
    deliveries.map((one) => one.url),
    [url],
  )
  const counts = await inTwin((tx) => countDeliveriesOf(tx, twin, [eventId]))
  t.strictSame(counts.get(eventId), [{ state: 'exhausted', count: 1 }])
  const events = await inTwin((tx) => listRecentEvents(tx, twin, page, { search: eventId }))
  t.strictSame(
    events.data.map(({ id }) => id),
    [eventId],
  )
  const all = await inTwin((tx) => listRecentEvents(tx, twin, page, {}))
  const counted = await inTwin((tx) => countRecentEvents(tx, twin, {}))
  t.strictSame(counted, { rows: all.data.length, more: false })
})

t.test('the outcome of an attempt is recorded for its own tenant', async (t) => {
  const result = {
    ...{ statusCode: 204, responseExcerpt: '', retryAfterSeconds: null, error: null, cause: null },
    ...{ startedAt: now, durationMs: 1, certificateExpiresAt: null },
  }
  const attempted = {
    kind: 'attempted',
    deliveryId: ids.pending,
    endpointId: ids.endpoint,
    series: 0,
    attempts: 1,
    result,
    step: { outcome: 'succeeded' },
    endedMs: 0,
    lowPriority: false,
    isTrial: false,
    endpointOutcome: null,
  } as const
  const { tenantId } = twin
  const ended = {
    ...{ tenantId, turn: noTurn, deliveryId: ids.pending, series: 0, number: 2 },
    outcome: attempted,
  }
  const recorded = await inTwin(async (tx) => {
    await recordOutcomes(databaseOf(tx), queue, [ended], now)
    return findDelivery(tx, twin, ids.pending)
  })
  t.match(recorded, { status: 'succeeded' })

  const after = (kind: 'succeeded' | 'exhausted') =>
    inTwin(async (tx) => {
      const outcome = { kind, isTrial: false, statusCode: 500, cause: null }
      const one = { endpointId: ids.endpoint, outcome, certificateExpiresAt: null }
      await recordHealth(tx, queue, twin, [one], now)
      const { data } = await listNotifications(tx, twin, page)
      return { ...(await findEndpoint(tx, twin, ids.endpoint)), alerts: data.length }
    })
  t.match(
    await after('succeeded'),
    { status: 'active', alerts: 1 },
    'the original’s endpoint has recovered',
  )
  t.match(
    await after('exhausted'),
    { status: 'failing' },
    'the original’s endpoint has failed long and often enough to be disabled',
  )
})

t.test('owners are alerted about their own endpoint', async (t) => {
  const { data } = await inTwin((tx) => listNotifications(tx, twin, page))
  t.match(data, [{ message: 'twin' }])
  t.equal(data.length, 1)
  const alert = { kind: 'endpoint.failing', endpointId: ids.endpoint, url } as const
  const alerted = await inTwin(async (tx) => {
    await alertOwners(tx, queue, twin, alert, now)
    return listNotifications(tx, twin, page)
  }, `DELETE FROM notifications WHERE tenant_id = '${twin.tenantId}'`)
  t.equal(alerted.data.length, 1, 'the original’s owners were alerted within the hour')

  const before = await twins.rows(original)
  const mails: Mail[] = []
  const mailer = { send: async (mail: Mail) => void mails.push(mail) }
  const deps = {
    db,
    mailer,
    baseUrl: 'http://localhost',
    listManagers,
    clock: { now: () => now },
  }
  t.match(await mailAlert(enter(twin), ids.notification, deps), { outcome: 'mailed' })
  t.equal(mails[0]?.to.length, 1)
  t.match(mails[0]?.message.paragraphs[0], [/ 8\.8\.4\.4 /])
  t.strictSame(await twins.rows(original), before)
})

t.test('an event is sent only to endpoints of its own tenant', async (t) => {
  const event = anyEvent('order.updated', {})
  const before = await twins.rows(original)
  const { eventId } = await db.write(enter(twin), (tx) => publish(tx, twin, event, now))
  t.strictSame(await twins.rows(original), before)
  const { rows } = await database.admin.query(
    'SELECT tenant_id FROM deliveries WHERE event_id = $1',
    [eventId],
  )
  t.strictSame(rows, [{ tenant_id: twin.tenantId }])
  await database.admin.query('DELETE FROM outbound_events WHERE id = $1', [eventId])
  await untilInFeed(database)
  const { data } = await inTwin((tx) => readFeed(tx, twin, page))
  t.strictSame(data, Array(3).fill({ data: 'twin' }))
  const recent = await inTwin((tx) => listRecentEvents(tx, twin, page))
  t.equal(recent.data.length, 3)
})

t.test('an object is searched in the newest events of its own tenant', async (t) => {
  const { data } = await inTwin(
    (tx) => listRecentEvents(tx, twin, page, { search: 'mine' }),
    `UPDATE outbound_events SET body = '{"id":"","type":"","createdAt":"","data":{"id":"mine"}}'
     WHERE tenant_id = '${twin.tenantId}'`,
    `INSERT INTO outbound_events (tenant_id, id, type, body)
     SELECT '${original.tenantId}', 'msg_newer_' || n, 'order.updated', '{}'
     FROM generate_series(1, ${searchedEvents}) n`,
  )
  t.equal(data.length, 3)
})

t.test('the app may use the id of an event of another tenant', async (t) => {
  const event = { id: 'same', type: 'report.finished', data: {} }
  const checks = { check: async () => null }
  const checking = { types: createKnownTypes(), checks, pointerOf: () => '' }
  const outcome = await inTwin(
    (tx) => publishAppEvents(tx, twin, [event], checking, now),
    `INSERT INTO app_event_types (name, description) VALUES ('report.finished', 'x')`,
    `INSERT INTO outbound_events (tenant_id, id, type, body)
     VALUES ('${original.tenantId}', 'same', 'report.finished', '{}')`,
  )
  t.match(outcome, { isReplay: false })
})

t.test('an endpoint of another tenant is not tested', async (t) => {
  const tested = await inTwin(async (tx) => {
    await deleteEndpoint(tx, by, ids.endpoint)
    const wait = () => Promise.reject(new Error('it is called'))
    const answers = { requireRoom() {}, wait, close() {} }
    const deps = { queue, answers, keys: testKeys, clientInfo: by.clientInfo }
    const test = { endpointId: ids.endpoint, type: testType }
    return sendTest(databaseOf(tx), enter(twin), test, deps)
  })
  t.equal(tested, null)
})

t.test('a test is not recorded if the endpoint is deleted before the response', async (t) => {
  const at = now.toISOString()
  const result = { statusCode: 204, responseExcerpt: '', error: null, cause: null, durationMs: 1 }
  const made = {
    event: { id: 'msg_test', body: '{}' },
    createdAt: at,
    finishedAt: at,
    result: { ...result, startedAt: at },
  }
  const test = { endpointId: ids.endpoint, type: testType }
  const events = await inTwin(async (tx) => {
    const answers = {
      requireRoom() {},
      async wait({ id }: { id: string }) {
        await deleteEndpoint(tx, by, ids.endpoint)
        return sealOutput(testKeys, id, { made })
      },
      close() {},
    }
    const deps = { queue, answers, keys: testKeys, clientInfo: by.clientInfo }
    t.equal(await sendTest(databaseOf(tx), enter(twin), test, deps), null)
    return tx.outboundEvent.count({ where: { tenantId: twin.tenantId, type: testType } })
  })
  t.equal(events, 0)
})

t.test('a replay is cancelled in its own tenant only', async (t) => {
  const cancelled = await inTwin((tx) => cancelReplay(tx, by, replay, now))
  t.match(cancelled, { cancelledAt: now.toISOString() })
})

t.test('a finished replay is not found once its endpoint is deleted', async (t) => {
  const found = await inTwin(async (tx) => {
    await cancelReplay(tx, by, replay, now)
    await deleteEndpoint(tx, by, ids.endpoint)
    return findReplay(tx, twin, replay)
  })
  t.equal(found, null)
})

t.test('only deliveries of the tenant are replayed', async (t) => {
  const again = (id: string) => inTwin((tx) => startReplay(tx, twin, [id], now))
  t.strictSame(await again(ids.exhausted), [ids.exhausted])
  t.strictSame(await again(ids.fresh), [], 'the original’s delivery is not pending')

  const before = await twins.rows(original)
  // Whoever locks a row of the original waits too long.
  const holder = await database.admin.connect()
  await holder.query('BEGIN')
  for (const table of ['webhook_endpoints', 'endpoint_replays']) {
    await holder.query(`SELECT FROM ${table} WHERE tenant_id = $1 FOR UPDATE`, [original.tenantId])
  }
  try {
    const range = { from: new Date(0), to: now, status: null }
    const asked = await inTwin((tx) => createReplay(tx, queue, by, ids.endpoint, range, now))
    t.match(asked, { total: 3 })
    t.match(await inTwin((tx) => findReplay(tx, twin, replay)), { total: 3 })
    await workReplayTurn(db, queue, { job: null, entry: enter(twin) }, now)
  } finally {
    await holder.query('COMMIT')
    holder.release()
  }
  const turns = await database.admin.query(`SELECT FROM pgboss.job WHERE name = 'tenant-replay'`)
  t.equal(turns.rowCount, 0, 'the original’s open replay gets the twin no further turn')
  t.match(await inTwin((tx) => findReplay(tx, twin, replay)), { done: 3 })
  t.strictSame(await twins.rows(original), before)
})

t.test('events are deleted when they are old in their own tenant', async (t) => {
  const { admin } = database
  const systemDb = openSystemDatabase(database.superuserUrl, 1, patient)
  t.teardown(() => systemDb.close())
  const insert = `INSERT INTO outbound_events (tenant_id, id, type, body, created_at)
    VALUES ($1, $3, 'order.updated', '{}', '2020-01-01'), ($2, $3, 'order.updated', '{}', now())`
  await admin.query(insert, [original.tenantId, twin.tenantId, 'msg_old_in_the_original_alone'])
  await admin.query(insert, [twin.tenantId, original.tenantId, 'msg_old_in_the_twin_alone'])
  const before = new Date('2021-01-01')
  t.match(await purgeHistory(systemDb, { before, feed: before }), { events: 2 })
  const { rows } = await admin.query(
    `SELECT tenant_id, id FROM outbound_events WHERE id ~ '^msg_old'`,
  )
  t.strictSame(
    new Set(rows.map(({ tenant_id, id }) => `${tenant_id} ${id}`)),
    new Set([
      `${original.tenantId} msg_old_in_the_twin_alone`,
      `${twin.tenantId} msg_old_in_the_original_alone`,
    ]),
  )
})
