import t from 'tap'
import { startReceiver } from '#dev/testing/receiver.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { createHostBudget } from '#src/webhooks/client/host-budget.ts'

const busy = { name: 'PostponedError', reason: 'address-busy' }
const host = 'stranger.example'

/** A budget, and a clock in seconds. */
function setUp() {
  let now = 0
  const budget = createHostBudget(() => now * 1_000)
  /** Requests until one is postponed. */
  const taken = (bytes: number, tenantId: string | null = null) => {
    for (let n = 0; n < 10_000; n += 1) {
      try {
        budget.take(host, tenantId, bytes)
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
  budget.take('other.example', null, 15)
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
  budget.take(host, null, 10 * mebibyte)
  t.pass('one body may be larger than what is left')
})

t.test('a tenant leaves some of the budget of a host for others', async (t) => {
  const { budget, taken, pass } = setUp()
  t.equal(taken(15, 'greedy'), 5, 'half of the burst')
  t.equal(taken(15, 'other'), 3)
  budget.prove(host)
  t.equal(taken(15, 'greedy'), 500)
  t.equal(taken(15, 'other'), 250)
  t.equal(taken(15, 'greedy'), 0)
  pass(1)
  const [greedy, other] = [taken(15, 'greedy'), taken(15, 'other')]
  t.ok(greedy > 0 && other > 0 && greedy <= 500, `${greedy} and ${other}`)
  pass(60)
  const alone = Array.from({ length: 5 }, () => {
    pass(1)
    return taken(15, 'greedy')
  })
  t.strictSame(alone.slice(1), [500, 500, 500, 500], 'one alone gets all that flows back')
  t.ok(taken(15, 'other') > 100, 'and another its share at once')
})

t.test('bytes are shared among the tenants too', async (t) => {
  const { budget, taken, pass } = setUp()
  const mebibyte = 1_048_576
  budget.prove(host)
  t.equal(taken(mebibyte, 'greedy'), 50)
  t.equal(taken(mebibyte, 'other'), 25)
  pass(60)
  t.equal(taken(mebibyte, 'other'), 50)
})

t.test('only so many hosts are remembered', async (t) => {
  const { budget, taken } = setUp()
  t.equal(taken(1), 10)
  for (let n = 0; n < 10_000; n += 1) budget.take(`host-${n}.example`, null, 1)
  t.equal(taken(1), 10, 'the one that was unused longest is forgotten')
  budget.prove(host)
  for (let n = 0; n < 10_000; n += 1) {
    if (n === 5_000) budget.take(host, null, 1)
    budget.take(`host-${n}.example`, null, 1)
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
  await t.rejects(
    sender.send({ tenantId: 'one', url: `https://${host}/`, headers: {}, body: '{}' }),
    busy,
  )
  t.equal(lookups, 0)
})

t.test('attempts take from the budget, and a 2xx proves the host', async (t) => {
  let status = 500
  const receiver = await startReceiver((_request, response) => response.writeHead(status).end())
  t.teardown(() => receiver.close())
  const calls: string[] = []
  const budget = {
    require: () => {},
    take(name: string, tenantId: string | null, bytes: number) {
      calls.push(`take ${name} ${tenantId} ${bytes}`)
      throw new PostponedError('address-busy', 'used up')
    },
    prove: (name: string) => void calls.push(`prove ${name}`),
  }
  const sender = createSender({ allow: [`127.0.0.1:${receiver.port}`], timeoutMs: 5_000, budget })
  t.teardown(() => sender.close())
  const send = (url: string) =>
    sender.send({ tenantId: 'one', url, headers: {}, body: '{"a":"ä"}' })
  t.equal((await send(receiver.url)).statusCode, 500)
  t.strictSame(calls, [], 'a listed host has no budget, and a 500 proves nothing')
  status = 204
  t.equal((await send(receiver.url)).statusCode, 204)
  t.strictSame(calls, ['prove 127.0.0.1'])
  await t.rejects(send('https://8.8.8.8/'), busy, 'nothing is sent beyond the budget')
  t.strictSame(calls, ['prove 127.0.0.1', 'take 8.8.8.8 one 10'])
})
