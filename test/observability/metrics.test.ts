import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { openDatabase } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { measureQueues } from '#src/queue/backlog.ts'
import { build } from '#test/support/app/app.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'
import { createOutbox } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const series = (text: string) => text.split('\n').filter((line) => /^[a-z]/.test(line))

t.test('a thousand unknown paths, providers and methods create no new series', async (t) => {
  const { app } = await build(t)
  const probe = async (n: number) => {
    const urls = [
      `/unknown/${n}`,
      `/orders/${n}?x=${n}`,
      `/auth/login?provider=p${n}`,
      `/auth/callback?state=${n}&code=${n}`,
      `/auth/callback?iss=https://${n}.example`,
      `/%E0%${n}`,
    ]
    await Promise.all(urls.map((url) => app.inject({ url })))
    await app.inject({ method: 'POST', url: `/auth/backchannel-logout/p${n}`, payload: `${n}` })
    await app.inject({ method: 'PROPFIND' as 'GET', url: `/unknown/${n}` })
    await app.inject({ method: 'MKCOL' as 'GET', url: `/unknown/${n}` })
  }
  await probe(0)
  const before = series(await app.metrics.registry.metrics()).length
  for (let n = 1; n <= 112; n++) await probe(n)
  const text = await app.metrics.registry.metrics()
  t.equal(series(text).length, before)
  t.match(text, /request_duration_seconds_count\{method="GET",route="unknown",status="404"\} 113/)
  t.match(text, /request_duration_seconds_count\{method="other",route="unknown",status="404"\} 226/)
  t.match(text, /provider="unknown",purpose="unknown",outcome="refused",reason="bad-state"\} 226/)
  t.notMatch(text, /\/unknown\/|"p1"|1\.example/)
})

t.test('due jobs and scheduled jobs are counted separately, in every queue', async (t) => {
  const { database, tenant, publish } = await createOutbox(t)
  await createEndpoint(database, tenant, { url: 'https://receiver.example' })
  for (let n = 0; n < 3; n++) await publish()
  await database.admin.query(
    `UPDATE due_attempts SET due_at = now() + interval '5 minutes'
     WHERE delivery_id = (SELECT delivery_id FROM due_attempts LIMIT 1)`,
  )
  const queue = await startQueue(t, database, 'web')
  await queue.send('billing-event-dead', { eventId: 'evt_1' })
  await database.admin.query(
    `UPDATE pgboss.job SET start_after = now() - interval '1 hour' WHERE name = 'billing-event-dead'`,
  )
  for (const url of [database.url, database.workerUrl]) {
    const systemDb = openSystemDatabase(url, 1)
    t.teardown(() => systemDb.close())
    const { queues, registry } = createMetrics()
    await measureQueues(systemDb, queues)
    const text = await registry.metrics()
    for (const line of [
      'gatehouse_queue_due_jobs{queue="deliver"} 2',
      'gatehouse_queue_scheduled_jobs{queue="deliver"} 1',
      'gatehouse_queue_due_jobs{queue="endpoint-turn"} 1',
      'gatehouse_queue_due_jobs{queue="billing-event-dead"} 1',
      'gatehouse_queue_due_jobs{queue="billing-event"} 0',
      'gatehouse_queue_oldest_due_age_seconds{queue="billing-event"} 0',
    ]) {
      t.ok(text.includes(`${line}\n`), line)
    }
    t.match(text, /oldest_due_age_seconds\{queue="billing-event-dead"\} 360\d/)
  }
})

t.test('waiting requests for a connection and failed ones are counted', async (t) => {
  const database = await createDatabase(t)
  const user = (await allowScopes(database))(await createUser(database))
  const { pools, registry } = createMetrics()
  const db = openDatabase(database.url, 1, {
    watch: { reads: pools.watch('reads'), transactions: pools.watch('scoped') },
  })
  const away = openSystemDatabase('postgres://nobody@127.0.0.1:9/none', 1, {
    watch: pools.watch('away'),
  })
  t.teardown(() => Promise.all([db.close(), away.close()]))
  const statement = Prisma.sql`SELECT 1 AS one`
  const entered = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const first = db.read(user, async (tx) => {
    await tx.sql(statement)
    entered.resolve()
    await left.promise
  })
  await entered.promise
  const second = db.read(user, (tx) => tx.sql(statement))
  await setImmediate()
  const busy = await registry.metrics()
  t.match(busy, 'gatehouse_database_pool_waiting{pool="scoped"} 1\n')
  t.match(busy, 'gatehouse_database_pool_connections{pool="scoped"} 1\n')
  t.match(busy, 'gatehouse_database_pool_idle_connections{pool="scoped"} 0\n')
  t.match(busy, 'gatehouse_database_pool_max_connections{pool="scoped"} 1\n')
  left.resolve()
  await Promise.all([first, second])
  await t.rejects(away.sql`SELECT 1`)
  const text = await registry.metrics()
  t.match(text, 'gatehouse_database_pool_acquire_seconds_count{pool="scoped"} 2\n')
  t.match(text, 'gatehouse_database_pool_acquire_failures_total{pool="scoped"} 0\n')
  t.match(text, 'gatehouse_database_pool_acquire_failures_total{pool="away"} 1\n')
})
