import pg from 'pg'
import t from 'tap'
import type { TestUser } from '#dev/testing/people.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { isOnCluster } from '#test/support/database/template.ts'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { publishAtOnce } from '#test/support/receiver/publish-at-once.ts'
import { untilInFeed } from '#test/support/receiver/until-in-feed.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const now = new Date('2026-03-01T10:00:00Z')

t.test('the feed has the same events with the same ids, byte for byte, in order', async (t) => {
  const { test, one, other, send } = await twoAdmins(shared)
  const enter = await allowScopes<TestUser>(test.database)
  const bodies: string[] = []
  for (const data of [{ a: 1 }, { text: 'é " \\ \u2028 </script>' }, { list: [1.5, null, {}] }]) {
    await publishTo(one, data)
  }
  await publishTo(other, { foreign: true })
  const { rows } = await test.database.admin.query(
    'SELECT body FROM outbound_events WHERE tenant_id = $1 ORDER BY sequence',
    [one.tenantId],
  )
  bodies.push(...rows.map(({ body }) => body))
  await untilInFeed(test.database)
  const answer = await send('GET', '/events')
  t.equal(answer.statusCode, 200)
  t.ok(answer.body.startsWith(`{"data":[${bodies.join(',')}],"nextCursor":"`))

  async function publishTo(tenant: typeof one, data: object) {
    const type = 'order.updated'
    await test.app.db.write(enter(tenant), (tx) => publish(tx, tenant, anyEvent(type, data), now))
  }
})

t.test('a cursor stays valid: after the last event come the next ones, once each', async (t) => {
  const { test, one, send, sendAsOther } = await twoAdmins(shared)
  const enter = await allowScopes<TestUser>(test.database)
  t.strictSame((await send('GET', '/events')).json(), { data: [], nextCursor: null })
  const published: string[] = []
  const publishSome = async (count: number) => {
    for (let number = 0; number < count; number += 1) {
      const event = anyEvent('invoice.created', { number })
      const { eventId } = await test.app.db.write(enter(one), (tx) => publish(tx, one, event, now))
      published.push(eventId)
    }
  }
  await publishSome(5)
  const seen: string[] = []
  let after = ''
  const catchUp = async () => {
    await untilInFeed(test.database)
    for (;;) {
      const page = (await send('GET', `/events?limit=2${after}`)).json()
      seen.push(...page.data.map(({ id }: { id: string }) => id))
      if (page.nextCursor === null) return
      after = `&after=${page.nextCursor}`
    }
  }
  await catchUp()
  t.strictSame(seen, published)
  await publishSome(3)
  await catchUp()
  t.strictSame(seen, published)
  const borrowed = await sendAsOther('GET', `/events?limit=2${after}`)
  t.strictSame(borrowed.json().data, [], 'a cursor grants no access')
})

const skip =
  isOnCluster() &&
  'the next event of a tenant waits for the commit there: test/schema/citus/event-feed.test.ts'
t.test('a late commit is not skipped', { skip }, async (t) => {
  const { test, one, send } = await twoAdmins(shared)
  const enter = await allowScopes<TestUser>(test.database)
  const event = anyEvent('order.updated', {})
  const late = openPatiently(t, test.database.url, 2)
  const begun = Promise.withResolvers<string>()
  const mayCommit = Promise.withResolvers<void>()
  const committed = late.write(enter(one), async (tx) => {
    begun.resolve(await publishAtOnce(tx, one, event, now))
    await mayCommit.promise
  })
  const lateId = await begun.promise
  const early = await test.app.db.write(enter(one), (tx) => publish(tx, one, event, now))

  const before = (await send('GET', '/events')).json()
  t.strictSame(
    before,
    { data: [], nextCursor: null },
    'the earlier event waits for the later commit',
  )
  mayCommit.resolve()
  await committed
  await untilInFeed(test.database)
  const page = (await send('GET', '/events?limit=1')).json()
  t.strictSame(idsOf(page), [lateId])
  const next = (await send('GET', `/events?after=${page.nextCursor}`)).json()
  t.strictSame(idsOf(next), [early.eventId])
})

t.test('a transaction that only reads does not delay the feed', async (t) => {
  const { test, one, send } = await twoAdmins(shared)
  const enter = await allowScopes<TestUser>(test.database)
  const reader = new pg.Client({ connectionString: test.database.url })
  await reader.connect()
  t.teardown(() => reader.end())
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await reader.query('SELECT count(*) FROM outbound_events')
  const event = anyEvent('order.updated', {})
  const { eventId } = await test.app.db.write(enter(one), (tx) => publish(tx, one, event, now))
  await untilInFeed(test.database)
  t.strictSame(idsOf((await send('GET', '/events')).json()), [eventId])
})

t.test('an invalid query is 400', async (t) => {
  const { send } = await twoAdmins(shared)
  const foreign = (await send('GET', '/webhook-endpoints')).json().nextCursor
  for (const odd of ['after=x', `after=${foreign}`, 'cursor=x', 'limit=0', 'limit=101', 'type=X']) {
    t.equal((await send('GET', `/events?${odd}`)).statusCode, 400, odd)
  }
})

function idsOf({ data }: { data: { id: string }[] }): string[] {
  return data.map(({ id }) => id)
}
