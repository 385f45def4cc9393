import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { settle } from '#test/billing/crash-rounds.ts'
import { checkHistory } from '#test/billing/history.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { unaccounted } from '#test/support/database/ledger.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { testInNamespaces } from '#test/support/processes/namespaces.ts'
import { buildNetwork } from './cut-network.ts'
import { type Answer, ask, askPatiently, startInstance } from './instance.ts'
import { startOwnServer } from './own-server.ts'
import { createSender, unexpected } from './senders.ts'

const senders = 4
const eventsOfEach = 15

testInNamespaces(t, import.meta.filename, ['--net'], ['ip', 'nsenter', 'sleep'], () => {
  t.test('packets between a process and the database are lost without an error', async (t) => {
    const network = await buildNetwork(t)
    const database = await startOwnServer(t)
    const user = await createUser(database, { billingCustomer: 'cus_1' })
    const order = await createOrder(database, user)
    const { cookie } = await signIn({ config: testConfig(database), database }, user)
    // PostgreSQL itself listens on loopback, so the cut is between the process and this hop.
    const hop = await startProxy(t, database.url, network.databaseHost)
    const far = { url: hop.through(database.url), workerUrl: hop.through(database.workerUrl) }
    const hosts = { HOST: network.host, ADMIN_HOST: network.host }
    const cutOff = await startInstance(t, { ...database, ...far }, hosts, { before: network.there })
    const connected = await startInstance(t, database)
    const read = { path: `/orders/${order}`, headers: { cookie } }
    const sender = createSender(cutOff)
    const refusals = () => sender.answers.filter(({ status }) => status === 503)

    const sending = Promise.all(Array.from({ length: senders }, () => sender.all(eventsOfEach)))
    await untilTrue(() => sender.answers.length > senders * 2)
    await network.cut()
    const before = refusals().length
    const answers: Answer[] = [await ask(cutOff, read), await ask(cutOff, { ...read, path: '/' })]
    await untilTrue(() => refusals().length >= before + senders)
    t.strictSame(
      answers.map(({ status, headers }) => [status, Number(headers['retry-after']) >= 1]),
      answers.map(() => [503, true]),
      'reads are refused with Retry-After',
    )
    t.equal((await fetch(`${cutOff.admin}/readyz`)).status, 503)
    const other = await askPatiently(connected, read)
    t.match(other, { status: 200, body: /4242/ }, 'the other process serves')

    await network.heal()
    const healed = performance.now()
    await untilTrue(() => sender.once('evt_after_the_cut'))
    t.comment(`an event is recorded ${Math.round(performance.now() - healed)} ms after the cut`)
    await sending
    await untilTrue(async () => (await fetch(`${cutOff.admin}/readyz`)).ok)
    t.match(await askPatiently(cutOff, read), { status: 200, body: /4242/ })
    await settle(database)

    t.comment(`${refusals().length} refused events, longest answer ${sender.longestMs()} ms`)
    t.strictSame(unexpected(sender.answers), [], 'every refusal has Retry-After')
    t.strictSame(await checkHistory(database.admin, sender.history), [])
    t.strictSame(await unaccounted(database), [])
    t.equal(cutOff.child.exitCode, null, 'the process has not restarted')
  })
})
