import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { findReplayOutcome } from '#src/webhooks/history/replay-outcome.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('the outcome of a replay is counted from what it has started again', async (t) => {
  const database = await createDatabase(t)
  const { admin } = database
  const db = openPatiently(t, database.url, 2)
  const tenant = await createUser(database, { role: 'admin' })
  const entryOf = await allowScopes<{ tenantId: string; userId: number }>(database)
  const endpointId = await createEndpoint(database, tenant, { url: 'https://8.8.8.8/' })
  const other = await createEndpoint(database, tenant, { url: 'https://8.8.4.4/' })
  const createdAt = '2026-11-26T12:00:00.000Z'
  const before = '2026-11-26T11:00:00Z'
  const after = '2026-11-26T12:01:00Z'
  const { tenantId } = tenant
  const add = async (state: string, endpoint = endpointId) => {
    const facts = { tenantId, endpointId: endpoint, attempts: 0, createdAt: before }
    const id = await createDelivery(database, facts)
    await admin.query(`UPDATE deliveries SET ${state} WHERE id = $1`, [id])
    return id
  }
  const delivered = await add(`series = 1, status = 'succeeded', finished_at = '${after}'`)
  await add(`series = 1, status = 'pending', finished_at = NULL`)
  await add(`series = 2, status = 'exhausted', finished_at = '${after}'`)
  await add(`series = 1, status = 'succeeded', finished_at = '${before}'`) // an earlier replay
  await add(`series = 0, status = 'succeeded', finished_at = '${after}'`) // not replayed
  await add(`series = 1, status = 'succeeded', finished_at = '${after}'`, other)
  const selection = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' }
  const replay = {
    ...{ id: crypto.randomUUID(), endpointId, ...selection, createdAt, status: null },
    ...{ eventType: null, eventId: null, httpStatus: null, deliveryIds: null },
    ...{ total: 3, done: 3, finishedAt: null, cancelledAt: null },
  }
  const outcome = (more: object = {}, limit?: number) =>
    db.read(entryOf(tenant), (tx) => findReplayOutcome(tx, tenant, { ...replay, ...more }, limit))
  const whole = { succeeded: 1, pending: 1, exhausted: 1, isPartial: false }
  t.strictSame(await outcome(), whole)
  t.strictSame(await outcome({ deliveryIds: [delivered] }), {
    ...whole,
    ...{ pending: 0, exhausted: 0 },
  })
  t.match(await outcome({ eventType: 'other' }), { succeeded: 0, pending: 0, exhausted: 0 })
  t.match(await outcome({ to: selection.from }), { succeeded: 0 })
  t.match(await outcome({}, 5), { isPartial: false })
  t.match(await outcome({}, 4), { isPartial: true }, 'the page says that it has not read all')
})
