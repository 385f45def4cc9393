import { createHmac, timingSafeEqual } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const toleranceSeconds = 300

/**
 * Reports whether a delivery is authentic and recent.
 * @param {string | undefined} secret the endpoint's secret as shown: whsec_…
 * @param {string | undefined} timestamp the header webhook-timestamp
 * @param {string | undefined} signature the header webhook-signature
 * @param {Uint8Array} body the raw bytes, before any parsing
 * @param {number} now Unix seconds
 */
export function verify(secret, timestamp, signature, body, now = Math.floor(Date.now() / 1000)) {
  if (!secret || !signature || !/^[0-9]{1,12}$/.test(timestamp ?? '')) return false
  if (Math.abs(now - Number(timestamp)) > toleranceSeconds) return false
  const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('base64')
  const expected = Buffer.from(`v1,${digest}`)
  return signature.split(' ').some((one) => {
    const given = Buffer.from(one)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

// WEBHOOK_SECRET=whsec_… node verify.mjs TIMESTAMP SIGNATURE [NOW] < body
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [timestamp, signature, now] = process.argv.slice(2)
  const body = await buffer(process.stdin)
  const good = verify(process.env.WEBHOOK_SECRET, timestamp, signature, body, now && Number(now))
  process.stdout.write(good ? 'good\n' : 'bad\n')
  process.exitCode = good ? 0 : 1
}
