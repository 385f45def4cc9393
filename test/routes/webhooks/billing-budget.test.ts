import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { build } from '#test/support/app/app.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { startHangingRedis } from '#test/support/processes/hanging-redis.ts'
import { bytesOf, path, sign } from './send-event.ts'

const mebibyte = 1_048_576

/** The server on a port, with a budget of 4 MiB: 1 MiB for each address. */
async function listen(t: Test, settings: Record<string, string> = {}) {
  const { app } = await build(t, { BILLING_UNVERIFIED_MIB: '4', ...settings })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const held = async () => {
    const { values } = await app.metrics.billing.unverifiedBytes.get()
    return values[0]?.value ?? 0
  }
  const post = (localAddress: string, headers: Record<string, string>) =>
    request({ host: '127.0.0.1', port, path, method: 'POST', localAddress, headers })

  /** Sends `bytes` of an unsigned body and leaves the rest open. */
  async function openBody(t: Test, from: string, bytes: number): Promise<ClientRequest> {
    const before = await held()
    const open = post(from, { 'content-length': String(mebibyte) })
    open.on('error', () => {})
    t.teardown(() => open.destroy())
    open.write(Buffer.alloc(bytes))
    await untilTrue(async () => (await held()) === before + bytes)
    return open
  }

  /** A signed event with a body of this size. */
  async function sendEvent(from: string, size: number) {
    const id = `evt_${crypto.randomUUID()}`
    const body = bytesOf({ id, type: 'charge.succeeded', filler: 'x'.repeat(size) })
    const sent = post(from, {
      'content-length': String(body.length),
      'webhook-signature': sign(body),
    })
    sent.end(body)
    const [answer]: IncomingMessage[] = await once(sent, 'response')
    if (answer === undefined) throw new Error('no answer')
    return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
  }

  return { app, held, post, openBody, sendEvent }
}

t.test(
  'unsigned bodies of many addresses are bounded, and events fit again after them',
  async (t) => {
    const { app, held, openBody, sendEvent } = await listen(t)
    const strangers: ClientRequest[] = []
    for (const host of [2, 3, 4, 5]) {
      strangers.push(await openBody(t, `127.0.0.${host}`, 1_000_000))
    }
    const refused = await sendEvent('127.0.0.9', 300_000)
    t.match(refused, { status: 503, body: 'temporarily unavailable' })
    t.equal(refused.headers['retry-after'], '1')
    t.equal((await sendEvent('127.0.0.9', 100)).status, 200, 'a small event still fits')
    await untilTrue(async () => (await held()) === 4_000_000)
    for (const stranger of strangers) stranger.destroy()
    await untilTrue(async () => (await held()) === 0)
    t.equal((await sendEvent('127.0.0.9', 300_000)).status, 200)
    await untilTrue(async () => (await held()) === 0)
    t.match(
      await app.metrics.registry.metrics(),
      'gatehouse_webhook_requests_total{outcome="over_budget"} 1',
    )
  },
)

t.test('one address holds a part only, so others have room', async (t) => {
  const { held, openBody, sendEvent } = await listen(t)
  await openBody(t, '127.0.0.2', 600_000)
  await openBody(t, '127.0.0.2', 400_000)
  t.equal((await sendEvent('127.0.0.2', 100_000)).status, 503)
  t.equal((await sendEvent('127.0.0.9', 900_000)).status, 200)
  await untilTrue(async () => (await held()) === 1_000_000)
})

t.test('a small body counts as soon as its length is declared', async (t) => {
  const { held, post, sendEvent } = await listen(t)
  const open: ClientRequest[] = []
  for (let index = 0; index < 64; index += 1) {
    const started = post('127.0.0.2', { 'content-length': '16384' })
    started.on('error', () => {})
    t.teardown(() => started.destroy())
    started.flushHeaders()
    open.push(started)
  }
  await untilTrue(async () => (await held()) === mebibyte)
  t.equal((await sendEvent('127.0.0.2', 100)).status, 503)
  t.equal((await sendEvent('127.0.0.9', 100)).status, 200)
  for (const started of open) started.destroy()
  await untilTrue(async () => (await held()) === 0)
  t.equal((await sendEvent('127.0.0.2', 100)).status, 200)
})

t.test('every end of a request gives its bytes back', async (t) => {
  const { app, held, sendEvent } = await listen(t)
  for (const size of [0, 1_000, 1_000_000]) {
    t.equal((await sendEvent('127.0.0.1', size)).status, 200, `${size} bytes`)
  }
  const tooLarge = await sendEvent('127.0.0.1', mebibyte)
  t.equal(tooLarge.status, 413)
  const unsigned = await app.inject({ method: 'POST', url: path, payload: Buffer.alloc(1_000) })
  t.equal(unsigned.statusCode, 400)
  const encoded = await app.inject({
    method: 'POST',
    url: path,
    payload: Buffer.alloc(1_000),
    headers: { 'content-encoding': 'gzip' },
  })
  t.equal(encoded.statusCode, 415)
  await untilTrue(async () => (await held()) === 0)
})

t.test(
  'a client that goes while the rate limit waits for Redis leaves no bytes behind',
  async (t) => {
    const redis = await startHangingRedis(t)
    const { app, held, post, sendEvent } = await listen(t, {
      REDIS_URL: redis.url,
      RATE_LIMIT_WEBHOOKS: '10000/60',
    })
    t.equal((await sendEvent('127.0.0.1', 100)).status, 200)
    redis.hang()
    const gone = new Promise<void>((resolve) => {
      app.server.once('request', (_request, response) => response.once('close', resolve))
    })
    const started = post('127.0.0.2', { 'content-length': '16384' })
    started.on('error', () => {})
    started.flushHeaders()
    await untilTrue(() => redis.counts() === 2)
    started.destroy()
    await gone
    t.equal(
      (await sendEvent('127.0.0.1', 100)).status,
      200,
      'counted by the process, after the one before',
    )
    t.equal(await held(), 0)
  },
)
