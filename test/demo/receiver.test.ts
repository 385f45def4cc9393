import t from 'tap'
import { startReceiver } from '#dev/demo/receiver.ts'
import { signDelivery } from '#src/webhooks/signing/signature.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

t.test('the demo receiver verifies signatures, prints events and fails on request', async (t) => {
  const lines: string[] = []
  const nowSeconds = 1_614_265_330
  const clock = { now: () => new Date(nowSeconds * 1_000) }
  const print = (line: string) => void lines.push(line)
  const receiver = await startReceiver({ secret, port: 0, clock, print })
  t.teardown(() => receiver.stop())
  const origin = new URL(receiver.url).origin
  const post = async (id: string, profile: 'spec' | 'both', key = secret, age = 0) => {
    const body = JSON.stringify({ id, type: 'order.updated', data: {} })
    const timestamp = nowSeconds - age
    const signed = { profile, secrets: ['whsec_b3RoZXI=', key], id, timestamp, body }
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signDelivery(signed),
    }
    return (await fetch(receiver.url, { method: 'POST', headers, body })).status
  }
  t.equal(await post('msg_1', 'both'), 200)
  t.equal(await post('msg_1', 'spec'), 200)
  t.equal(await post('msg_2', 'spec', 'whsec_YW5vdGhlcg=='), 400)
  t.equal(await post('msg_2', 'spec', secret, 301), 400)
  t.equal(await post('msg_2', 'spec', secret, -301), 400)
  const told = await fetch(`${origin}/fail?times=2`, { method: 'POST' })
  t.equal(await told.text(), 'The next 2 deliveries get the response 500.\n')
  t.strictSame(
    [await post('msg_3', 'spec'), await post('msg_3', 'spec'), await post('msg_3', 'spec')],
    [500, 500, 200],
  )
  t.strictSame(lines, [
    'receiver: order.updated msg_1, valid signature, response 200',
    'receiver: order.updated msg_1, valid signature, duplicate, response 200',
    'receiver: msg_2, invalid signature, response 400',
    'receiver: msg_2, invalid signature, response 400',
    'receiver: msg_2, invalid signature, response 400',
    'receiver: order.updated msg_3, valid signature, response 500',
    'receiver: order.updated msg_3, valid signature, response 500',
    'receiver: order.updated msg_3, valid signature, response 200',
  ])
  t.equal(await (await fetch(`${origin}/`)).text(), lines.map((line) => `${line}\n`).join(''))
  for (const times of ['-1', '1.5', 'x', '101']) {
    t.equal((await fetch(`${origin}/fail?times=${times}`, { method: 'POST' })).status, 400, times)
  }
  t.equal((await fetch(`${origin}/webhooks`)).status, 404)
})
