import { randomBytes } from 'node:crypto'
import t from 'tap'
import {
  type Binding,
  type EncryptionKeys,
  keyIdOf,
  seal,
  sealHeader,
  UnsealError,
  unseal,
} from '#src/crypto/encryption.ts'

const key = (id: string) => ({ id, secret: randomBytes(32) })
const first = key('2026-11')
const second = key('k2')
const keys: EncryptionKeys = [first]
const binding: Binding = ['provider-token', 'acme', 'subject-1', 'refresh_token']
const text = 'a refresh token – with every kind of character \u{1F511}'

/** The fault of `unseal`; null if it succeeds. */
function faultOf(ring: EncryptionKeys, sealed: Uint8Array, bound: Binding): string | null {
  try {
    unseal(ring, sealed, bound)
    return null
  } catch (error) {
    if (error instanceof UnsealError) return error.fault
    throw error
  }
}

t.test('an envelope can be unsealed; it shows the key id and nothing of the text', async (t) => {
  const sealed = seal(keys, text, binding)
  t.equal(unseal(keys, sealed, binding), text)
  t.equal(keyIdOf(sealed), first.id)
  t.notOk(sealed.includes(text.slice(0, 8)))
  t.ok(sealed.subarray(0, 9).equals(sealHeader(keys)))
  t.equal(unseal(keys, seal(keys, '', binding), binding), '')
})

t.test('every envelope has its own nonce', async (t) => {
  const nonces = Array.from({ length: 1000 }, () =>
    seal(keys, text, binding).subarray(9, 21).toString('hex'),
  )
  t.equal(new Set(nonces).size, 1000)
})

t.test('a change of any byte is detected', async (t) => {
  const sealed = seal(keys, text, binding)
  for (let position = 0; position < sealed.length; position += 1) {
    for (const mask of [0x01, 0x80]) {
      const changed = Buffer.from(sealed)
      changed[position] = (changed[position] ?? 0) ^ mask
      t.not(faultOf(keys, changed, binding), null, `byte ${position} ^ ${mask}`)
    }
  }
  for (let length = 0; length < sealed.length; length += 1) {
    t.not(faultOf(keys, sealed.subarray(0, length), binding), null, `cut to ${length}`)
  }
  t.equal(faultOf(keys, Buffer.concat([sealed, Buffer.from([0])]), binding), 'not-authentic')
})

t.test('an envelope moved to another row, identity or purpose cannot be unsealed', async (t) => {
  const sealed = seal(keys, text, binding)
  const others: Binding[] = [
    ['provider-token', 'other', 'subject-1', 'refresh_token'],
    ['provider-token', 'acme', 'subject-2', 'refresh_token'],
    ['provider-token', 'acme', 'subject-1', 'access_token'],
    ['webhook-secret', 'acme', 'subject-1', 'refresh_token'],
    ['provider-token', 'acmes', 'ubject-1', 'refresh_token'],
    ['provider-token', 'acme', 'subject-1refresh_token'],
    ['provider-token', 'acme', 'subject-1', 'refresh_token', ''],
    ['provider-token'],
  ]
  for (const other of others) t.equal(faultOf(keys, sealed, other), 'not-authentic', String(other))
})

t.test('rotation: the first key seals, every configured key unseals', async (t) => {
  const old = seal([first], text, binding)
  const ring: EncryptionKeys = [second, first]
  t.equal(unseal(ring, old, binding), text)
  t.equal(keyIdOf(seal(ring, text, binding)), second.id)
  t.equal(faultOf([second], old, binding), 'unknown-key')
  const impostor = { ...second, id: first.id }
  t.equal(faultOf([impostor], old, binding), 'not-authentic', 'a wrong key with the right id')
  const renamed = Buffer.concat([sealHeader([second]), old.subarray(sealHeader([first]).length)])
  t.equal(faultOf(ring, renamed, binding), 'not-authentic', 'another key id in the envelope')
  t.equal(faultOf([{ ...first, id: 'k2' }], renamed, binding), 'not-authentic')
})

t.test('other bytes are malformed, and no error contains a text', async (t) => {
  for (const bytes of [[], [1], [1, 0], [2, 1, 65], [1, 200, 65], Array(64).fill(0)]) {
    t.equal(faultOf(keys, Buffer.from(bytes), binding), 'malformed')
  }
  const sealed = seal([second], text, binding)
  try {
    unseal(keys, sealed, binding)
    t.fail('opened')
  } catch (error) {
    t.match(error, { message: 'sealed text: unknown-key (key k2)' })
    t.notMatch(JSON.stringify(error), /refresh/)
  }
})
