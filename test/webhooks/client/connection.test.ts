import { createSecureContext } from 'node:tls'
import t, { type Test } from 'tap'
import { createConnector, createPools, type Peer } from '#src/webhooks/client/connection.ts'
import { closed, whole } from '#test/support/receiver/delivery-attempt.ts'
import { startRawReceiver } from '#test/support/receiver/raw-receiver.ts'

/** Connects to the peer; resolves to the address it reached, or to the error. */
function connectTo(peer: Partial<Peer>, port: number, protocol = 'http:'): Promise<string> {
  const connector = createConnector({
    host: 'hooks.example.test',
    addresses: [],
    timeoutMs: 20_000,
    secureContext: createSecureContext(),
    ...peer,
  })
  return new Promise((resolve) =>
    connector({ hostname: 'hooks.example.test', protocol, port: String(port) }, (error, socket) => {
      resolve(
        error
          ? `${'code' in error ? error.code : ''}: ${error.message}`
          : `${socket?.remoteAddress}`,
      )
      socket?.destroy()
    }),
  )
}

const listening = async (t: Test, place: { host?: string; port?: number } = {}) => {
  const receiver = await startRawReceiver((socket) => socket.write(whole(place.host ?? '')), place)
  t.teardown(() => receiver.close())
  return receiver
}

/** Receivers at one port of two addresses. Another process may have the port at the second one. */
async function atOnePort(t: Test, one: string, other: string) {
  for (let tries = 1; ; tries += 1) {
    const first = await listening(t, { host: one })
    try {
      return [first, await listening(t, { host: other, port: first.port })] as const
    } catch (error) {
      if (tries === 10) throw error
    }
  }
}

t.test('connects to the checked addresses without another lookup', async (t) => {
  const [{ port }, listener] = await atOnePort(t, '127.0.0.2', '127.0.0.1')
  t.equal(await connectTo({ addresses: ['127.0.0.2'] }, port), '127.0.0.2')
  t.equal(await connectTo({ host: 'localhost', addresses: ['127.0.0.2'] }, port), '127.0.0.2')
  t.equal(listener.connections.length, 0)
})

t.test('the next checked address is tried if one refuses', async (t) => {
  const { port } = await listening(t, { host: '127.0.0.2' })
  t.equal(await connectTo({ addresses: ['127.0.0.3', '127.0.0.2'] }, port), '127.0.0.2')
  t.match(await connectTo({ addresses: ['127.0.0.3', '127.0.0.4'] }, port), /^refused: /)
})

t.test('a connection to an unchecked address is closed before the first byte', async (t) => {
  const listener = await listening(t)
  for (const protocol of ['http:', 'https:']) {
    const result = await connectTo(
      { host: '127.0.0.1', addresses: ['127.0.0.2'] },
      listener.port,
      protocol,
    )
    t.equal(result, 'blocked: reached 127.0.0.1, which was not checked')
    await closed(listener)
  }
  t.equal(listener.received(), '')
})

t.test('a handshake that does not end times out', async (t) => {
  const { port } = await listening(t)
  const addresses = ['127.0.0.1']
  t.match(await connectTo({ addresses, timeoutMs: 100 }, port, 'https:'), /^timeout: after 0\.1 s/)
})

t.test('a connection is reused only for the same checked addresses', async (t) => {
  const [{ port }] = await atOnePort(t, '127.0.0.2', '127.0.0.3')
  const pools = createPools({ timeoutMs: 20_000 })
  t.teardown(() => pools.close())
  const url = new URL(`http://hooks.example.test:${port}/`)
  const ask = async (...addresses: string[]) => {
    const pool = pools.poolFor(url, addresses)
    const { body } = await pool.request({ method: 'POST', path: '/' })
    return { pool, host: await body.text() }
  }
  const first = await ask('127.0.0.2')
  t.equal(first.host, '127.0.0.2')
  const second = await ask('127.0.0.3')
  t.equal(
    second.host,
    '127.0.0.3',
    'the name resolves to another address, and so does the connection',
  )
  t.not(second.pool, first.pool)
  t.equal((await ask('127.0.0.2')).pool, first.pool)
  t.equal(
    pools.poolFor(url, ['127.0.0.3', '127.0.0.2']),
    pools.poolFor(url, ['127.0.0.2', '127.0.0.3']),
  )
  t.not(pools.poolFor(new URL(`http://other.example.test:${port}/`), ['127.0.0.2']), first.pool)
})

t.test('pools close when their last connection ends, and their number is bounded', async (t) => {
  const receiver = await startRawReceiver((socket) => socket.end(whole('')))
  t.teardown(() => receiver.close())
  const pools = createPools({ timeoutMs: 20_000 })
  t.teardown(() => pools.close())
  const url = new URL(receiver.url)
  const pool = pools.poolFor(url, ['127.0.0.1'])
  const ended = new Promise((resolve) => pool.once('disconnect', resolve))
  const { body } = await pool.request({ method: 'POST', path: '/' })
  await body.dump()
  await ended
  t.ok(pool.closed)
  t.not(pools.poolFor(url, ['127.0.0.1']), pool)

  const oldest = pools.poolFor(url, ['127.0.0.2'])
  for (let last = 1; last <= 250; last += 1) {
    pools.poolFor(url, [`127.0.1.${last}`])
    pools.poolFor(url, [`127.0.2.${last}`])
  }
  t.ok(oldest.closed)
})
