import { createHmac, timingSafeEqual } from 'node:crypto'

/** Whether the body has a signature of its time and bytes by this secret, as bench/load.ts makes it. */
export function isSigned(header: unknown, body: Buffer, secret: string): boolean {
  const [, time = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(header)) ?? []
  const digest = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
  const given = Buffer.from(signature, 'hex')
  return given.length === digest.length && timingSafeEqual(digest, given)
}
