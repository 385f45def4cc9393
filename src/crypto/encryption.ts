import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** A key of setting `ENCRYPTION_KEYS`: 32 bytes. Every envelope contains the id of its key. */
export type EncryptionKey = { id: string; secret: Uint8Array }

/** The first key encrypts; every key can decrypt. */
export type EncryptionKeys = readonly [EncryptionKey, ...EncryptionKey[]]

/**
 * Associated data that binds a sealed text to its row and column, for example provider, subject and
 * purpose. It is not part of the envelope; `unseal` fails if it differs.
 */
export type Binding = readonly [string, ...string[]]

/**
 * `malformed`: not an envelope; `unknown-key`: its key is not configured; `not-authentic`: the text
 * or its binding was changed.
 */
export type UnsealFault = 'malformed' | 'unknown-key' | 'not-authentic'

/** A sealed text cannot be decrypted. The message contains the key id and no part of the text. */
export class UnsealError extends Error {
  readonly fault: UnsealFault

  constructor(fault: UnsealFault, keyId: string | null) {
    super(keyId === null ? `sealed text: ${fault}` : `sealed text: ${fault} (key ${keyId})`)
    this.name = 'UnsealError'
    this.fault = fault
  }
}

// Envelope: version, length of the key id, key id, nonce, ciphertext, tag.
const version = 1
const nonceBytes = 12 // 96 bits, NIST SP 800-38D 8.2
const tagBytes = 16
const algorithm = 'aes-256-gcm'

/** Encrypts with AES-256-GCM under the first key and a random nonce. */
export function seal(keys: EncryptionKeys, text: string, binding: Binding): Buffer {
  const [{ secret }] = keys
  const header = sealHeader(keys)
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, secret, nonce, { authTagLength: tagBytes })
  cipher.setAAD(associatedData(header, binding))
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([header, nonce, ciphertext, cipher.getAuthTag()])
}

/** Decrypts an envelope. @throws UnsealError */
export function unseal(keys: EncryptionKeys, sealed: Uint8Array, binding: Binding): string {
  const envelope = Buffer.from(sealed)
  const keyId = keyIdOf(envelope)
  if (keyId === null) throw new UnsealError('malformed', null)
  const key = keys.find(({ id }) => id === keyId)
  if (key === undefined) throw new UnsealError('unknown-key', keyId)
  const header = headerOf(keyId)
  const body = envelope.subarray(header.length)
  const nonce = body.subarray(0, nonceBytes)
  const decipher = createDecipheriv(algorithm, key.secret, nonce, { authTagLength: tagBytes })
  decipher.setAAD(associatedData(header, binding))
  decipher.setAuthTag(body.subarray(-tagBytes))
  try {
    const text = decipher.update(body.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    throw new UnsealError('not-authentic', keyId)
  }
}

/** The first bytes of every envelope of the first key; other envelopes belong to older keys. */
export function sealHeader([{ id }]: EncryptionKeys): Buffer {
  return headerOf(id)
}

/** The id of the key of an envelope; null if the bytes are not an envelope. */
export function keyIdOf(sealed: Uint8Array): string | null {
  const [first, idLength = 0] = sealed
  const isWhole = sealed.length >= 2 + idLength + nonceBytes + tagBytes
  if (first !== version || idLength === 0 || !isWhole) return null
  return Buffer.from(sealed.subarray(2, 2 + idLength)).toString('latin1')
}

function headerOf(keyId: string): Buffer {
  const id = Buffer.from(keyId, 'latin1')
  return Buffer.concat([Buffer.from([version, id.length]), id])
}

/** Each part is preceded by its length, so that different bindings never give the same bytes. */
function associatedData(header: Buffer, binding: Binding): Buffer {
  const parts = binding.flatMap((part) => {
    const bytes = Buffer.from(part, 'utf8')
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat([header, ...parts])
}
