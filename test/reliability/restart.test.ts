import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { settle } from '#test/billing/crash-rounds.ts'
import { checkHistory } from '#test/billing/history.ts'
import { unaccounted } from '#test/support/database/ledger.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { allowing, createOutbox, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { checkDeliveries } from '#test/webhooks/delivery/delivery-history.ts'
import { startInstance } from './instance.ts'
import { startOwnServer } from './own-server.ts'
import { createSender, unexpected } from './senders.ts'

const published = 8
const lapsing = '4.8 seconds' // just before the jobs of a dead worker are taken over

for (const mode of ['fast', 'immediate'] as const) {
  t.test(
    `a ${mode} restart of PostgreSQL while jobs of a dead worker are taken over`,
    async (t) => {
      const database = await startOwnServer(t)
      const outbox = await createOutbox(t, undefined, database)
      await createUser(database, { billingCustomer: 'cus_1' })
      const receiver = await openReceiver(t, () => {}) // never answers the worker that dies
      await createEndpoint(database, outbox.tenant, { url: receiver.url })
      const settings = { OUTBOUND_RETRY_SECONDS: '0,0,0,0,0', ...allowing(receiver) }
      const ids = new Set<string>()
      for (let n = 0; n < published; n++) ids.add(await outbox.publish())
      await database.admin.query('DROP FUNCTION enter_test') // serve refuses to start with it
      const lost = await startInstance(t, database, settings)
      await receiver.next()
      const survivor = await startInstance(t, database, settings)
      const sender = createSender(survivor)
      await sender.all(5)
      lost.child.kill('SIGKILL')
      await lost.ended
      receiver.respond((_request, response) => response.writeHead(204).end())

      // On a busy machine the takeover may be over then: that is a restart after it.
      await until(
        database,
        `SELECT WHERE NOT EXISTS (
           SELECT FROM pgboss.job WHERE name = 'endpoint-turn' AND state = 'active'
             AND retry_count = 0 AND heartbeat_on >= now() - interval '${lapsing}')`,
      )
      const sending = sender.all(30)
      await database.stop(mode)
      await sender.once('evt_while_it_is_down')
      await database.start()
      await sending
      await untilTrue(() => sender.once('evt_while_it_is_down'))
      await settle(database)
      await until(
        database,
        `SELECT FROM deliveries HAVING count(*) = ${published} AND every(status = 'succeeded')`,
      )

      t.strictSame(unexpected(sender.answers), [], 'every refusal has Retry-After')
      t.ok(sender.answers.some(({ status }) => status === 503))
      t.strictSame(await checkHistory(database.admin, sender.history), [])
      // The tenant of the billing customer has no endpoint; the ledger knows that.
      const faults = await checkDeliveries(database.admin)
      t.strictSame(
        faults.filter((fault) => !fault.startsWith('without a delivery')),
        [],
      )
      t.strictSame(await unaccounted(database), [])
      const arrived = receiver.requests.map(({ headers }) => String(headers['webhook-id']))
      for (const id of ids) t.ok(arrived.includes(id), 'each event arrived, under its own id')
      t.equal(survivor.child.exitCode, null, 'the process has not restarted')
    },
  )
}
