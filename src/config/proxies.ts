import { isIP } from 'node:net'
import { list } from './parse.ts'

/** Names that Fastify knows for ranges of private addresses. */
const namedRanges = ['loopback', 'linklocal', 'uniquelocal']

/** Bits of a prefix: a shorter one is refused, or only reported. */
const limits = {
  4: { bits: 32, refused: 8, broad: 16 },
  6: { bits: 128, refused: 7, broad: 48 }, // fc00::/7 is all private addresses
} as const

/**
 * Reads `TRUST_PROXY`: addresses, CIDR ranges and `loopback`, `linklocal`, `uniquelocal`. A range of
 * almost everyone is a fault, because every client could then forge its address and so avoid all
 * limits per address; of a broad range only a warning tells.
 */
export function readTrustProxy(text: string, faults: string[], warnings: string[]): string[] {
  const ranges = list(text)
  for (const range of ranges) {
    if (namedRanges.includes(range)) continue
    const limit = limitOf(range)
    if (limit === null) {
      faults.push(`TRUST_PROXY: ${range} is neither an address nor a range such as 10.0.1.0/24.`)
    } else if (limit.prefix < limit.refused) {
      faults.push(
        `TRUST_PROXY: ${range} would let almost any client forge its address. List the addresses of your proxies.`,
      )
    } else if (limit.prefix < limit.broad) {
      warnings.push(
        `TRUST_PROXY: ${range} is a broad range, and every client in it can forge its address. List only the addresses of your proxies.`,
      )
    }
  }
  return ranges
}

/** The prefix of a range and the limits of its family; null if it has no valid form. */
function limitOf(range: string) {
  const [address = '', prefix, ...rest] = range.split('/')
  const family = isIP(address)
  if (rest.length > 0 || (family !== 4 && family !== 6)) return null
  const limit = limits[family]
  if (prefix === undefined) return { ...limit, prefix: limit.bits }
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > limit.bits) return null
  return { ...limit, prefix: Number(prefix) }
}
