import { createHmac } from 'node:crypto'
import t from 'tap'
import { newEndpointSecret, signDelivery } from '#src/webhooks/signing/signature.ts'
import { codeBlocks, readPage } from './page.ts'
import { commandOf, type Delivery, languages, verify } from './verifier.ts'

// The test vectors of contract 7.
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

/** A delivery with a valid signature over any timestamp and with any key. */
function signed(time: string, bytes: string | Uint8Array = body, key = secret): Delivery {
  const digest = createHmac('sha256', key).update(`${time}.`).update(bytes).digest('base64')
  return { secret: key, args: [time, `v1,${digest}`, at], body: bytes }
}

const withHeaders = (...args: string[]): Delivery => ({ secret, args: [...args, at], body })
const now = Math.floor(Date.now() / 1000)

const good: Record<string, Delivery> = {
  'the test vector of the contract': withHeaders(at, spec),
  'profile both': withHeaders(at, `${spec} ${standard}`),
  'by the system clock': { secret, args: [String(now), sign([secret], 'spec', now)], body },
  'during a rotation’s overlap, new secret': {
    ...withHeaders(at, sign([next, secret])),
    secret: next,
  },
  'during a rotation’s overlap, old secret': withHeaders(at, sign([next, secret])),
  'during a rotation’s overlap, both profiles, old secret': withHeaders(
    at,
    sign([next, secret], 'both'),
  ),
  '300 s old': signed(String(timestamp - 300)),
  '300 s ahead': signed(String(timestamp + 300)),
  'bytes that are not UTF-8': signed(at, new Uint8Array([0xff, 0xfe, 0x00, 0x0d, 0x0a])),
  'multi-byte characters and a line break': signed(at, '{"name":"Zoë"}\r\n'),
}

const bad: Record<string, Delivery> = {
  'one byte changed': { ...withHeaders(at, spec), body: body.replace('4', '5') },
  'one byte added': { ...withHeaders(at, spec), body: `${body}\n` },
  'parsed and serialized again': {
    ...withHeaders(at, spec),
    body: JSON.stringify(JSON.parse(body)),
  },
  'another endpoint’s secret': { ...withHeaders(at, spec), secret: next },
  'only the Standard Webhooks signature': withHeaders(at, standard),
  'a timestamp that was not signed': withHeaders(String(timestamp + 1), spec),
  '301 s old': signed(String(timestamp - 301)),
  '301 s ahead': signed(String(timestamp + 301)),
  'old by the system clock': { secret, args: [at, spec], body },
  'no headers': { secret, args: [], body },
  'no signature': { secret, args: [at], body },
  'an empty timestamp': signed(''),
  'an empty signature': withHeaders(at, ''),
  'a timestamp that is not a number': signed('NaN'),
  'a timestamp with an exponent': signed('1.614265330e9'),
  'a timestamp with a line break': signed(`${at}\n`),
  'a timestamp in non-ASCII digits': signed('１６１４２６５３３０'),
  'a signature without its version': withHeaders(at, spec.replace('v1,', '')),
  'a signature of another version': withHeaders(at, spec.replace('v1', 'v2')),
  'a truncated signature': withHeaders(at, spec.slice(0, -1)),
  'a signature with a multi-byte character': withHeaders(at, `${spec.slice(0, -1)}ë`),
  'an empty secret, signed with an empty secret': { ...signed(at, body, ''), secret: '' },
}

t.test('the page shows the programs unchanged', async (t) => {
  const page = await readPage('docs/verifying-webhooks.md')
  for (const { file, fence } of languages) {
    const program = await readPage(`docs/verifying-webhooks/${file}`)
    t.strictSame(codeBlocks(page, fence), [program], file)
  }
})

for (const language of languages) {
  const { name, interpreter } = language
  const skip = interpreter === null && `${name} is not installed on this machine`
  t.test(`${name} accepts genuine deliveries and rejects all others`, { skip }, async (t) => {
    const command = await commandOf(t, language)
    for (const [what, delivery] of Object.entries(good)) {
      t.strictSame(await verify(command, delivery), { output: 'good\n', status: 0 }, what)
    }
    for (const [what, delivery] of Object.entries(bad)) {
      t.strictSame(await verify(command, delivery), { output: 'bad\n', status: 1 }, what)
    }
    const unset = { args: signed(at, body, '').args, body }
    t.notMatch((await verify(command, unset)).output, 'good', 'no secret')
  })
}
