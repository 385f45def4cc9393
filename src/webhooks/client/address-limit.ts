import { isIPv6 } from 'node:net'
import { createKeyedCounts } from '#src/runtime/keyed-limit.ts'
import { PostponedError } from './errors.ts'

/** Runs `attempt` if every address has room for one more. @throws PostponedError `address-busy` */
export type AddressLimit = <T>(
  addresses: readonly string[],
  tenantId: string | null,
  attempt: () => Promise<T>,
) => Promise<T>

/**
 * Limits the attempts in progress at one address, over all tenants and names. Tenants do not prove that
 * a URL is theirs, so many endpoints may point at one victim. An attempt counts for every address that
 * it may connect to. An IPv6 address stands for its /64 prefix, the size of one subscriber's network.
 *
 * Thousands of receivers share the address of a content delivery network. A tenant with attempts in progress
 * begins another only while more are free, so one tenant gets at most half, and n tenants 1/(n + 1) each.
 */
export function createAddressLimit(perAddress: number): AddressLimit {
  const ofAll = createKeyedCounts()
  const ofTenants = createKeyedCounts()

  /** @throws PostponedError if the address has no room for the tenant */
  function requireRoom(network: string, tenantId: string | null): void {
    const free = perAddress - ofAll.count(network)
    const own = tenantId === null ? 0 : ofTenants.count(keyOf(network, tenantId))
    if (free > own) return
    const whose = free > 0 ? 'of the tenant ' : ''
    const count = free > 0 ? own : perAddress
    throw new PostponedError(
      'address-busy',
      `${count} attempts ${whose}at ${network} are in progress`,
    )
  }

  return async function limitAddresses(addresses, tenantId, attempt) {
    const networks = [...new Set(addresses.map(networkOf))]
    for (const network of networks) requireRoom(network, tenantId)
    const own = tenantId === null ? [] : networks.map((network) => keyOf(network, tenantId))
    ofAll.add(networks)
    ofTenants.add(own)
    try {
      return await attempt()
    } finally {
      ofAll.remove(networks)
      ofTenants.remove(own)
    }
  }
}

const keyOf = (network: string, tenantId: string) => `${tenantId} ${network}`

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
