import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { verifyCluster } from '#src/schema/citus/verify.ts'
import { eventFeed, readFeed } from '#src/webhooks/events/feed.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase } from './distributed-database.ts'
import { placeOf } from './tenant-rows.ts'

/*
 * Shards move with `block_writes`: PostgreSQL replicates no changes into a table with row-level security.
 */

async function setUp(t: Test) {
  const { cluster, database } = await createDistributedDatabase(t)
  const { admin } = database
  const db = openPatiently(t, database.url, 8)
  const enter = await allowScopes<TestUser>(database)
  /** A tenant whose rows are on this node. */
  const createTenantOn = async (port: number): Promise<TestUser> => {
    for (;;) {
      const tenant = await createUser(database)
      if ((await placeOf(admin, tenant)).port === port) return tenant
    }
  }
  const add = (tenant: TestUser): Promise<string> =>
    db.write(enter(tenant), async (tx) => {
      const { eventId } = await publish(tx, tenant, anyEvent('order.updated', {}), new Date())
      return eventId
    })
  const read = async (tenant: TestUser): Promise<string[]> => {
    const ids: string[] = []
    for (let cursor: string | undefined; ; ) {
      const query = { limit: '100', ...(cursor !== undefined && { cursor }) }
      const page = readPage(query, eventFeed.name, eventFeed.forms)
      const found = await db.read(enter(tenant), (tx) => readFeed(tx, tenant, page))
      ids.push(...found.data.map(({ id }) => id))
      if (found.data.length < 100 || found.nextCursor === null) return ids
      cursor = found.nextCursor
    }
  }
  const verify = async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      return await verifyCluster(client, false)
    } finally {
      await client.end()
    }
  }
  const [, one, two] = cluster.servers
  if (one === undefined || two === undefined) throw new Error('A cluster has two nodes.')
  const tenants = [await createTenantOn(one.port), await createTenantOn(two.port)] as const
  return { admin, nodes: [one, two] as const, tenants, add, read, verify }
}

t.test('nodes of a Citus cluster', { skip: skipWithoutCluster }, async (t) => {
  const { admin, nodes, tenants, add, read, verify } = await setUp(t)
  const [one, two] = nodes
  const [moved, other] = tenants
  const acknowledged = new Map(tenants.map((tenant) => [tenant, [] as string[]]))
  const write = async (tenant: TestUser) => void acknowledged.get(tenant)?.push(await add(tenant))

  await t.test('the rows of a tenant move to another node while they are used', async (t) => {
    let isMoving = true
    let reads = 0
    const using = tenants.map(async (tenant) => {
      while (isMoving) {
        // A write that waits longer than its timeout is refused.
        await write(tenant).catch((error) => {
          if (!isDatabaseUnavailable(error)) throw error
        })
        const ids = await read(tenant)
        if (ids.length !== acknowledged.get(tenant)?.length) throw new Error('not all are shown')
        reads += 1
      }
    })
    const { shard } = await placeOf(admin, moved)
    const move = async () => {
      await admin
        .query(
          `SELECT citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'block_writes')`,
          [shard, one.port, two.port],
        )
        .finally(() => {
          isMoving = false
        })
    }
    await Promise.all([...using, move()])
    t.comment(`${reads} writes and reads meanwhile`)
    t.equal((await placeOf(admin, moved)).port, two.port)
    for (const tenant of tenants) t.strictSame(await read(tenant), acknowledged.get(tenant))
    t.strictSame(await verify(), [], 'with their policies, FORCE and privileges')
    await write(moved)
    t.strictSame(await read(moved), acknowledged.get(moved))
    t.ok(!(await read(other)).some((id) => acknowledged.get(moved)?.includes(id)))
    await admin.query(
      `SELECT citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'block_writes')`,
      [shard, two.port, one.port],
    )
  })

  await t.test('a node that is lost concerns its own tenants, until it is back', async (t) => {
    await one.crash()
    const refused: unknown = await add(moved).catch((error) => error)
    t.ok(isDatabaseUnavailable(refused), 'a write of its tenant is answered with 503')
    await write(other)
    await write(other)
    t.strictSame(await read(other), acknowledged.get(other), 'the other tenants are served')
    t.match(await verify(), [{ problem: RegExp(`${one.port}`) }], 'the start check names it')
    await one.start()
    await untilTrue(() =>
      write(moved).then(
        () => true,
        () => false,
      ),
    )
    t.strictSame(await read(moved), acknowledged.get(moved), 'and nothing is lost')
    t.strictSame(await verify(), [])
  })
})
