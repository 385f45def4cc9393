import t from 'tap'
import { openDatabase } from '#src/db/database.ts'
import { openIdentityPlane } from '#src/db/identity-plane.ts'
import { createDatabase, createUser } from '#test/helper.ts'
import { startProxy } from './proxy.ts'

t.test('a scoped read waits for one round trip, its opening included', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  const proxy = await startProxy(t, database.url)
  const db = openDatabase(proxy.through(database.url), 1)
  t.teardown(() => db.close())
  const read = () =>
    db.read({ tenantId }, async (tx) => {
      await tx.invoice.findFirst({ where: { tenantId } })
      return proxy.roundTrips()
    })
  const first = await read()
  // The COMMIT of a read is sent and not waited for: it is the second trip of each one before.
  const seen = [await read(), await read(), await read(), await read()]
  t.strictSame(
    seen.map((trips) => trips - first),
    [2, 4, 6, 8],
  )
  t.ok(proxy.roundTrips() - first <= 9)
  proxy.cutAt('COMMIT')
  t.equal(typeof (await read()), 'number', 'the answer does not depend on that of the COMMIT')
})

t.test('a scoped write of one statement waits for two: the statement, the COMMIT', async (t) => {
  const database = await createDatabase(t)
  const { userId, tenantId } = await createUser(database)
  const proxy = await startProxy(t, database.url)
  const db = openDatabase(proxy.through(database.url), 1)
  t.teardown(() => db.close())
  const write = () =>
    db.write({ tenantId }, (tx) =>
      tx.post.createMany({ data: { tenantId, authorId: userId, title: 'x', body: 'x' } }),
    )
  await write()
  proxy.reset()
  await write()
  t.equal(proxy.roundTrips(), 2)
})

t.test('a transaction of the identity plane does not wait for its BEGIN', async (t) => {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const plane = openIdentityPlane(proxy.through(database.url), 1)
  t.teardown(() => plane.close())
  const work = () =>
    plane.transaction({ statementTimeoutMs: 400 }, (tx) => tx.query({ text: 'SELECT 1' }))
  await work()
  proxy.reset()
  await work()
  t.equal(proxy.roundTrips(), 2)
})
