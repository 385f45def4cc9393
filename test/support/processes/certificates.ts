import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** A certificate and its key, as options of `tls.createServer`. */
export type Certified = { cert: string; key: string }

export type Authority = {
  cert: string
  certify(claims: Claims): Certified
}

type Claims = {
  names?: readonly string[]
  addresses?: readonly string[]
  from?: Date
  until?: Date
}

const year = 365 * 24 * 60 * 60 * 1_000
const oids = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
}

/** A certificate authority for tests (X.509 v3 over P-256). */
export function createAuthority(name: string): Authority {
  const keys = newKeys()
  const isAuthority = extension(oids.basicConstraints, sequence(tlv(0x01, Buffer.from([0xff]))))
  const own = { issuer: name, subject: name, publicKey: keys.publicKey, extensions: [isAuthority] }
  return {
    cert: certificate(own, keys.privateKey, {}),
    certify(claims) {
      const { publicKey, privateKey } = newKeys()
      const body = { issuer: name, subject: 'endpoint', publicKey, extensions: [altNames(claims)] }
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
      return { key, cert: certificate(body, keys.privateKey, claims) }
    },
  }
}

/** A self-signed certificate. */
export function selfSigned(claims: Claims): Certified {
  const { publicKey, privateKey } = newKeys()
  const body = { issuer: 'self', subject: 'self', publicKey, extensions: [altNames(claims)] }
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { key, cert: certificate(body, privateKey, claims) }
}

type Body = { issuer: string; subject: string; publicKey: KeyObject; extensions: Buffer[] }

function certificate(body: Body, signer: KeyObject, { from, until }: Claims): string {
  const algorithm = sequence(oid(oids.ecdsaWithSha256))
  const content = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))), // version 3
    tlv(0x02, Buffer.from([1])),
    algorithm,
    distinguishedName(body.issuer),
    sequence(time(from ?? new Date(Date.now() - year)), time(until ?? new Date(Date.now() + year))),
    distinguishedName(body.subject),
    body.publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...body.extensions)),
  )
  const whole = sequence(content, algorithm, bitString(sign('sha256', content, signer)))
  return `-----BEGIN CERTIFICATE-----\n${whole.toString('base64')}\n-----END CERTIFICATE-----\n`
}

function altNames({ names = [], addresses = [] }: Claims): Buffer {
  const dns = names.map((name) => tlv(0x82, Buffer.from(name)))
  const ip = addresses.map((address) => tlv(0x87, Buffer.from(address.split('.').map(Number))))
  return extension(oids.subjectAltName, sequence(...dns, ...ip))
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const sequence = (...parts: Buffer[]) => tlv(0x30, ...parts)
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'))
const bitString = (bytes: Buffer) => tlv(0x03, Buffer.from([0]), bytes)
const extension = (id: string, value: Buffer) => sequence(oid(id), tlv(0x04, value))
const time = (date: Date) => tlv(0x18, Buffer.from(date.toISOString().replace(/\.\d+|[-:T]/g, '')))
const distinguishedName = (name: string) =>
  sequence(tlv(0x31, sequence(oid(oids.commonName), tlv(0x0c, Buffer.from(name)))))

/** DER: a tag, the length in as few bytes as possible, and the content. */
function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...sizeOf(content.length)]), content])
}

function sizeOf(length: number): number[] {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}
