import t from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { takeTour } from '#test/support/browser/tour.ts'
import { pgbouncer } from '#test/support/database/pgbouncer.ts'
import { deliverOnce } from './deliveries.ts'
import { recordOnce } from './events.ts'
import { startInstances } from './instances.ts'
import { shareLimits } from './limits.ts'
import { changeRole, endSessions, removeMember } from './members.ts'
import { noRedis, startRedis } from './redis.ts'
import { signInAcross } from './sign-in.ts'

/*
 * Two web and two worker processes as in production, on one database, behind a load balancer that
 * sends consecutive requests of a browser to different processes.
 */

const browser = await launchBrowser()
t.teardown(() => browser.close())

const noPgbouncer = pgbouncer === null && 'no pgbouncer on this machine'

for (const pooled of [false, true]) {
  const name = `two web and two worker processes${pooled ? ' through PgBouncer' : ''}`
  t.test(name, { skip: pooled && noPgbouncer }, async (t) => {
    const redis = pooled || noRedis ? null : { port: await findFreePort() }
    const stopRedis = redis && (await startRedis(t, redis.port))
    const instances = await startInstances(t, {
      pooled,
      ...(redis && { REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
    })

    await t.test('the whole tour, with each request to another process', async (t) => {
      await takeTour(t, instances.place(browser))
      for (const origin of instances.origins) {
        t.ok((instances.balancer.given.get(origin) ?? 0) > 10, 'by both')
      }
    })
    await t.test('a sign-in starts in one process and ends in the other', (t) =>
      signInAcross(t, instances),
    )
    await t.test('a change of role takes effect with the next request', (t) =>
      changeRole(t, instances),
    )
    await t.test('a removed member has no access', (t) => removeMember(t, instances))
    await t.test('an ended session is ended in both processes', (t) => endSessions(t, instances))
    await t.test('an event sent to both processes is recorded once', (t) =>
      recordOnce(t, instances),
    )
    await t.test('deliveries and their replay', (t) => deliverOnce(t, instances))
    if (!pooled) {
      await t.test('limits with Redis, without it, with it again', { skip: noRedis }, async (t) => {
        if (stopRedis !== null) await shareLimits(t, instances, stopRedis)
      })
    }
    for (const { output } of instances.webs) {
      t.notMatch(output(), /"level":"fatal"|"status":500/)
    }
    for (const { output } of instances.workers) {
      t.notMatch(output(), /"level":"fatal"|LISTEN/, 'no LISTEN through a pooler')
    }
  })
}
