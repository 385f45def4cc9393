import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { type Answer, ask, type Instance, startInstance } from './instance.ts'
import { signedEvent } from './load.ts'

/*
 * One process through every trouble its database can have. It is never started again.
 */

const senders = 50
const eventsOfEach = 50
const floodBytes = 200_000
const mebibyte = 1_048_576
const boundMiB = 450 // less than what the flood brings
const ofInstance = `FROM pg_stat_activity WHERE datname = current_database()
  AND pid <> pg_backend_pid() AND application_name LIKE 'gatehouse%'`

t.test(
  'an unavailable database is a 503 with Retry-After within a limit, and the process recovers',
  async (t) => {
    const database = await createDatabase(t)
    const name = new URL(database.url).pathname.slice(1)
    const user = await createUser(database, { billingCustomer: 'cus_1' })
    const order = await createOrder(database, user)
    const { cookie } = await signIn({ config: testConfig(database), database }, user)
    const proxy = await startProxy(t, database.url)
    const urls = { url: proxy.through(database.url), workerUrl: proxy.through(database.workerUrl) }
    const instance = await startInstance(t, { ...database, ...urls })
    const everything = () =>
      Promise.all([
        ask(instance, { path: `/orders/${order}`, headers: { cookie } }),
        ask(instance, { path: '/me', headers: { cookie } }),
        ask(instance, { path: '/', headers: { cookie, accept: 'text/html' } }),
        ask(instance, signedEvent(`evt_${crypto.randomUUID()}`)),
      ])
    const well = async (name: string) => {
      await untilTrue(async () => (await everything()).every(({ status }) => status === 200))
      await untilTrue(async () => (await fetch(`${instance.admin}/readyz`)).ok)
      t.pass(`${name}: it recovers by itself`)
    }
    const refused = (t: Test, name: string, answers: Answer[]) => {
      const others = answers.filter(
        ({ status, headers }) => status !== 503 || !(Number(headers['retry-after']) >= 1),
      )
      t.strictSame(others, [], `${name}: all are refused with Retry-After`)
    }
    await well('at first')

    await t.test('no connection is left', async (t) => {
      await database.admin.query(`ALTER DATABASE ${name} CONNECTION LIMIT 0`)
      await database.admin.query(`SELECT pg_terminate_backend(pid) ${ofInstance}`)
      await until(database, `SELECT WHERE NOT EXISTS (SELECT ${ofInstance})`)
      refused(t, 'too many connections', await everything())
      t.equal((await fetch(`${instance.admin}/readyz`)).status, 503)
      await database.admin.query(`ALTER DATABASE ${name} CONNECTION LIMIT -1`)
    })
    await well('connections')

    await t.test('it is down', async (t) => {
      proxy.pause()
      refused(t, 'down', await everything())
      proxy.resume()
    })
    await well('down')

    await t.test('it is silent under a flood of events: the memory is bounded', async (t) => {
      proxy.silence()
      const note = 'x'.repeat(floodBytes)
      const answers: Answer[] = []
      const send = async (sender: number) => {
        for (let n = 0; n < eventsOfEach; n++) {
          answers.push(await ask(instance, signedEvent(`flood_${sender}_${n}`, note)))
        }
      }
      const asked = ask(instance, { path: `/orders/${order}`, headers: { cookie } })
      await Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)))
      refused(t, 'silent', [await asked, ...answers])
      const used = (await residentBytes(instance)) / mebibyte
      t.comment(`${answers.length} events of ${floodBytes} bytes, ${Math.round(used)} MiB resident`)
      t.ok(used < boundMiB, 'of memory')
      proxy.resume()
    })
    await well('silent')
    t.equal(instance.child.exitCode, null)
  },
)

async function residentBytes({ admin }: Instance): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}
