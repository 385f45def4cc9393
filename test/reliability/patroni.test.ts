import pg from 'pg'
import t from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { logins, urlsOf } from '#dev/testing/logins.ts'
import { createUser } from '#dev/testing/people.ts'
import { migrate } from '#src/schema/migrate.ts'
import { settle } from '#test/billing/crash-rounds.ts'
import { checkHistory } from '#test/billing/history.ts'
import { unaccounted } from '#test/support/database/ledger.ts'
import { startInstance } from './instance.ts'
import { noPatroni, startPatroni } from './patroni.ts'
import { createSender, unexpected } from './senders.ts'

const rounds = Number(process.env.PATRONI_ROUNDS ?? 1)
const eventsBetween = 10
const name = 'highly_available'

t.test(
  'every part of a Patroni cluster is killed in turn under load',
  {
    skip: noPatroni,
  },
  async (t) => {
    const cluster = await startPatroni(t)
    const urls = urlsOf(cluster.url('postgres'), name)
    await createOwnerAndDatabase(cluster.url('postgres'), logins.owner, name)
    await migrate(urls)
    const admin = new pg.Pool({ connectionString: urls.superuserUrl, max: 2 })
    admin.on('error', () => {}) // its server is killed
    t.teardown(() => admin.end())
    const database = { ...urls, admin }
    await createUser(database, { billingCustomer: 'cus_1' })
    const instances = [await startInstance(t, database), await startInstance(t, database)]
    const senders = instances.map((instance) => createSender(instance))
    const all = (count: number) => Promise.all(senders.map((sender) => sender.all(count)))

    const faults: [string, () => Promise<void>][] = [
      ['HAProxy', () => cluster.haproxy.restart()],
      ['etcd', () => cluster.etcd.restart()],
      ['PostgreSQL of the primary', async () => (await cluster.primary()).killPostgres()],
      [
        'the machine of the primary',
        async () => {
          const old = await cluster.primary()
          await old.patroni.kill()
          await old.killPostgres()
          await all(1) // by the standby, once it is promoted
          old.patroni.start()
          t.not((await cluster.primary()).name, old.name, 'the standby is the primary now')
        },
      ],
    ]
    await all(eventsBetween)
    for (let round = 0; round < rounds; round++) {
      for (const [part, fault] of faults) {
        const sending = all(eventsBetween)
        const begun = performance.now()
        await fault()
        await sending
        await all(1)
        t.comment(
          `${part}: recorded again after ${Math.round(performance.now() - begun)} ms at most`,
        )
        await cluster.primary()
      }
    }

    await settle(database)
    const [one, other] = senders.map((sender) => sender.history)
    const none = new Set<string>()
    const history = {
      acknowledged: (one?.acknowledged ?? none).union(other?.acknowledged ?? none),
      sent: (one?.sent ?? none).union(other?.sent ?? none),
    }
    const answers = senders.flatMap((sender) => sender.answers)
    t.comment(`${history.acknowledged.size} events, ${answers.length} answers`)
    t.strictSame(unexpected(answers), [], 'every refusal has Retry-After')
    t.strictSame(await checkHistory(admin, history), [])
    t.strictSame(await unaccounted(database), [])
    for (const { child } of instances) t.equal(child.exitCode, null, 'no process has restarted')
  },
)
