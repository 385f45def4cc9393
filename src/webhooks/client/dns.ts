import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createResolve, type Resolve, within } from '#src/outbound/resolve.ts'
import { AttemptError } from './errors.ts'
import { refusedRange } from './ip-ranges.ts'
import { hostOf, isExempt } from './url.ts'

/** The addresses an attempt may connect to; @throws AttemptError when there are none. */
export type HostCheck = (url: URL) => Promise<readonly string[]>

export type HostCheckOptions = {
  allow: readonly string[]
  resolve?: Resolve
  /** How long a name that passed is not looked up again. */
  cacheMs?: number
  ownAddresses?: () => readonly string[]
}

const maxCached = 1_000
const maxTried = 8 // of the addresses of one name; every one of them is judged
const lookupDeadlineMs = 3_000

/**
 * The part of the guard that asks the network: a name is looked up once, by us, and refused whole
 * if any of its addresses is forbidden. Attempts in the same few seconds share one look-up.
 */
export function createHostCheck({
  allow,
  resolve = createResolve(),
  cacheMs = 2_000,
  ownAddresses = listOwnAddresses,
}: HostCheckOptions): HostCheck {
  const checks = new Map<string, { until: number; addresses: Promise<readonly string[]> }>()

  async function check(url: URL): Promise<readonly string[]> {
    const host = hostOf(url)
    if (isExempt(url, allow)) return lookUp(host)
    const addresses = isIP(host) === 0 ? await resolveName(host) : [host]
    const own = ownAddresses()
    for (const address of addresses) {
      const range = refusedRange(address) ?? (own.includes(address) ? 'our own' : null)
      if (range !== null) throw new AttemptError('blocked', `${address} is ${range}`)
    }
    return addresses
  }

  async function resolveName(name: string): Promise<readonly string[]> {
    const addresses = await resolve(name).catch((error) => {
      throw new AttemptError('dns', error instanceof Error ? error.message : String(error))
    })
    if (addresses.length === 0) throw new AttemptError('dns', 'the name has no address')
    return addresses
  }

  return function checkHost(url) {
    const now = performance.now()
    const known = checks.get(url.origin)
    if (known && known.until > now) return known.addresses
    const addresses = check(url).then((all) => all.slice(0, maxTried))
    checks.delete(url.origin) // put last again, as the youngest
    checks.set(url.origin, { until: now + cacheMs, addresses })
    for (const oldest of checks.keys()) {
      if (checks.size <= maxCached) break
      checks.delete(oldest)
    }
    return addresses
  }
}

/** A host the operator vouches for is looked up as the machine does it, hosts file included. */
async function lookUp(host: string): Promise<readonly string[]> {
  try {
    const found = await within(lookupDeadlineMs, lookup(host, { all: true }))
    return found.map(({ address }) => address)
  } catch (error) {
    throw new AttemptError('dns', error instanceof Error ? error.message : String(error))
  }
}

/** A public address of this machine leads to its own listeners. */
function listOwnAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((one) => one.address))
}
