import { createHmac } from 'node:crypto'
import t from 'tap'
import { checkSignature, type Received, type Sent } from '#src/webhooks/signing/check-signature.ts'
import { newEndpointSecret, signDelivery } from '#src/webhooks/signing/signature.ts'

const now = 1_767_225_600
const [secret, other] = [newEndpointSecret(), newEndpointSecret()]
const body = '{"id":"msg_1","type":"order.updated","data":{"id":1,"note":"a b"}}'
const sent: Sent = { id: 'msg_1', body, profile: 'spec', secrets: [secret] }

type Change = Partial<{
  id: string
  timestamp: number | string
  signature: string
  body: string
  secret: string | null
  headers: string
  signedBy: string
  profile: Sent['profile']
}>

/** A request as it arrives, with one difference. */
function received(change: Change = {}): Received {
  const timestamp = change.timestamp ?? now
  const by = {
    profile: change.profile ?? 'spec',
    secrets: [change.signedBy ?? secret],
    id: 'msg_1',
    timestamp: Number(timestamp),
    body,
  }
  const headers = [
    'Content-Type: application/json',
    `Webhook-Id: ${change.id ?? 'msg_1'}`,
    `webhook-timestamp:${timestamp}`,
    `webhook-signature: ${change.signature ?? signDelivery(by)}`,
  ].join('\r\n')
  return {
    headers: change.headers ?? headers,
    body: change.body ?? body,
    secret: change.secret ?? null,
  }
}

function faultsOf(change: Change, by: Partial<Sent> = {}): string[] {
  return checkSignature(received(change), { ...sent, ...by }, now).map(({ fault }) => fault)
}

t.test('a correct request has no fault, with either secret and every profile', async (t) => {
  t.same(faultsOf({}), [])
  t.same(faultsOf({ secret }), [])
  t.same(faultsOf({ signedBy: other }, { secrets: [secret, other] }), [], 'during a rotation')
  for (const profile of ['spec', 'standard', 'both'] as const) {
    t.same(faultsOf({ profile }, { profile }), [], profile)
  }
  t.same(faultsOf({ timestamp: now - 300 }), [])
  t.same(faultsOf({ timestamp: now + 300 }), [])
})

t.test('each fault is named', async (t) => {
  const hex = createHmac('sha256', secret).update(`${now}.${body}`).digest('hex')
  const [, base64 = ''] = signDelivery({ ...sent, timestamp: now }).split(',')
  const lines = received().headers.split('\r\n')
  const without = (name: string) =>
    lines.filter((line) => !line.toLowerCase().startsWith(name)).join('\n')
  const faults: [string, Change, string[]][] = [
    ['no headers', { headers: '' }, ['header-missing']],
    ['no id', { headers: without('webhook-id') }, ['header-missing']],
    ['no timestamp', { headers: without('webhook-timestamp') }, ['header-missing']],
    ['no signature', { headers: without('webhook-signature') }, ['header-missing']],
    ['a date', { timestamp: '2026-01-01', signature: `v1,${base64}` }, ['timestamp-malformed']],
    ['hexadecimal', { signature: `v1,${hex}` }, ['wrong-encoding']],
    ['no version', { signature: base64 }, ['wrong-encoding']],
    ['cut off', { signature: `v1,${base64.slice(0, 20)}` }, ['wrong-encoding']],
    ['too old', { timestamp: now - 301 }, ['too-old']],
    ['too new', { timestamp: now + 301 }, ['too-new']],
    ['another secret', { secret: other }, ['wrong-secret']],
    ['a secret without its prefix', { secret: secret.slice(6) }, ['wrong-secret']],
    ['a body parsed and written', { body: body.replace('{', '{ ') }, ['body-changed']],
    ['a changed byte', { body: body.replace('a b', 'a c') }, ['body-changed']],
    ['no body', { body: '' }, ['body-changed']],
    ['a line break', { body: `${body}\n` }, ['body-changed']],
    ['both', { secret: other, body: '{}' }, ['wrong-secret', 'body-changed']],
    ['a foreign signature', { signedBy: other }, ['not-ours']],
    ['another delivery', { id: 'msg_2', signedBy: other }, ['not-ours']],
    ['the profile before', { profile: 'standard' }, ['wrong-profile']],
    ['old and changed', { timestamp: now - 999, body: '{}' }, ['body-changed', 'too-old']],
  ]
  for (const [name, change, expected] of faults) t.same(faultsOf(change), expected, name)
  const standard = { id: 'msg_2', profile: 'standard' } as const
  t.same(faultsOf(standard, { profile: 'standard' }), ['id-changed'])
})

t.test('the words say what differs, and never the secret of the endpoint', async (t) => {
  const text = (change: Change) => checkSignature(received(change), sent, now)[0]?.text ?? ''
  t.match(text({ body: `${body}\n` }), /line break or spaces around it/)
  t.match(text({ body: JSON.stringify(JSON.parse(body), null, 2) }), /parsed and written again/)
  t.match(text({ body: body.replace('a b', 'a c') }), /first at character 63\./)
  t.match(text({ secret: secret.slice(6) }), /lacks its beginning `whsec_`/)
  t.match(text({ secret: ` ${secret}` }), /spaces or a line break/)
  t.match(text({ timestamp: now - 7_200 }), /7,200 s old/)
  for (const change of [{ secret: other }, { body: '' }, { signedBy: other }, { headers: '' }]) {
    t.notMatch(text(change), secret)
    t.notMatch(text(change), other)
  }
})
