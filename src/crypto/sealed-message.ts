import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'

/** A raw X25519 public key (RFC 7748) in base64url. */
export const publicKeyPattern = '^[A-Za-z0-9_-]{43}$'

const publicKeyBytes = 32
const tagBytes = 16
const algorithm = 'aes-256-gcm'
const purpose = 'gatehouse sealed message 1'

/** A key pair of a receiver who needs it once. */
export function createReceiver(): { publicKey: string; privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  return { publicKey: rawOf(publicKey), privateKey }
}

/**
 * Encrypts a text so that only the receiver can read it: a key agreement with a new key (ECIES with
 * X25519, HKDF-SHA256 and AES-256-GCM). The key is used once, so the nonce is constant.
 * @param receiver matches `publicKeyPattern`
 * @returns base64url
 */
export function sealMessage(receiver: string, text: string): string {
  const sender = createReceiver()
  const key = agree(sender.privateKey, receiver, sender.publicKey, receiver)
  const cipher = createCipheriv(algorithm, key, Buffer.alloc(12), { authTagLength: tagBytes })
  const parts = [Buffer.from(sender.publicKey, 'base64url'), cipher.update(text), cipher.final()]
  return Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64url')
}

/** Whether a message can be sealed for a key: some points of the curve agree on no secret (RFC 7748, 6.1). */
export function isReceiver(publicKey: string): boolean {
  try {
    sealMessage(publicKey, '')
    return true
  } catch {
    return false
  }
}

/** @returns null unless the text was sealed for this receiver */
export function openMessage(
  { publicKey, privateKey }: ReturnType<typeof createReceiver>,
  sealed: string,
): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < publicKeyBytes + tagBytes) return null
  try {
    const sender = bytes.subarray(0, publicKeyBytes).toString('base64url')
    const key = agree(privateKey, sender, sender, publicKey)
    const decipher = createDecipheriv(algorithm, key, Buffer.alloc(12), { authTagLength: tagBytes })
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    const text = decipher.update(bytes.subarray(publicKeyBytes, -tagBytes))
    return Buffer.concat([text, decipher.final()]).toString()
  } catch {
    return null
  }
}

/** The key of one message: of the agreed secret and both public keys. */
function agree(own: KeyObject, other: string, sender: string, receiver: string): Buffer {
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: other },
    format: 'jwk',
  })
  const secret = diffieHellman({ privateKey: own, publicKey })
  return Buffer.from(hkdfSync('sha256', secret, '', `${purpose} ${sender} ${receiver}`, 32))
}

function rawOf(key: KeyObject): string {
  return key.export({ format: 'jwk' }).x ?? ''
}
