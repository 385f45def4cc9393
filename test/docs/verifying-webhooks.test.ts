import { createHmac } from 'node:crypto'
import t from 'tap'
import { newEndpointSecret, signDelivery } from '#src/webhooks/delivery/signature.ts'
import { codeBlocks, readPage } from './page.ts'
import { commandOf, type Delivery, judge, languages } from './verifier.ts'

// Contract 7, the vectors.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const timestamp = 1614265330
const body = '{"test": 2432232314}'
const spec = 'v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ='
const standard = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

const at = String(timestamp)
const next = newEndpointSecret()
const sign = (secrets: readonly string[], profile: 'spec' | 'both' = 'spec', time = timestamp) =>
  signDelivery({ profile, secrets, id, timestamp: time, body })

/** A delivery whose signature fits whatever stands in its timestamp, and any key. */
function signed(time: string, bytes: string | Uint8Array = body, key = secret): Delivery {
  const digest = createHmac('sha256', key).update(`${time}.`).update(bytes).digest('base64')
  return { secret: key, args: [time, `v1,${digest}`, at], body: bytes }
}

const withHeaders = (...args: string[]): Delivery => ({ secret, args: [...args, at], body })
const now = Math.floor(Date.now() / 1000)

const good: Record<string, Delivery> = {
  'the vector of the contract': withHeaders(at, spec),
  'profile both': withHeaders(at, `${spec} ${standard}`),
  'by the machine’s own clock': { secret, args: [String(now), sign([secret], 'spec', now)], body },
  'in a rotation’s overlap, by the new secret': {
    ...withHeaders(at, sign([next, secret])),
    secret: next,
  },
  'in a rotation’s overlap, by the old secret': withHeaders(at, sign([next, secret])),
  'in a rotation’s overlap, both profiles, by the old secret': withHeaders(
    at,
    sign([next, secret], 'both'),
  ),
  '300 s old': signed(String(timestamp - 300)),
  '300 s ahead': signed(String(timestamp + 300)),
  'bytes that are no text': signed(at, new Uint8Array([0xff, 0xfe, 0x00, 0x0d, 0x0a])),
  'letters of two bytes, a line end': signed(at, '{"name":"Zoë"}\r\n'),
}

const bad: Record<string, Delivery> = {
  'one wrong byte': { ...withHeaders(at, spec), body: body.replace('4', '5') },
  'one byte more': { ...withHeaders(at, spec), body: `${body}\n` },
  'parsed and written again': { ...withHeaders(at, spec), body: JSON.stringify(JSON.parse(body)) },
  'another endpoint’s secret': { ...withHeaders(at, spec), secret: next },
  'the signature of Standard Webhooks alone': withHeaders(at, standard),
  'another timestamp than the signed one': withHeaders(String(timestamp + 1), spec),
  '301 s old': signed(String(timestamp - 301)),
  '301 s ahead': signed(String(timestamp + 301)),
  'old by the machine’s own clock': { secret, args: [at, spec], body },
  'no headers': { secret, args: [], body },
  'no signature': { secret, args: [at], body },
  'an empty timestamp': signed(''),
  'an empty signature': withHeaders(at, ''),
  'a timestamp that is no number': signed('NaN'),
  'a timestamp with an exponent': signed('1.614265330e9'),
  'a timestamp with a line end': signed(`${at}\n`),
  'a timestamp in other digits': signed('１６１４２６５３３０'),
  'a signature without its version': withHeaders(at, spec.replace('v1,', '')),
  'a signature of another version': withHeaders(at, spec.replace('v1', 'v2')),
  'a signature cut short': withHeaders(at, spec.slice(0, -1)),
  'a signature with letters of two bytes': withHeaders(at, `${spec.slice(0, -1)}ë`),
  'no secret, and signed with an empty one': { ...signed(at, body, ''), secret: '' },
}

t.test('the page shows the programs as they are', async (t) => {
  const page = await readPage('docs/verifying-webhooks.md')
  for (const { file, fence } of languages) {
    const program = await readPage(`docs/verifying-webhooks/${file}`)
    t.strictSame(codeBlocks(page, fence), [program], file)
  }
})

for (const language of languages) {
  const { name, interpreter } = language
  const skip = interpreter === null && `no ${name} on this machine: npm does not bring it along`
  t.test(`${name} tells a genuine delivery from all others`, { skip }, async (t) => {
    const command = await commandOf(t, language)
    for (const [what, delivery] of Object.entries(good)) {
      t.strictSame(await judge(command, delivery), { said: 'good\n', status: 0 }, what)
    }
    for (const [what, delivery] of Object.entries(bad)) {
      t.strictSame(await judge(command, delivery), { said: 'bad\n', status: 1 }, what)
    }
    const unset = { args: signed(at, body, '').args, body }
    t.notMatch((await judge(command, unset)).said, 'good', 'no secret at all')
  })
}
