import { isIPv6 } from 'node:net'
import { createKeyedLimit } from '#src/runtime/keyed-limit.ts'
import { PostponedError } from './errors.ts'

/** Runs `attempt` if every address has room for one more. @throws PostponedError `address-busy` */
export type AddressLimit = <T>(
  addresses: readonly string[],
  attempt: () => Promise<T>,
) => Promise<T>

/**
 * Limits the attempts in progress at one address, over all tenants and names. Tenants do not prove that
 * a URL is theirs, so many endpoints may point at one victim. An attempt counts for every address that
 * it may connect to. An IPv6 address stands for its /64 prefix, the size of one subscriber's network.
 */
export function createAddressLimit(perAddress: number): AddressLimit {
  const limit = createKeyedLimit(perAddress)

  return async function limitAddresses(addresses, attempt) {
    const networks = new Set(addresses.map(networkOf))
    const full = limit.enter(networks)
    if (full !== null) {
      const detail = `${perAddress} attempts at ${full} are in progress`
      throw new PostponedError('address-busy', detail)
    }
    try {
      return await attempt()
    } finally {
      limit.leave(networks)
    }
  }
}

/** The first four groups of an IPv6 address; an IPv4 address as it is. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  // `::` is the only part that may be left out, and a dotted end is never in the first four groups.
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  if (tail === undefined) return first.slice(0, 4).join(':')
  const last = tail === '' ? [] : tail.split(':')
  const missing = Array(Math.max(8 - first.length - last.length, 0)).fill('0')
  return [...first, ...missing, ...last].slice(0, 4).join(':')
}
