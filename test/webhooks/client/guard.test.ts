import { once } from 'node:events'
import t, { type Test } from 'tap'
import { createSender } from '#src/webhooks/client/client.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { whole } from '#test/support/receiver/delivery-attempt.ts'
import { type RawReceiver, startRawReceiver } from '#test/support/receiver/raw-receiver.ts'

/** A listener that the guard must never reach: loopback, on a port that the rules allow. */
async function startListener(t: Test): Promise<RawReceiver> {
  for (let last = 1; last < 255; last += 1) {
    try {
      const listener = await startRawReceiver(() => {}, { host: `127.0.0.${last}`, port: 8443 })
      t.teardown(() => listener.close())
      return listener
    } catch {} // in use
  }
  throw new Error('no address for the listener is free')
}

const host = ({ pair }: RawReceiver) => pair.slice(0, pair.indexOf(':'))
const outgoing = { headers: {}, body: '{}' }
const timeoutMs = 20_000

t.test('the listener reports a connection', async (t) => {
  const listener = await startListener(t)
  const sender = createSender({ allow: [listener.pair], timeoutMs })
  t.teardown(() => sender.close())
  const attempt = sender.send({ tenantId: null, ...outgoing, url: `https://${listener.pair}/` })
  await untilTrue(() => listener.connections.length > 0)
  for (const socket of listener.connections) socket.destroy()
  t.match(await attempt, { cause: /^tls: / })
})

t.test('no spelling of a forbidden address is connected to', async (t) => {
  const listener = await startListener(t)
  const [, , , last = ''] = host(listener).split('.')
  const number = 0x7f000000 + Number(last)
  const sender = createSender({ allow: [], timeoutMs })
  t.teardown(() => sender.close())
  for (const spelling of [
    host(listener),
    `127.${last}`,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    `[::ffff:${host(listener)}]`,
    `[::${host(listener)}]`,
    `[64:ff9b::${host(listener)}]`,
    'localhost',
    'localhost.',
    '[::1]',
  ]) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${spelling}:8443/`
      const result = await sender.send({ tenantId: null, ...outgoing, url })
      t.match(result, { statusCode: null, error: 'could not be reached', cause: /^blocked: / }, url)
    }
  }
  t.equal(listener.connections.length, 0)
})

t.test('no name with a forbidden address is connected to, even among public ones', async (t) => {
  const listener = await startListener(t)
  for (const answers of [
    [[host(listener)]],
    [['93.184.215.14', host(listener)]],
    [[host(listener), '93.184.215.14']],
    [['2606:4700::1111', host(listener)]],
    [['::1']],
    [[host(listener)], ['10.0.0.1'], [host(listener)]], // another answer each time
  ]) {
    let asked = 0
    const resolve = async () => answers[asked++ % answers.length] ?? []
    const sender = createSender({ allow: [], timeoutMs, resolve, cacheMs: 0 })
    t.teardown(() => sender.close())
    for (const _ of answers) {
      const result = await sender.send({
        tenantId: null,
        ...outgoing,
        url: 'https://hooks.example.test:8443/',
      })
      t.match(result, { statusCode: null, error: 'could not be reached', cause: /^blocked: / })
    }
    t.equal(asked, answers.length, 'one lookup per attempt')
  }
  t.equal(listener.connections.length, 0)
})

t.test('a host that is exempt on one port is not on another', async (t) => {
  const listener = await startListener(t)
  const allow = [`${host(listener)}:8444`, `x${listener.pair}`, host(listener)]
  const sender = createSender({ allow, timeoutMs })
  t.teardown(() => sender.close())
  const result = await sender.send({
    tenantId: null,
    ...outgoing,
    url: `https://${listener.pair}/`,
  })
  t.match(result, { cause: 'blocked: the URL: address' })
  t.equal(listener.connections.length, 0)
})

t.test('the proxy settings of the environment are not read', async (t) => {
  const proxy = await startRawReceiver((socket) => socket.end())
  const receiver = await startRawReceiver((socket) => socket.write(whole('direct')))
  const names = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((it) => [it, it.toUpperCase()])
  const saved = [...names, 'no_proxy', 'NO_PROXY', 'NODE_USE_ENV_PROXY'].map(
    (name) => [name, process.env[name]] as const,
  )
  for (const [name] of saved) delete process.env[name]
  for (const name of names) process.env[name] = proxy.url
  process.env.NODE_USE_ENV_PROXY = '1'
  const sender = createSender({ allow: [receiver.pair], timeoutMs })
  t.teardown(async () => {
    for (const [name, value] of saved) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    await Promise.all([sender.close(), proxy.close(), receiver.close()])
  })
  const result = await sender.send({ tenantId: null, ...outgoing, url: receiver.url })
  t.match(result, { statusCode: 200, responseExcerpt: 'direct' })
  t.equal(proxy.connections.length, 0)
})

t.test('given headers cannot override framing headers or contain line breaks', async (t) => {
  const receiver = await startRawReceiver((socket) => socket.write(whole('')))
  const sender = createSender({ allow: [receiver.pair], timeoutMs })
  t.teardown(() => Promise.all([sender.close(), receiver.close()]))
  const given = {
    Host: 'internal.example',
    'Content-Length': '0',
    'CONTENT-TYPE': 'text/html',
    'Transfer-Encoding': 'chunked',
    Connection: 'close, x-own',
    Upgrade: 'websocket',
    Expect: '100-continue',
    'keep-alive': 'timeout=600',
    TE: 'trailers',
    Trailer: 'x-own',
    'User-Agent': 'other',
    'Accept-Encoding': 'gzip',
    'x-own': 'kept',
  }
  const result = await sender.send({
    tenantId: null,
    url: receiver.url,
    headers: given,
    body: '{"a":1}',
  })
  t.match(result, { statusCode: 200, error: null })
  const head = receiver.received().split('\r\n\r\n')[0]?.toLowerCase() ?? ''
  const lines = head.split('\r\n').slice(1).toSorted()
  t.same(lines, [
    'accept-encoding: identity',
    'connection: keep-alive',
    'content-length: 7',
    'content-type: application/json',
    `host: ${receiver.pair}`,
    'user-agent: gatehouse-webhooks',
    'x-own: kept',
  ])
  for (const headers of [{ 'x-own': 'a\r\nhost: b' }, { 'x-own\r\nhost': 'b' }, { '': 'a' }]) {
    const refused = sender.send({ tenantId: null, url: receiver.url, headers, body: '' })
    await t.rejects(refused, { name: 'PostponedError', reason: 'internal' }, 'a fault of ours')
  }
})

t.test('an idle connection is closed soon, whatever its keep-alive header says', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=600'
  const receiver = await startRawReceiver((socket) => socket.write(whole('', head)))
  const sender = createSender({ allow: [receiver.pair], timeoutMs })
  t.teardown(() => Promise.all([sender.close(), receiver.close()]))
  await sender.send({ tenantId: null, ...outgoing, url: receiver.url })
  const [socket] = receiver.connections
  if (socket && !socket.closed) await once(socket, 'close')
  t.ok(socket?.closed)
})
