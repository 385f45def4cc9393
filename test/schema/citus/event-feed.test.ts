import t, { type Test } from 'tap'
import { logins } from '#dev/testing/logins.ts'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { eventFeed, readFeed } from '#src/webhooks/events/feed.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { untilWaiting } from '#test/support/database/until.ts'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { publishAtOnce } from '#test/support/receiver/publish-at-once.ts'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase } from './distributed-database.ts'

async function setUp(t: Test) {
  const { database, servers } = await createDistributedDatabase(t)
  // On the nodes the limit of the role applies, and six writers of one tenant wait for each other.
  await database.admin.query(`ALTER ROLE ${logins.app.name} SET lock_timeout = '2s'`)
  const db = openPatiently(t, database.url, 12)
  const enter = await allowScopes<TestUser>(database)
  const add = async (tenant: TestUser, beforeCommit?: () => Promise<unknown>): Promise<string> =>
    db.write(enter(tenant), async (tx) => {
      const event = anyEvent('order.updated', {})
      const eventId = await publishAtOnce(tx, tenant, event, new Date())
      await beforeCommit?.()
      return eventId
    })
  /** The ids after a cursor, and the next cursor. */
  const read = async (tenant: TestUser, cursor?: string) => {
    const query = { limit: '5', ...(cursor !== undefined && { cursor }) }
    const page = readPage(query, eventFeed.name, eventFeed.forms)
    const { data, nextCursor } = await db.read(enter(tenant), (tx) => readFeed(tx, tenant, page))
    return { ids: data.map(({ id }) => id), cursor: nextCursor ?? cursor }
  }
  return { database, servers, add, read }
}

t.test('the event feed of a distributed database', { skip: skipWithoutCluster }, async (t) => {
  const { database, servers, add, read } = await setUp(t)

  await t.test('an event waits for an earlier one of its tenant alone', async (t) => {
    const tenant = await createUser(database)
    const other = await createUser(database)
    const published = Promise.withResolvers<void>()
    const commit = Promise.withResolvers<void>()
    const first = add(tenant, () => {
      published.resolve()
      return commit.promise
    })
    await published.promise
    const second = add(tenant)
    await untilWaiting(async () => {
      const waiting = `SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`
      const found = await Promise.all(servers.map(({ admin }) => admin.query(waiting)))
      return found.some(({ rowCount }) => rowCount !== 0)
    })
    const foreign = await add(other)
    t.strictSame((await read(other)).ids, [foreign], 'another tenant is not held up')
    const before = await read(tenant)
    t.strictSame(before.ids, [], 'the second one is not shown before the first')
    commit.resolve()
    const ids = [await first, await second]
    const shown = await read(tenant, before.cursor)
    t.strictSame(shown.ids, ids, 'in the order of their positions')
    t.strictSame((await read(tenant, shown.cursor)).ids, [], 'and once')
  })

  await t.test(
    'who follows the feed of a tenant with several writers misses nothing',
    async (t) => {
      const writers = 6
      const eventsEach = 15
      const tenant = await createUser(database)
      let isDone = false
      const seen: string[] = []
      const following = (async () => {
        let cursor: string | undefined
        for (;;) {
          const isLast = isDone
          const page = await read(tenant, cursor)
          cursor = page.cursor
          seen.push(...page.ids)
          if (isLast && page.ids.length === 0) return
        }
      })()
      const written = await Promise.all(
        Array.from({ length: writers }, async () => {
          const ids: string[] = []
          // A transaction that is open for some turns of the event loop after it has its position.
          for (let event = 0; event < eventsEach; event++)
            ids.push(await add(tenant, () => read(tenant)))
          return ids
        }),
      )
      isDone = true
      await following
      t.strictSame(seen.toSorted(), written.flat().toSorted())
    },
  )

  await t.test('positions go on after every older event was deleted', async (t) => {
    const tenant = await createUser(database)
    await add(tenant)
    const { cursor } = await read(tenant)
    await database.admin.query('DELETE FROM outbound_events WHERE tenant_id = $1', [
      tenant.tenantId,
    ])
    const id = await add(tenant)
    t.strictSame((await read(tenant, cursor)).ids, [id])
  })
})
