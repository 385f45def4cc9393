import { BlockList, isIP } from 'node:net'
import { list } from './parse.ts'

/** Names that Fastify knows for ranges of private addresses, and what they mean there. */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

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
    if (Object.hasOwn(namedRanges, range)) continue
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

/** Whether an address is that of a trusted proxy. @param ranges a valid `TRUST_PROXY` */
export function proxyList(ranges: readonly string[]): (address: string) => boolean {
  const known = new BlockList()
  for (const range of ranges.flatMap((one) => namedRanges[one] ?? [one])) {
    const [address = '', prefix] = range.split('/')
    const family = familyOf(address)
    if (prefix === undefined) known.addAddress(address, family)
    else known.addSubnet(address, Number(prefix), family)
  }
  return (address) => known.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
