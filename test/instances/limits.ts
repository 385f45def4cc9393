import type { Test } from 'tap'
import type { Instances } from './instances.ts'
import { startRedis } from './redis.ts'

const limit = 30 // RATE_LIMIT_SIGN_IN, as it is by default

/**
 * One count for both while Redis is there, one for each while it is away, and one for both again.
 * @param stopRedis ends the Redis that the processes started with
 */
export async function shareLimits(
  t: Test,
  { ask, webs, env }: Instances,
  stopRedis: () => Promise<void>,
): Promise<void> {
  const saidBy = (words: string) => webs.map((web) => web.output().split(words).length - 1)
  const away = () => saidBy('Redis is away')

  t.same(await signIns('203.0.113.1', limit + 2), { 302: limit, 429: 2 }, 'one count')
  t.same(away(), [0, 0])

  await stopRedis()
  const alone = await signIns('203.0.113.2', 2 * limit + 4)
  t.same(alone, { 302: 2 * limit, 429: 4 }, 'every request is answered, each counts for itself')
  t.same(away(), [1, 1], 'said once by each')

  await startRedis(t, Number(new URL(String(env.REDIS_URL)).port))
  while (saidBy('counted in Redis again').includes(0)) {
    await Promise.all([ask(0, '/me'), ask(1, '/me')])
  }
  t.same(await signIns('203.0.113.3', limit + 2), { 302: limit, 429: 2 }, 'one count again')
  t.same(away(), [1, 1])

  /** Starts that many sign-ins from one address, in turn; resolves to how many got which answer. */
  async function signIns(address: string, times: number): Promise<Record<string, number>> {
    const answers: Record<string, number> = {}
    for (let index = 0; index < times; index += 1) {
      const headers = { 'x-forwarded-for': address }
      const web = index % 2 === 0 ? 0 : 1
      const { status } = await ask(web, '/auth/login?provider=demo', { headers })
      answers[status] = (answers[status] ?? 0) + 1
    }
    return answers
  }
}
