import t from 'tap'
import { startReceiver } from '#dev/testing/receiver.ts'
import { createAddressLimit } from '#src/webhooks/client/address-limit.ts'
import { createSender } from '#src/webhooks/client/client.ts'

const busy = { name: 'PostponedError', reason: 'address-busy' }

t.test('attempts at one address are limited, whatever the name', async (t) => {
  const limit = createAddressLimit(2)
  const gate = Promise.withResolvers<void>()
  const running = [
    limit(['8.8.8.8'], null, () => gate.promise),
    limit(['1.1.1.1', '8.8.8.8'], null, () => gate.promise),
  ]
  await t.rejects(
    limit(['8.8.8.8'], null, async () => t.fail('it ran')),
    busy,
  )
  await t.rejects(
    limit(['9.9.9.9', '8.8.8.8'], null, async () => t.fail('it ran')),
    busy,
    'one is enough',
  )
  t.equal(
    await limit(['9.9.9.9', '1.1.1.1'], null, async () => 'other addresses'),
    'other addresses',
  )
  gate.resolve()
  await Promise.all(running)
  t.equal(await limit(['8.8.8.8'], null, async () => 'again'), 'again')
})

t.test('a failed attempt makes room too', async (t) => {
  const limit = createAddressLimit(1)
  await t.rejects(
    limit(['8.8.8.8'], null, async () => Promise.reject(new Error('no answer'))),
    { message: 'no answer' },
  )
  t.equal(await limit(['8.8.8.8'], null, async () => 'again'), 'again')
})

t.test('an IPv6 address counts for its /64 prefix', async (t) => {
  const limit = createAddressLimit(1)
  const gate = Promise.withResolvers<void>()
  const running = limit(['2a00:1450:4001:81b::200e'], null, () => gate.promise)
  const same = ['2a00:1450:4001:81b:1:2:3:4', '2a00:1450:4001:81b::']
  for (const address of same)
    await t.rejects(
      limit([address], null, async () => {}),
      busy,
      address,
    )
  for (const address of ['2a00:1450:4001:81c::200e', '2a00:1450::81b:0:0:200e', '2a00::1']) {
    t.equal(await limit([address], null, async () => 'free'), 'free', address)
  }
  gate.resolve()
  await running
})

t.test('a tenant leaves room at an address for others', async (t) => {
  const limit = createAddressLimit(100)
  const gate = Promise.withResolvers<void>()
  const running: Promise<unknown>[] = []
  /** How many attempts a tenant can begin. */
  const begin = (tenantId: string | null, addresses = ['8.8.8.8']) => {
    for (let count = 0; ; count += 1) {
      let isRefused = true
      const attempt = limit(addresses, tenantId, () => {
        isRefused = false
        return gate.promise
      })
      if (isRefused) {
        running.push(t.rejects(attempt, busy))
        return count
      }
      running.push(attempt)
    }
  }
  t.equal(begin('greedy'), 50, 'half')
  t.equal(begin('greedy', ['8.8.8.8', '9.9.9.9']), 0, 'one full address is enough')
  t.equal(begin('other'), 25)
  t.equal(begin('third'), 13)
  t.equal(begin('greedy'), 0)
  t.equal(begin('greedy', ['9.9.9.9']), 50, 'each address has its own shares')
  t.equal(begin(null), 12, 'the operator gets all that is free')
  t.equal(begin('late'), 0)
  gate.resolve()
  await Promise.all(running)
  t.equal(await limit(['8.8.8.8'], 'late', async () => 'free again'), 'free again')
})

t.test('names of many tenants for one address share its limit', async (t) => {
  const receiver = await startReceiver(() => {}) // hangs
  const allow = [`127.0.0.1:${receiver.port}`, `localhost:${receiver.port}`]
  const sender = createSender({ allow, timeoutMs: 20_000, perAddress: 3 })
  t.teardown(() => sender.close())
  const send = (path: string) =>
    sender.send({ tenantId: null, url: `${receiver.url}/${path}`, headers: {}, body: '{}' })
  const running = [send('one'), send('two'), send('three')]
  for (const _ of running) await receiver.next()
  await t.rejects(send('four'), busy)
  const byName = `http://localhost:${receiver.port}/`
  await t.rejects(sender.send({ tenantId: null, url: byName, headers: {}, body: '{}' }), busy)
  t.equal(receiver.requests.length, 3)
  await receiver.close()
  for (const { error } of await Promise.all(running)) t.ok(error)
})

t.test('a tenant whose receivers hang leaves the others a share of their address', async (t) => {
  const receiver = await startReceiver(() => {}) // hangs
  const allow = [`127.0.0.1:${receiver.port}`]
  const sender = createSender({ allow, timeoutMs: 20_000, perAddress: 8 })
  t.teardown(() => sender.close())
  const send = (tenantId: string, path: string) =>
    sender.send({ tenantId, url: `${receiver.url}/${path}`, headers: {}, body: '{}' })
  const postponed: unknown[] = []
  const greedy = Array.from({ length: 50 }, (_, n) =>
    send('greedy', `greedy-${n}`).catch((error) => postponed.push(error)),
  )
  for (let n = 0; n < 4; n += 1) await receiver.next()
  const other = send('other', 'other')
  t.equal((await receiver.next()).url, '/other')
  await receiver.close()
  await Promise.all([...greedy, other])
  t.equal(postponed.length, 46)
})
