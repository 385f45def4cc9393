import t from 'tap'
import { createSender } from '#src/webhooks/client/client.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { createHostBudget } from '#src/webhooks/client/host-budget.ts'
import { startReceiver } from '#test/support/receiver/receiver.ts'

const busy = { name: 'PostponedError', reason: 'address-busy' }
const host = 'stranger.example'

/** A budget, and a clock in seconds. */
function setUp() {
  let now = 0
  const budget = createHostBudget(() => now * 1_000)
  /** Requests until one is postponed. */
  const taken = (bytes: number) => {
    for (let n = 0; n < 10_000; n += 1) {
      try {
        budget.take(host, bytes)
      } catch (error) {
        t.match(error, busy)
        return n
      }
    }
    return Number.POSITIVE_INFINITY
  }
  return {
    budget,
    taken,
    pass(seconds: number) {
      now += seconds
    },
  }
}

t.test('a host gets a low rate until it has answered with 2xx', async (t) => {
  const { budget, taken, pass } = setUp()
  t.equal(taken(15), 10)
  pass(60)
  t.equal(taken(15), 10, 'no more than the burst comes back')
  pass(10)
  t.equal(taken(15), 2, 'one in five seconds')
  budget.take('other.example', 15)
  budget.prove(host)
  t.equal(taken(15), 1_000)
  pass(1)
  t.equal(taken(15), 500)
  pass(86_400)
  t.equal(taken(15), 10, 'a day without an answer later it has to answer again')
})

t.test('bytes to a host are limited over all tenants', async (t) => {
  const { budget, taken, pass } = setUp()
  const mebibyte = 1_048_576
  t.equal(taken(mebibyte), 2, 'before the first answer')
  budget.prove(host)
  t.equal(taken(mebibyte), 100)
  pass(1)
  t.equal(taken(mebibyte), 20)
  pass(60)
  budget.take(host, 10 * mebibyte)
  t.pass('one body may be larger than what is left')
})

t.test('only so many hosts are remembered', async (t) => {
  const { budget, taken } = setUp()
  t.equal(taken(1), 10)
  for (let n = 0; n < 10_000; n += 1) budget.take(`host-${n}.example`, 1)
  t.equal(taken(1), 10, 'the one that was unused longest is forgotten')
  budget.prove(host)
  for (let n = 0; n < 10_000; n += 1) {
    if (n === 5_000) budget.take(host, 1)
    budget.take(`host-${n}.example`, 1)
  }
  t.equal(taken(1), 999, 'one in use is not')
})

t.test('no name is looked up for a host that has had its requests', async (t) => {
  const { budget, taken } = setUp()
  t.equal(taken(1), 10)
  let lookups = 0
  const resolve = async () => {
    lookups += 1
    return ['8.8.8.8']
  }
  const sender = createSender({ allow: [], timeoutMs: 1_000, budget, resolve, cacheMs: 0 })
  t.teardown(() => sender.close())
  await t.rejects(sender.send({ url: `https://${host}/`, headers: {}, body: '{}' }), busy)
  t.equal(lookups, 0)
})

t.test('attempts take from the budget, and a 2xx proves the host', async (t) => {
  let status = 500
  const receiver = await startReceiver((_request, response) => response.writeHead(status).end())
  t.teardown(() => receiver.close())
  const calls: string[] = []
  const budget = {
    require: () => {},
    take(name: string, bytes: number) {
      calls.push(`take ${name} ${bytes}`)
      throw new PostponedError('address-busy', 'used up')
    },
    prove: (name: string) => void calls.push(`prove ${name}`),
  }
  const sender = createSender({ allow: [`127.0.0.1:${receiver.port}`], timeoutMs: 5_000, budget })
  t.teardown(() => sender.close())
  const send = (url: string) => sender.send({ url, headers: {}, body: '{"a":"ä"}' })
  t.equal((await send(receiver.url)).statusCode, 500)
  t.strictSame(calls, [], 'a listed host has no budget, and a 500 proves nothing')
  status = 204
  t.equal((await send(receiver.url)).statusCode, 204)
  t.strictSame(calls, ['prove 127.0.0.1'])
  await t.rejects(send('https://8.8.8.8/'), busy, 'nothing is sent beyond the budget')
  t.strictSame(calls, ['prove 127.0.0.1', 'take 8.8.8.8 10'])
})
