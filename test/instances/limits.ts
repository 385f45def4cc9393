import type { Test } from 'tap'
import { untilTrue } from '#test/support/database/until.ts'
import type { Instances } from './instances.ts'
import { startRedis } from './redis.ts'

const limit = 30 // RATE_LIMIT_SIGN_IN, as it is by default

/**
 * One shared count with Redis, one per process without it, and one shared count again.
 * @param stopRedis ends the Redis that the processes started with
 */
export async function shareLimits(
  t: Test,
  { ask, webs, env }: Instances,
  stopRedis: () => Promise<void>,
): Promise<void> {
  const saidBy = (words: string) => webs.map((web) => web.output().split(words).length - 1)
  const away = () => saidBy('Redis is unavailable')
  let addresses = 0

  t.same(await withRedis(() => signIns(limit + 2)), { 302: limit, 429: 2 }, 'one count')

  const before = away()
  await stopRedis()
  const alone = await signIns(2 * limit + 4)
  t.same(
    alone,
    { 302: 2 * limit, 429: 4 },
    'every request is answered, and each process counts for itself',
  )
  t.same(
    away(),
    before.map((times) => times + 1),
    'logged once by each',
  )

  const returns = saidBy('counted in Redis again')
  await startRedis(t, Number(new URL(String(env.REDIS_URL)).port))
  await untilTrue(async () => {
    await Promise.all([ask(0, '/me'), ask(1, '/me')])
    return saidBy('counted in Redis again').every((times, web) => times !== returns[web])
  })
  t.same(await withRedis(() => signIns(limit + 2)), { 302: limit, 429: 2 }, 'one count again')

  /** Repeats the check if Redis timed out meanwhile on a busy machine. */
  async function withRedis<T>(work: () => Promise<T>): Promise<T> {
    const before = String(away())
    const result = await work()
    return String(away()) === before ? result : withRedis(work)
  }

  /** Starts that many sign-ins from a new address, one after another; resolves to the count of each status. */
  async function signIns(times: number): Promise<Record<string, number>> {
    addresses += 1
    const headers = { 'x-forwarded-for': `203.0.113.${addresses}` }
    const answers: Record<string, number> = {}
    for (let index = 0; index < times; index += 1) {
      const web = index % 2 === 0 ? 0 : 1
      const { status } = await ask(web, '/auth/login?provider=demo', { headers })
      answers[status] = (answers[status] ?? 0) + 1
    }
    return answers
  }
}
