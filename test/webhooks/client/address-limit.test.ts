import t from 'tap'
import { createAddressLimit } from '#src/webhooks/client/address-limit.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { startReceiver } from '#test/support/receiver/receiver.ts'

const busy = { name: 'PostponedError', reason: 'address-busy' }

t.test('attempts at one address are limited, whatever the name', async (t) => {
  const limit = createAddressLimit(2)
  const gate = Promise.withResolvers<void>()
  const running = [
    limit(['8.8.8.8'], () => gate.promise),
    limit(['1.1.1.1', '8.8.8.8'], () => gate.promise),
  ]
  await t.rejects(
    limit(['8.8.8.8'], async () => t.fail('it ran')),
    busy,
  )
  await t.rejects(
    limit(['9.9.9.9', '8.8.8.8'], async () => t.fail('it ran')),
    busy,
    'one is enough',
  )
  t.equal(await limit(['9.9.9.9', '1.1.1.1'], async () => 'other addresses'), 'other addresses')
  gate.resolve()
  await Promise.all(running)
  t.equal(await limit(['8.8.8.8'], async () => 'again'), 'again')
})

t.test('a failed attempt makes room too', async (t) => {
  const limit = createAddressLimit(1)
  await t.rejects(
    limit(['8.8.8.8'], async () => Promise.reject(new Error('no answer'))),
    { message: 'no answer' },
  )
  t.equal(await limit(['8.8.8.8'], async () => 'again'), 'again')
})

t.test('an IPv6 address counts for its /64 prefix', async (t) => {
  const limit = createAddressLimit(1)
  const gate = Promise.withResolvers<void>()
  const running = limit(['2a00:1450:4001:81b::200e'], () => gate.promise)
  const same = ['2a00:1450:4001:81b:1:2:3:4', '2a00:1450:4001:81b::']
  for (const address of same)
    await t.rejects(
      limit([address], async () => {}),
      busy,
      address,
    )
  for (const address of ['2a00:1450:4001:81c::200e', '2a00:1450::81b:0:0:200e', '2a00::1']) {
    t.equal(await limit([address], async () => 'free'), 'free', address)
  }
  gate.resolve()
  await running
})

t.test('names of many tenants for one address share its limit', async (t) => {
  const receiver = await startReceiver(() => {}) // hangs
  const allow = [`127.0.0.1:${receiver.port}`, `localhost:${receiver.port}`]
  const sender = createSender({ allow, timeoutMs: 20_000, perAddress: 3 })
  t.teardown(() => sender.close())
  const send = (path: string) =>
    sender.send({ url: `${receiver.url}/${path}`, headers: {}, body: '{}' })
  const running = [send('one'), send('two'), send('three')]
  for (const _ of running) await receiver.next()
  await t.rejects(send('four'), busy)
  const byName = `http://localhost:${receiver.port}/`
  await t.rejects(sender.send({ url: byName, headers: {}, body: '{}' }), busy)
  t.equal(receiver.requests.length, 3)
  await receiver.close()
  for (const { error } of await Promise.all(running)) t.ok(error)
})
