import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import errors from '#plugins/http/errors.ts'
import rateLimit, { rateLimitStore as limitStore } from '#plugins/limits/rate-limit.ts'
import { createBreaker, createLocalCounts } from '#src/http/rate-limit-store.ts'
import { createLogger } from '#src/observability/logger.ts'
import { noRedis, startRedis } from '#test/instances/redis.ts'
import { repeatWhenAsked } from '#test/support/app/repeat-when-asked.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { startHangingRedis } from '#test/support/processes/hanging-redis.ts'

async function startInstance(t: Test, redisUrl: string) {
  const log: string[] = []
  const app = Fastify({
    loggerInstance: createLogger('info', { write: (line) => void log.push(line) }),
    disableRequestLogging: true,
  })
  t.teardown(() => app.close())
  await app.register(errors)
  await app.register(limitStore, { redisUrl })
  await app.register(async function limited(app) {
    await app.register(rateLimit, { name: 'api', limit: { max: 3, seconds: 60 }, by: 'address' })
    app.get('/', async () => 'done')
  })
  await app.register(async function otherwise(app) {
    await app.register(rateLimit, {
      name: 'sign-in',
      limit: { max: 3, seconds: 60 },
      by: 'address',
    })
    app.get('/other', async () => 'done')
  })
  await app.ready()
  const ask = async (url = '/') => (await app.inject({ url })).statusCode
  return { ask, said: (text: string) => log.filter((line) => line.includes(text)).length }
}

t.test('two instances share one count per limit', { skip: noRedis }, async (t) => {
  const port = await findFreePort()
  await startRedis(t, port)
  const url = `redis://127.0.0.1:${port}`
  const [one, two] = [await startInstance(t, url), await startInstance(t, url)]
  const answers = [await one.ask(), await two.ask(), await one.ask(), await two.ask()]
  t.same(answers, [200, 200, 200, 429])
  t.equal(await one.ask('/other'), 200, 'another limit has its own count')
  t.equal(one.said('Redis is unavailable'), 0)
})

t.test(
  'an outage of Redis: counts per process, then shared again',
  { skip: noRedis },
  async (t) => {
    const port = await findFreePort()
    const stopRedis = await startRedis(t, port)
    const instance = await startInstance(t, `redis://127.0.0.1:${port}`)
    t.equal(await instance.ask(), 200)

    await stopRedis()
    const alone = [await instance.ask(), await instance.ask(), await instance.ask()]
    t.same(alone, [200, 200, 200], 'counted by itself, from the start')
    t.equal(await instance.ask(), 429, 'and still limited')
    t.equal(instance.said('Redis is unavailable'), 1, 'logged once')

    await startRedis(t, port)
    await untilTrue(async () => {
      await instance.ask('/other')
      return instance.said('counted in Redis again') > 0
    })
    t.equal(await instance.ask(), 200, 'the counts in Redis are used again')
    t.equal(instance.said('Redis is unavailable'), 1)
  },
)

t.test('a Redis that hangs is waited for by one request, not by each', async (t) => {
  const redis = await startHangingRedis(t)
  const instance = await startInstance(t, redis.url)
  t.equal(await instance.ask(), 200)
  t.equal(redis.counts(), 1)

  redis.hang()
  for (let n = 0; n < 20; n++) await instance.ask()
  t.equal(redis.counts(), 2, 'only the first request was sent to it')
  t.equal(instance.said('Redis is unavailable'), 1)
  t.equal(await instance.ask(), 429, 'the process counts by itself')

  redis.respond()
  await untilTrue(() => instance.said('counted in Redis again') > 0)
  t.equal(await instance.ask(), 200, 'the counts in Redis are used again')
  t.equal(redis.counts(), 3)
})

t.test('while the breaker is open only probes reach the shared counts', async (t) => {
  let [counted, probed, responds] = [0, 0, false]
  const { repeat, again: probe } = repeatWhenAsked()
  const changes: boolean[] = []
  const breaker = createBreaker({
    shared: {
      async count() {
        counted += 1
        if (!responds) throw new Error('no reply')
        return { current: 7, ttl: 1 }
      },
      async ping() {
        probed += 1
        if (!responds) throw new Error('no reply')
      },
    },
    local: createLocalCounts(),
    onChange: (isShared) => changes.push(isShared),
    repeat,
  })
  const both = await Promise.all([breaker.count('a', 60_000), breaker.count('a', 60_000)])
  t.same(
    both.map(({ current }) => current),
    [1, 2],
    'counted in the process',
  )
  t.equal((await breaker.count('a', 60_000)).current, 3)
  t.equal(counted, 2, 'those that were under way when it opened')
  await probe()
  t.equal((await breaker.count('a', 60_000)).current, 4)
  responds = true
  await probe()
  t.equal((await breaker.count('a', 60_000)).current, 7, 'shared again')
  t.match({ counted, probed, changes }, { counted: 3, probed: 2, changes: [false, true] })
})

t.test('without Redis the limit still applies, and no request waits or fails', async (t) => {
  const instance = await startInstance(t, `redis://127.0.0.1:${await findFreePort()}`)
  const answers = [await instance.ask(), await instance.ask(), await instance.ask()]
  t.same([...answers, await instance.ask()], [200, 200, 200, 429])
  t.equal(instance.said('Redis is unavailable'), 1)
})

t.test(
  'when the local counts are full, the oldest window is dropped, not everyone’s',
  async (t) => {
    const count = createLocalCounts(3)
    count('ended', 0)
    for (const key of ['a', 'b', 'ended', 'b']) count(key, 60_000)
    t.equal(count('c', 60_000).current, 1, 'takes the place of a')
    t.equal(count('b', 60_000).current, 3)
    t.equal(count('ended', 60_000).current, 2, 'its window began after that of b')
    t.equal(count('a', 60_000).current, 1, 'takes the place of b')
    t.equal(count('ended', 60_000).current, 3)
  },
)

t.test('a local window ends; every key has its own', async (t) => {
  const count = createLocalCounts()
  t.match(count('a', 60_000), { current: 1, ttl: 60_000 })
  t.equal(count('a', 60_000).current, 2)
  t.equal(count('b', 60_000).current, 1)
  t.equal(count('c', 0).current, 1)
  t.equal(count('c', 0).current, 1, 'a window of no length has always ended')
})
