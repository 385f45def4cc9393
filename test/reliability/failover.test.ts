import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { settle } from '#test/billing/crash-rounds.ts'
import { checkHistory } from '#test/billing/history.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { hostile } from '#test/support/database/hostile-settings.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { ask, askPatiently, type Instance, startInstance } from './instance.ts'
import { signedEvent } from './load.ts'
import { startPair } from './standby.ts'

const senders = 8
const eventsOfEach = Math.ceil(Number(process.env.FAILOVER_EVENTS ?? 480) / senders)

t.test('failover to a synchronous standby under load: nothing acknowledged is lost', (t) =>
  failOver(t, {}),
)

t.test('the same on servers whose settings differ from the defaults', (t) => failOver(t, hostile))

async function failOver(t: Test, settings: Readonly<Record<string, string>>): Promise<void> {
  const database = await startPair(t, settings)
  const user = await createUser(database, { billingCustomer: 'cus_1' })
  const order = await createOrder(database, user)
  const { cookie } = await signIn({ config: testConfig(database), database }, user)
  const instance = await startInstance(t, database)
  const history = { acknowledged: new Set<string>(), sent: new Set<string>() }
  const statuses = new Set<number>()
  const half = Promise.withResolvers<void>()

  /** Like a provider, sends each event until it is acknowledged. */
  async function send(sender: number): Promise<void> {
    for (let n = 0; n < eventsOfEach; n++) {
      const id = `evt_${sender}_${n}`
      history.sent.add(id)
      await untilTrue(async () => {
        const { status } = await ask(instance, signedEvent(id))
        statuses.add(status)
        return status === 200
      })
      history.acknowledged.add(id)
      if (history.acknowledged.size > (senders * eventsOfEach) / 2) half.resolve()
    }
  }

  const sending = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)))
  await half.promise
  await database.failOver()
  await sending
  t.equal(
    history.acknowledged.size,
    senders * eventsOfEach,
    'every event is acknowledged in the end',
  )
  t.strictSame(
    [...statuses].sort(),
    [200, 503],
    'refused during the failover, without a hang or a failure',
  )
  await untilReady(instance)
  const answer = await askPatiently(instance, { path: `/orders/${order}`, headers: { cookie } })
  t.equal(answer.status, 200)
  await settle(database)
  t.strictSame(await checkHistory(database.admin, history), [])
  t.equal(instance.child.exitCode, null, 'the process has not restarted')
  instance.child.kill('SIGTERM')
  t.equal(await instance.ended, 0)
}

async function untilReady({ admin }: Instance): Promise<void> {
  await untilTrue(async () => (await fetch(`${admin}/readyz`)).ok)
}
