import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import {
  newEndpointSecret,
  type SignatureProfile,
  signDelivery,
} from '#src/webhooks/signing/signature.ts'

// Contract 7, test vectors.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const timestamp = 1614265330
const body = '{"test": 2432232314}'
const spec = 'v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ='
const standard = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

const sign = (profile: SignatureProfile, secrets: readonly string[] = [secret]) =>
  signDelivery({ profile, secrets, id, timestamp, body })

t.test('the test vectors of the contract', async (t) => {
  t.equal(sign('spec'), spec)
  t.equal(sign('standard'), standard)
  t.equal(sign('both'), `${spec} ${standard}`)
})

t.test('during a rotation the previous secret signs too, after the new one', async (t) => {
  const next = newEndpointSecret()
  const [nextSpec, nextStandard] = [sign('spec', [next]), sign('standard', [next])]
  t.equal(sign('spec', [next, secret]), `${nextSpec} ${spec}`)
  t.equal(sign('standard', [next, secret]), `${nextStandard} ${standard}`)
  t.equal(sign('both', [next, secret]), `${nextSpec} ${spec} ${nextStandard} ${standard}`)
})

t.test('a secret is whsec_ and 32 random bytes in base64', async (t) => {
  const secrets = Array.from({ length: 100 }, newEndpointSecret)
  t.equal(new Set(secrets).size, secrets.length)
  for (const one of secrets) {
    t.match(one, /^whsec_[A-Za-z0-9+/]{43}=$/)
    t.equal(Buffer.from(one.slice('whsec_'.length), 'base64').length, 32)
  }
})

/** A receiver written from the text of the specification. */
function verifiesSpec(header: string, key: string, at: number, text: string): boolean {
  const hmac = createHmac('sha256', Buffer.from(key, 'utf8'))
  hmac.update(Buffer.concat([Buffer.from(`${at}.`), Buffer.from(text, 'utf8')]))
  return header.split(' ').includes(`v1,${hmac.digest('base64')}`)
}

const bodies = fc.oneof(fc.json(), fc.string({ unit: 'grapheme' }))

t.test('an independent receiver verifies profile spec', async () => {
  fc.assert(
    fc.property(bodies, fc.integer({ min: 0, max: 2 ** 40 }), (text, at) => {
      const [own, other] = [newEndpointSecret(), newEndpointSecret()]
      const header = signDelivery({
        profile: 'spec',
        secrets: [own],
        id,
        timestamp: at,
        body: text,
      })
      return (
        verifiesSpec(header, own, at, text) &&
        !verifiesSpec(header, other, at, text) &&
        !verifiesSpec(header, own, at + 1, text) &&
        !verifiesSpec(header, own, at, `${text} `)
      )
    }),
  )
})

t.test(
  'the official library verifies profiles standard and both, with either secret',
  async (t) => {
    const now = Math.floor(Date.now() / 1000) // the library reads the machine's clock
    const [next, old] = [newEndpointSecret(), newEndpointSecret()]
    const payload = { id, type: 'order.updated', data: { name: 'Zoë' } }
    const text = JSON.stringify(payload)
    const headersFor = (profile: SignatureProfile, secrets: readonly string[]) => ({
      'webhook-id': id,
      'webhook-timestamp': String(now),
      'webhook-signature': signDelivery({ profile, secrets, id, timestamp: now, body: text }),
    })
    for (const profile of ['standard', 'both'] as const) {
      for (const key of [next, old]) {
        t.same(new Webhook(key).verify(text, headersFor(profile, [next, old])), payload, profile)
      }
      t.throws(() => new Webhook(old).verify(text, headersFor(profile, [next])), profile)
      t.throws(() => new Webhook(next).verify(`${text} `, headersFor(profile, [next])), profile)
    }
    t.throws(() => new Webhook(next).verify(text, headersFor('spec', [next])), 'spec differs')
  },
)
