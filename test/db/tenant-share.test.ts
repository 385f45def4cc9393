import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { createTenantShares, shareOf, TenantBusy } from '#src/db/connections/tenant-share.ts'
import { withoutScope } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createLogger } from '#src/observability/logger.ts'
import { build } from '#test/support/app/app.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { rowsOf } from '#test/support/database/rows-of.ts'

t.test('a share leaves connections to others, whatever the size of the pool', async (t) => {
  for (const size of [2, 3, 4, 10, 500]) {
    const { places } = shareOf(size, 800)
    t.ok(places >= 1 && places < size, `${places} of ${size}`)
  }
})

t.test('work beyond the share waits in order, and beyond the queue is refused', async (t) => {
  const within = createTenantShares({ places: 1, waiting: 2, waitMs: 60_000 })
  const [first, done] = [Promise.withResolvers<void>(), [] as string[]]
  const work = (name: string, until?: Promise<void>) =>
    within('tenant', async () => {
      await until
      done.push(name)
    })
  const running = [work('first', first.promise), work('second'), work('third')]
  const full =
    'All connections to the database for requests of your tenant are in use (1), and 2 requests are waiting for one.'
  await t.rejects(work('fourth'), new TenantBusy(full))
  await within('other', async () => void done.push('of another tenant'))
  await within(undefined, async () => void done.push('of none'))
  first.resolve()
  await Promise.all(running)
  await work('fifth')
  t.strictSame(done, ['of another tenant', 'of none', 'first', 'second', 'third', 'fifth'])
})

t.test('work that waits too long is refused, and failed work leaves its place', async (t) => {
  const within = createTenantShares({ places: 1, waiting: 2, waitMs: 1 })
  const first = Promise.withResolvers<void>()
  const running = within('tenant', () => first.promise)
  await t.rejects(
    within('tenant', async () => t.fail('it has begun')),
    {
      name: 'TenantBusy',
      message: /of your tenant are in use \(1\), and none became free within 0.001 s/,
    },
  )
  first.reject(new Error('it has failed'))
  await t.rejects(running, /it has failed/)
  t.equal(await within('tenant', async () => 'begun'), 'begun')
})

t.test('a tenant whose requests wait for a lock takes no connection of another', async (t) => {
  const test = await build(t, { DATABASE_POOL_SIZE: '4' })
  const { admin } = test.database
  const [locked, other] = [
    await createUser(test.database, { role: 'admin' }),
    await createUser(test.database, { role: 'admin' }),
  ]
  const member = await createUser(test.database, { tenantId: locked.tenantId })
  const order = await createOrder(test.database, other)
  const send = as(test, await signIn(test, locked))
  const sendAsOther = as(test, await signIn(test, other))
  // As a removal that takes long would.
  const removal = await admin.connect()
  t.teardown(() => removal.release())
  await removal.query('BEGIN')
  await removal.query(`SELECT FROM memberships WHERE tenant_id = '${locked.tenantId}' FOR UPDATE`)

  let waits = true
  const writes = Array.from({ length: 80 }, () => send('POST', '/posts', { title: 'a', body: 'b' }))
  const writing = Promise.all(writes).finally(() => {
    waits = false
  })
  const statuses: number[] = []
  let rounds = 0
  while (waits) {
    rounds += 1
    const answers = await Promise.all([
      sendAsOther('GET', '/posts'),
      sendAsOther('GET', `/orders/${order}`),
      sendAsOther('POST', '/posts', { title: 'a', body: 'b' }),
      sendAsOther('PATCH', `/users/${other.userId}`, { department: 'sales' }),
    ])
    statuses.push(...answers.map(({ statusCode }) => statusCode))
  }
  t.ok(rounds > 1, `${rounds} rounds of requests of the other tenant`)
  t.strictSame([...new Set(statuses)].toSorted(), [200, 201], 'none is refused')
  const refused = await writing
  t.strictSame([...new Set(refused.map(({ statusCode }) => statusCode))].toSorted(), [429, 503])
  for (const answer of refused) {
    t.equal(answer.headers['retry-after'], '1', `${answer.statusCode} says when to try again`)
    if (answer.statusCode !== 429) continue
    const problem = answer.json()
    t.match(
      problem.detail,
      /^All connections .* of your tenant are in use \(2\)/,
      'and which limit',
    )
    t.equal(problem.type, '/docs/errors/too-many-requests', 'and where it is documented')
  }
  await removal.query('ROLLBACK')
  t.equal((await send('PATCH', `/users/${member.userId}`, { role: 'editor' })).statusCode, 200)
})

t.test('a burst of one tenant waits for its share, and none of it is refused', async (t) => {
  const test = await build(t, { DATABASE_POOL_SIZE: '4' })
  const user = await createUser(test.database, { role: 'admin' })
  const send = as(test, await signIn(test, user))
  const key = () => ({ 'idempotency-key': crypto.randomUUID() }) // a whole transaction each
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => send('POST', '/posts', { title: 'a', body: 'b' }, key())),
  )
  t.strictSame([...new Set(answers.map(({ statusCode }) => statusCode))], [201])
})

t.test('a request waits for a lock for 300 ms', async (t) => {
  const database = await createDatabase(t)
  const config = testConfig(database)
  const usual = { ...config, database: { ...config.database, limits: {} } }
  const app = await buildApp(usual, createLogger('silent'))
  t.teardown(() => app.close())
  const { db } = app
  const show = rowsOf<{ lock_timeout: string }>(Prisma.sql`SHOW lock_timeout`)
  t.strictSame(await db.read(withoutScope, show), [{ lock_timeout: '300ms' }])
  t.strictSame(await db.write(withoutScope, show), [{ lock_timeout: '300ms' }])
  t.strictSame(await app.systemDb.sql`SHOW lock_timeout`, [{ lock_timeout: '300ms' }])
})
