import Fastify from 'fastify'
import t, { type Test } from 'tap'
import errors from '#plugins/http/errors.ts'
import eventStream from '#plugins/http/event-stream.ts'
import { untilTrue } from '#test/support/database/until.ts'

type Limits = { perOwner?: number; total?: number; reads?: number }

/** A server that streams numbers; `/OWNER?last=N` ends with N, `failing=N` fails at N. */
async function start(t: Test, limits: Limits) {
  const app = Fastify()
  await app.register(errors)
  await app.register(eventStream, { ...limits, pauseMs: 1 })
  app.get<{ Params: { owner: string }; Querystring: { last: string; failing?: string } }>(
    '/:owner',
    async ({ params, query }, reply) => {
      let number = 0
      return reply.streamEvents(params.owner, async () => {
        number += 1
        if (number === Number(query.failing)) throw new Error('the session has ended')
        return { name: 'number', data: { number }, isLast: number === Number(query.last) }
      })
    },
  )
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return { app, address }
}

const eventsUpTo = (last: number) =>
  Array.from({ length: last }, (_, index) => `event: number\ndata: {"number":${index + 1}}\n\n`)

t.test('a stream ends with its last event, or after the maximum number of reads', async (t) => {
  const { app } = await start(t, { reads: 5 })
  t.equal((await app.inject('/a?last=3')).body, eventsUpTo(3).join(''))
  t.equal((await app.inject('/a?last=9')).body, eventsUpTo(5).join(''))
})

t.test('the number of open streams is limited, per owner and in total', async (t) => {
  const { app, address } = await start(t, { perOwner: 2, total: 3, reads: 1_000_000 })
  const open: Response[] = [] // a response that is collected as garbage ends its stream
  const endless = async (owner: string, signal: AbortSignal | null = null) => {
    const response = await fetch(`${address}/${owner}?last=0`, { signal })
    open.push(response)
    return response
  }
  const gone = new AbortController()
  await endless('a', gone.signal)
  await endless('a')
  const refused = await endless('a')
  t.equal(refused.status, 429)
  t.ok(refused.headers.get('retry-after'))
  await endless('b')
  const beyond = await endless('c')
  t.equal(beyond.status, 503)
  t.match(await beyond.json(), { detail: '3 live pages are open, the most that a process has.' })
  gone.abort()
  await untilTrue(async () => (await endless('c')).status === 200)
  t.ok(open.length > 5, 'a stream that ends makes room')
  await app.close()
})

t.test('owners with many open streams leave room for owners with none', async (t) => {
  const { app, address } = await start(t, { perOwner: 4, total: 20, reads: 1_000_000 })
  const open: Response[] = [] // a response that is collected as garbage ends its stream
  const endless = async (owner: string) => {
    const response = await fetch(`${address}/${owner}?last=0`)
    open.push(response)
    return response.status
  }
  const greedy = ['a', 'b', 'c', 'd', 'e']
  for (const owner of [...greedy, ...greedy, ...greedy, ...greedy]) await endless(owner)
  for (const owner of greedy) t.equal(await endless(owner), 429, 'its share is used up')
  for (const owner of ['f', 'g', 'h']) t.equal(await endless(owner), 200, 'a newcomer is served')
  t.equal(open.filter(({ status }) => status === 200).length, 13)
  await app.close()
})

t.test('an error while streaming ends the stream, without a word to the client', async (t) => {
  const { app } = await start(t, {})
  const answer = await app.inject('/a?last=9&failing=3')
  t.equal(answer.statusCode, 200)
  t.equal(answer.body, eventsUpTo(2).join(''))
})
