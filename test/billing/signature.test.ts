import fc from 'fast-check'
import t from 'tap'
import { signatureHeader, type Verdict, verifySignature } from '#src/billing/signature.ts'

// Contract 5, test vector.
const secret = 'whsec_test_secret'
const at = 1614265330
const text = '{"id":"evt_1","type":"charge.succeeded"}'
const body = Buffer.from(text)
const hex = 'a77f58ed88dac6c2cb9d24f149d7424c41f234b3beb04e25d9492b330816350e'
const good = `t=${at},v1=${hex}`
const wrong = 'ab'.repeat(32)

const bad = { ok: false, fault: 'bad signature' } as const satisfies Verdict
const late = { ok: false, fault: 'timestamp outside tolerance' } as const satisfies Verdict
const verify = (header: string, bytes: Uint8Array = body, now = at, secrets = [secret]) =>
  verifySignature(header, bytes, secrets, now)

t.test('the test vector of the contract', async (t) => {
  t.strictSame(verify(good), { ok: true, timestamp: at, secretIndex: 0 })
  t.equal(signatureHeader(secret, text, at), good)
})

t.test('the header is split on `,`, then `=`; missing `t` or `v1` means reject', async (t) => {
  const many = (count: number) => Array.from({ length: count }, () => `v1=${wrong}`).join()
  const accepted: [string, string][] = [
    ['upper-case hex', `t=${at},v1=${hex.toUpperCase()}`],
    ['the other order', `v1=${hex},t=${at}`],
    ['unknown keys', `v0=abc,t=${at},T=9,V1=x,v2=,x=a=b,v1=${hex}`],
    ['a name of every object', `__proto__=x,constructor=y,t=${at},v1=${hex}`],
    ['several v1, the first good', `t=${at},v1=${hex},v1=${wrong}`],
    ['several v1, the last good', `t=${at},v1=${wrong},v1=${hex}`],
    ['eight v1', `t=${at},${many(7)},v1=${hex}`],
  ]
  for (const [name, header] of accepted) t.match(verify(header), { ok: true }, name)
  const refused: [string, string][] = [
    ['empty', ''],
    ['no t', `v1=${hex}`],
    ['no v1', `t=${at}`],
    ['t twice', `t=${at},t=${at},v1=${hex}`],
    ['t twice, differently', `t=${at},t=1,v1=${hex}`],
    ['an unreadable t beside a good one', `t=x,t=${at},v1=${hex}`],
    ['nine v1', `t=${at},${many(8)},v1=${hex}`],
    ['a part without =', `t=${at},v1=${hex},x`],
    ['a comma too many', `${good},`],
    ['two commas', `t=${at},,v1=${hex}`],
    ['a semicolon', `t=${at};v1=${hex}`],
    ['an empty t', `t=,v1=${hex}`],
    ['an empty v1', `t=${at},v1=`],
    ['a colon', `t:${at},v1:${hex}`],
    ['another scheme only', `t=${at},v0=${hex}`],
    ['upper-case keys', `T=${at},V1=${hex}`],
    ['a blank after the comma', `t=${at}, v1=${hex}`],
    ['a blank in front', ` ${good}`],
    ['a blank at the end', `${good} `],
    ['a blank around =', `t=${at},v1 = ${hex}`],
    ['a tab', `t=${at}\t,v1=${hex}`],
    ['a no-break space', `t=${at},v1=${hex}\u00a0`],
    ['a line feed', `${good}\n`],
    ['the header twice', `${good}, ${good}`],
    ['the header twice, joined without a blank', `${good},${good}`],
    ['garbage after the hex', `t=${at},v1=${hex}zz`],
    ['garbage in front of the hex', `t=${at},v1=0x${hex}`],
    ['a digit short', `t=${at},v1=${hex.slice(1)}`],
    ['a digit more', `t=${at},v1=${hex}0`],
    ['a byte short', `t=${at},v1=${hex.slice(2)}`],
    ['no hex', `t=${at},v1=${'g'.repeat(64)}`],
    ['an unreadable v1 beside a good one', `t=${at},v1=xyz,v1=${hex}`],
    ['base64', `t=${at},v1=${Buffer.from(hex, 'hex').toString('base64')}`],
    ['quoted', `t="${at}",v1="${hex}"`],
    ['= twice', `t=${at}=,v1=${hex}`],
    ['another digest', `t=${at},v1=${wrong}`],
  ]
  for (const [name, header] of refused) t.strictSame(verify(header), bad, name)
})

t.test('`t` is decimal digits, and is signed as sent', async (t) => {
  const times = [
    '1e9',
    '+1614265330',
    '-1',
    '0x60',
    '1614265330.0',
    '1_614_265_330',
    '١٦',
    ' 1',
    '',
  ]
  for (const time of [...times, '9'.repeat(16)]) {
    const header = await sign(secret, time, body)
    t.strictSame(verify(header), bad, `${JSON.stringify(time)}, although correctly signed`)
  }
  t.match(verify(await sign(secret, `0${at}`, body)), { ok: true, timestamp: at })
  t.strictSame(verify(`t=0${at},v1=${hex}`), bad, 'another spelling was not signed')
  t.strictSame(verify(`t=${at + 1},v1=${hex}`), bad, 'another time was not signed')
})

t.test('|now − t| ≤ 300 seconds is inside the tolerance, more is outside', async (t) => {
  for (const offset of [-300, -299, -1, 0, 1, 299, 300]) {
    t.match(verify(good, body, at + offset), { ok: true }, `now = t + ${offset}`)
  }
  for (const offset of [-86_400, -301, 301, 86_400]) {
    t.strictSame(verify(good, body, at + offset), late, `now = t + ${offset}`)
  }
  t.strictSame(verify(await sign(secret, '0', body)), late)
  t.strictSame(verify(await sign(secret, '9'.repeat(15), body)), late)
  t.strictSame(verify(`t=0,v1=${wrong}`), bad, 'the signature is checked before the time')
})

t.test('every configured secret verifies, in any order', async (t) => {
  const secrets = ['a new secret of ours', secret, 'ключ — “ñ”']
  for (const [secretIndex, key] of secrets.entries()) {
    const header = await sign(key, String(at), body)
    t.match(verify(header, body, at, secrets), { ok: true, secretIndex }, key)
  }
  const foreign = await sign('another secret', String(at), body)
  t.strictSame(verify(foreign, body, at, secrets), bad)
  t.strictSame(verify(good, body, at, []), bad, 'without a secret nothing verifies')
})

t.test('the bytes are hashed as received', async (t) => {
  const bodies: [string, Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x80, 0x7d])],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['NUL', Buffer.from('{"id":"\0"}')],
    ['CR LF', Buffer.from('{\r\n}\r\n')],
    ['a megabyte', Buffer.alloc(1_048_576, 'x')],
  ]
  for (const [name, bytes] of bodies) {
    const header = await sign(secret, String(at), bytes)
    t.match(verify(header, bytes), { ok: true }, name)
    t.strictSame(
      verify(header, Buffer.concat([bytes, Buffer.from([0])])),
      bad,
      'with one more byte',
    )
  }
  const spaced = Buffer.from('{ "id": "evt_1",\n"type": "charge.succeeded" }')
  const header = await sign(secret, String(at), spaced)
  const again = Buffer.from(JSON.stringify(JSON.parse(spaced.toString())))
  t.match(verify(header, spaced), { ok: true })
  t.strictSame(verify(header, again), bad, 'a re-serialized body does not verify')
})

t.test('agrees with an independent implementation', async () => {
  const key = fc.constantFrom('s', 'whsec_test_secret', 'another one')
  const part = fc.oneof(
    fc.constantFrom('t', 'T=1', 'v1=', '', 'x=1', ' t=1', 'v1=zz', `v1=${wrong}`, 't=5', '=', 'v1'),
    fc.string({ maxLength: 6 }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        signer: key,
        secrets: fc.uniqueArray(key, { maxLength: 3 }),
        time: fc.oneof(fc.integer({ min: at - 303, max: at + 303 }), fc.constant(at)),
        bytes: fc.uint8Array({ maxLength: 40 }),
        extra: fc.array(part, { maxLength: 3 }),
        order: fc.nat(),
        flip: fc.option(fc.nat(63), { freq: 4 }),
        upper: fc.boolean(),
      }),
      async ({ signer, secrets, time, bytes, extra, order, flip, upper }) => {
        const signed = await sign(signer, String(time), bytes)
        const [first = '', second = ''] = signed.split(',')
        const digits = [...second.slice(3)]
        if (flip !== null) digits[flip] = digits[flip] === '0' ? '1' : '0'
        const value = upper ? digits.join('').toUpperCase() : digits.join('')
        const parts = [first, `v1=${value}`, ...extra]
        const turn = order % parts.length
        const header = [...parts.slice(turn), ...parts.slice(0, turn)].join(',')
        const verdict = verifySignature(header, bytes, secrets, at)
        const expected = await reference(header, bytes, secrets, at)
        if ((verdict.ok ? 'ok' : verdict.fault) !== expected) {
          throw new Error(`${JSON.stringify(header)}: ${JSON.stringify(verdict)}, not ${expected}`)
        }
      },
    ),
    { numRuns: 500 },
  )
})

/** The same rules in another implementation: one regular expression and WebCrypto. */
async function reference(header: string, bytes: Uint8Array, secrets: string[], now: number) {
  const grammar = /^(?:[^\s,=]*=[^\s,]*)(?:,[^\s,=]*=[^\s,]*)*$/
  const values = (name: string) =>
    [...header.matchAll(new RegExp(`(?:^|,)${name}=([^,]*)`, 'g'))].map(([, value]) => value ?? '')
  const [times, digests] = [values('t'), values('v1')]
  const [time = ''] = times
  if (!grammar.test(header) || times.length !== 1 || !/^[0-9]{1,15}$/.test(time)) return bad.fault
  if (digests.length === 0 || digests.length > 8) return bad.fault
  if (digests.some((digest) => !/^[0-9a-f]{64}$/i.test(digest))) return bad.fault
  const content = Buffer.concat([Buffer.from(`${time}.`), bytes])
  for (const key of secrets) {
    for (const digest of digests) {
      const signature = Uint8Array.from(digest.match(/../g) ?? [], (byte) =>
        Number.parseInt(byte, 16),
      )
      if (await crypto.subtle.verify('HMAC', await importKey(key), signature, content)) {
        return now - Number(time) > 300 || Number(time) - now > 300 ? late.fault : 'ok'
      }
    }
  }
  return bad.fault
}

async function sign(key: string, time: string, bytes: Uint8Array): Promise<string> {
  const content = Buffer.concat([Buffer.from(`${time}.`), bytes])
  const digest = await crypto.subtle.sign('HMAC', await importKey(key), content)
  return `t=${time},v1=${Buffer.from(digest).toString('hex')}`
}

function importKey(key: string) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  return crypto.subtle.importKey('raw', Buffer.from(key), algorithm, false, ['sign', 'verify'])
}
