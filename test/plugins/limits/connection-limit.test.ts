import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import errors from '#plugins/http/errors.ts'
import parserAnswers from '#plugins/http/parser-answers.ts'
import connectionLimit from '#plugins/limits/connection-limit.ts'
import metricsPlugin from '#plugins/observability/metrics.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { untilTrue } from '#test/support/database/until.ts'

type Limits = { max?: number; maxPerAddress?: number; trustProxy?: string[] }

async function listen(t: Test, { max = 1_000, maxPerAddress = 2, trustProxy = [] }: Limits = {}) {
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  const metrics = createMetrics()
  await app.register(errors)
  await app.register(metricsPlugin, { metrics, providers: [] })
  await app.register(parserAnswers)
  await app.register(connectionLimit, { max, maxPerAddress, trustProxy })
  app.get('/', async () => 'done')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  async function open(localAddress = '127.0.0.1'): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    socket.on('error', () => {})
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  /** Sends a request and returns everything that comes until the server closes. */
  async function ask(socket: Socket): Promise<string> {
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    return text(socket)
  }
  const refused = async (limit: string) => {
    const { values } = await metrics.http.connectionsRefused.get()
    return values.find(({ labels }) => labels.limit === limit)?.value ?? 0
  }
  const connections = () =>
    new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)))
  return { open, ask, refused, connections }
}

t.test('an address has a limited number of connections', async (t) => {
  const { open, ask, refused, connections } = await listen(t)
  const first = await open()
  const second = await open()
  await untilTrue(async () => (await connections()) === 2)
  const answer = await text(await open())
  t.match(answer, /^HTTP\/1\.1 429 /)
  t.match(answer, /retry-after: 5\r\n/)
  t.match(answer, /"type":"\/docs\/errors\/too-many-requests"/)
  t.match(answer, /"detail":"Your address has 2 connections open, the most/)
  t.equal(await refused('address'), 1)
  t.match(await ask(await open('127.0.0.2')), /^HTTP\/1\.1 200 /, 'another address has its own')
  t.match(await ask(second), /^HTTP\/1\.1 200 /, 'open ones go on')
  await untilTrue(async () => (await connections()) === 1)
  t.match(await ask(await open()), /^HTTP\/1\.1 200 /, 'a closed one makes room')
  first.destroy()
})

t.test('trusted proxies hold the connections of many clients', async (t) => {
  for (const proxy of ['127.0.0.1', '127.0.0.0/8', 'loopback']) {
    const { open, ask, refused } = await listen(t, { trustProxy: [proxy] })
    const sockets = [await open(), await open(), await open(), await open()]
    for (const socket of sockets) t.match(await ask(socket), /^HTTP\/1\.1 200 /, proxy)
    t.equal(await refused('address'), 0)
  }
})

t.test('a process has a limited number of connections', async (t) => {
  const { open, refused, connections } = await listen(t, { max: 3, maxPerAddress: 100 })
  for (let index = 0; index < 3; index += 1) await open()
  await untilTrue(async () => (await connections()) === 3)
  const beyond = await open()
  await once(beyond, 'close')
  t.equal(await refused('process'), 1)
})
