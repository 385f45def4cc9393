import t from 'tap'
import { exampleOf } from '#src/http/openapi/examples.ts'
import { eventSchema } from '#src/webhooks/events/describe.ts'
import { eventKindOf } from '#src/webhooks/events/kinds.ts'
import { signDelivery } from '#src/webhooks/signing/signature.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { allowing, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint, endpointSecret } from '#test/support/receiver/webhook-endpoint.ts'
import { verifyWebhook } from '../../../clients/typescript/src/webhooks.ts'

const nowSeconds = 1_614_265_330
const event = Object(
  exampleOf(JSON.parse(JSON.stringify(eventSchema(eventKindOf('order.updated'))))),
)
const body = JSON.stringify(event)
const id: string = event.id

function headersOf(profile: 'spec' | 'standard' | 'both', secret = endpointSecret) {
  const signed = { profile, secrets: [secret], id, timestamp: nowSeconds, body }
  return {
    'webhook-id': id,
    'webhook-timestamp': String(nowSeconds),
    'webhook-signature': signDelivery(signed),
  }
}

t.test('deliveries of every profile are verified, as text, bytes and Headers', async (t) => {
  const secret = endpointSecret
  for (const profile of ['spec', 'standard', 'both'] as const) {
    const headers = headersOf(profile)
    for (const delivery of [
      { body, headers },
      { body: Buffer.from(body), headers },
      { body, headers: new Headers(headers) },
      { body, headers, secret: ['whsec_b3RoZXI=', secret] },
    ]) {
      const verified = await verifyWebhook({ secret, nowSeconds, ...delivery })
      t.strictSame(verified, event, profile)
      if (verified.type === 'order.updated') t.equal(verified.data.id, event.data.id)
    }
  }
})

t.test('a delivery of the program itself is verified', async (t) => {
  const receiver = await openReceiver(t)
  const { test, one, send } = await twoAdmins(await build(t, allowing(receiver)))
  await startCallers(t, test)
  for (const signature of ['spec', 'standard', 'both'] as const) {
    const endpointId = await createEndpoint(test.database, one, { url: receiver.url, signature })
    t.equal((await send('POST', `/webhook-endpoints/${endpointId}/test`)).statusCode, 200)
    const verified = await verifyWebhook({ ...(await receiver.next()), secret: endpointSecret })
    t.match(verified, { type: 'endpoint.test', data: { endpointId } })
  }
})

t.test('anything else is refused with its reason', async (t) => {
  const headers = headersOf('both')
  const good = { body, headers, secret: endpointSecret, nowSeconds }
  const signed = (text: string, name = id) => ({
    ...good,
    body: text,
    headers: {
      ...headers,
      'webhook-id': name,
      'webhook-signature': signDelivery({
        profile: 'spec',
        secrets: [endpointSecret],
        id: name,
        timestamp: nowSeconds,
        body: text,
      }),
    },
  })
  const refused: Record<string, readonly [fault: string, delivery: object]> = {
    'another body': ['signature', { body: body.replace('42', '43') }],
    'another secret': ['signature', { secret: 'whsec_b3RoZXI=' }],
    'no secret': ['signature', { secret: [] }],
    'an empty secret': ['signature', { secret: '' }],
    'a prefix of the signature': [
      'signature',
      { headers: { ...headers, 'webhook-signature': headers['webhook-signature'].slice(0, 12) } },
    ],
    'a signature that is not base64': [
      'signature',
      { headers: { ...headers, 'webhook-signature': 'v1,not base64!' } },
    ],
    'another version': [
      'signature',
      {
        headers: {
          ...headers,
          'webhook-signature': headersOf('spec')['webhook-signature'].replace('v1', 'v2'),
        },
      },
    ],
    'another time': [
      'signature',
      { headers: { ...headers, 'webhook-timestamp': String(nowSeconds + 1) } },
    ],
    'a time that is none': ['timestamp', { headers: { ...headers, 'webhook-timestamp': '1e9' } }],
    'too old': ['timestamp', { nowSeconds: nowSeconds + 301 }],
    'too new': ['timestamp', { nowSeconds: nowSeconds - 301 }],
    'no signature': ['missing-header', { headers: { ...headers, 'webhook-signature': undefined } }],
    'two ids': ['missing-header', { headers: { ...headers, 'webhook-id': ['a', 'b'] } }],
    'no JSON': ['body', signed('{')],
    'no event': ['body', signed('[1]')],
    'another id in the header': ['body', signed(body, 'msg_other')],
  }
  for (const [name, [fault, delivery]] of Object.entries(refused)) {
    await t.rejects(verifyWebhook({ ...good, ...delivery }), { name: 'WebhookError', fault }, name)
  }
  t.ok(await verifyWebhook({ ...good, nowSeconds: nowSeconds + 300 }), '300 seconds are accepted')
})
