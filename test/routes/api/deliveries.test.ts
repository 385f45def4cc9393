import t from 'tap'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import {
  createDelivery,
  exhaustedDelivery,
  waitingAttempts,
} from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const missing = '00000000-0000-4000-8000-000000000000'

t.test('a delivery shows its attempts, and explains why they failed', async (t) => {
  const { test, one, send } = await twoAdmins(shared)
  const { id, endpointId } = await exhaustedDelivery(test.database, one)
  await test.database.admin.query(
    `UPDATE delivery_attempts SET status_code = NULL, response_excerpt = NULL,
       error = 'could not be reached', cause = 'blocked: 10.0.0.7 is private use'
     WHERE number = 5`,
  )
  const read = await send('GET', `/deliveries/${id}`)
  t.equal(read.statusCode, 200)
  const delivery = read.json()
  t.strictSame(Object.keys(delivery).toSorted(), [
    'attempts',
    'createdAt',
    'endpointId',
    'eventId',
    'eventType',
    'health',
    'id',
    'nextAttemptAt',
    'status',
  ])
  t.match(delivery, { id, endpointId, eventType: 'order.updated', status: 'exhausted' })
  t.equal(delivery.attempts.length, 5)
  const [first, , , , last] = delivery.attempts
  t.strictSame(Object.keys(first).toSorted(), [
    'durationMs',
    'error',
    'explanation',
    'number',
    'responseExcerpt',
    'series',
    'startedAt',
    'statusCode',
  ])
  t.match(first, { series: 0, number: 1, statusCode: 500, responseExcerpt: 'told to fail' })
  t.match(first.explanation, /500/)
  t.match(last, { number: 5, statusCode: null, error: 'could not be reached' })
  t.type(last.explanation, 'string')
  t.notMatch(read.body, /10\.0\.0\.7|private|blocked/, 'details for operators are not shown')
})

t.test('a successful attempt has no explanation', async (t) => {
  const { test, one, send } = await twoAdmins(shared)
  const { id } = await exhaustedDelivery(test.database, one)
  await test.database.admin.query('UPDATE delivery_attempts SET status_code = 204')
  const { attempts } = (await send('GET', `/deliveries/${id}`)).json()
  t.match(attempts[0], { statusCode: 204, error: null, explanation: null })
})

t.test('a delivery shows its newest 20 attempts, alone and in a list', async (t) => {
  const { test, one, send } = await twoAdmins(shared)
  const { id, endpointId } = await exhaustedDelivery(test.database, one)
  await createDelivery(test.database, { ...one, endpointId, attempts: 2 })
  await test.database.admin.query(
    `INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at,
       duration_ms, status_code, response_excerpt)
     SELECT $1, $2, 1 + n / 5, 1 + n % 5, now(), 12, 500, repeat('x', 2048)
     FROM generate_series(0, 97) AS n`,
    [one.tenantId, id],
  )
  const newest = Array.from({ length: 20 }, (_, n) => 98 - 20 + n).map((n) => ({
    series: 1 + Math.floor(n / 5),
    number: 1 + (n % 5),
  }))
  const read = await send('GET', `/deliveries/${id}`)
  const shown = ({ attempts }: { attempts: { series: number; number: number }[] }) =>
    attempts.map(({ series, number }) => ({ series, number }))
  t.strictSame(shown(read.json()), newest, 'in order')
  t.ok(read.body.length < 50_000, `${read.body.length} bytes`)
  const list = (await send('GET', `/webhook-endpoints/${endpointId}/deliveries`)).json().data
  t.strictSame(shown(list.find((delivery: { id: string }) => delivery.id === id)), newest)
  t.equal(list.find((delivery: { id: string }) => delivery.id !== id).attempts.length, 2)
  const page = await send('GET', `/app/deliveries/${id}`)
  t.match(page.body, 'Only the newest 20 attempts are shown.')
})

t.test('the list is newest first, filtered by status and type, and paged', async (t) => {
  const { test, one, send } = await twoAdmins(shared)
  const endpointId = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/' })
  const other = await exhaustedDelivery(test.database, one)
  const ids: string[] = []
  for (let number = 0; number < 7; number += 1) {
    const delivery = {
      ...one,
      endpointId,
      status: number % 2 === 0 ? ('succeeded' as const) : ('exhausted' as const),
      eventType: number < 4 ? 'order.updated' : 'invoice.created',
      // Some have the same time: the id orders them.
      createdAt: `2026-01-0${1 + Math.floor(number / 3)}T00:00:00Z`,
    }
    ids.push(await createDelivery(test.database, delivery))
  }
  const list = `/webhook-endpoints/${endpointId}/deliveries`
  const whole = await idsOf(list)
  t.strictSame(whole.toSorted(), ids.toSorted())
  t.notOk(whole.includes(other.id))
  t.equal(whole[0], ids[6])
  const pages: string[] = []
  let query = '?limit=2'
  for (;;) {
    const page = (await send('GET', list + query)).json()
    pages.push(...page.data.map(({ id }: { id: string }) => id))
    if (page.nextCursor === null) break
    query = `?limit=2&cursor=${page.nextCursor}`
  }
  t.strictSame(pages, whole)
  t.equal((await idsOf(`${list}?status=succeeded`)).length, 4)
  t.equal((await idsOf(`${list}?eventType=invoice.created`)).length, 3)
  t.equal((await idsOf(`${list}?status=exhausted&eventType=invoice.created`)).length, 1)
  t.strictSame(await idsOf(`${list}?status=pending`), [])
  for (const odd of ['status=done', 'eventType=X', 'limit=0', 'cursor=x', 'after=x']) {
    t.equal((await send('GET', `${list}?${odd}`)).statusCode, 400, odd)
  }

  async function idsOf(url: string): Promise<string[]> {
    return (await send('GET', url)).json().data.map(({ id }: { id: string }) => id)
  }
})

t.test('a replay begins a new series, and two at once begin only one', async (t) => {
  const { test, one, send } = await twoAdmins(shared)
  const { id } = await exhaustedDelivery(test.database, one)
  const answers = await Promise.all([1, 2, 3].map(() => send('POST', `/deliveries/${id}/replay`)))
  for (const { statusCode } of answers) t.equal(statusCode, 202)
  t.match(answers[0]?.json(), { id, status: 'pending', nextAttemptAt: String })
  t.strictSame(await waitingAttempts(test.database), [{ id, series: 1, number: 1 }])
  const { rows } = await test.database.admin.query(
    `SELECT reason, target, user_id FROM audit_log WHERE action = 'delivery-replay'`,
  )
  t.strictSame(rows, [{ reason: 'own-request', target: id, user_id: String(one.userId) }])
  const read = (await send('GET', `/deliveries/${id}`)).json()
  t.equal(read.attempts.length, 5, 'earlier attempts stay')
})

t.test('a delivery with any status can be replayed', async (t) => {
  const { test, one, send } = await twoAdmins(shared)
  const { endpointId } = await exhaustedDelivery(test.database, one, { status: 'failing' })
  for (const status of ['succeeded', 'exhausted', 'pending'] as const) {
    const delivery = { ...one, endpointId, status, attempts: 2 }
    const id = await createDelivery(test.database, delivery)
    t.equal((await send('POST', `/deliveries/${id}/replay`, {})).statusCode, 202, status)
    const waiting = await waitingAttempts(test.database)
    t.strictSame(
      waiting.filter((one) => one.id === id),
      [{ id, series: 1, number: 1 }],
      status,
    )
  }
})

t.test('a replay to a disabled endpoint is refused with a hint', async (t) => {
  const { test, one, send } = await twoAdmins(await build(t))
  const { id } = await exhaustedDelivery(test.database, one, { status: 'disabled' })
  const refused = await send('POST', `/deliveries/${id}/replay`)
  t.equal(refused.statusCode, 409)
  t.match(refused.json().detail, /disabled\. Enable it first/)
  t.strictSame(await waitingAttempts(test.database), [])
})

t.test('malformed is 400; missing and foreign are the same 404, and nothing is sent', async (t) => {
  const { test, one, sendAsOther } = await twoAdmins(await build(t))
  const { id } = await exhaustedDelivery(test.database, one)
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/replay'],
  ] as const) {
    for (const odd of ['1', `${missing}0`, 'x', '%00']) {
      t.equal((await sendAsOther(method, `/deliveries/${odd}${path}`)).statusCode, 400, odd)
    }
    const gone = await sendAsOther(method, `/deliveries/${missing}${path}`)
    const foreign = await sendAsOther(method, `/deliveries/${id}${path}`)
    t.equal(foreign.statusCode, 404)
    const comparable = ({ body, headers }: typeof gone) =>
      body.replaceAll(String(headers['x-request-id']), 'id')
    t.equal(comparable(foreign), comparable(gone))
  }
  t.equal((await sendAsOther('POST', `/deliveries/${id}/replay`, { series: 9 })).statusCode, 400)
  t.strictSame(await waitingAttempts(test.database), [])
})
