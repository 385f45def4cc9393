import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { resultWithin } from '#src/runtime/timeout.ts'
import { AttemptError, attemptError, lookupError, PostponedError } from './errors.ts'
import { refusedRange } from './ip-ranges.ts'
import { hostOf, isExempt, readEndpointUrl } from './url.ts'

/**
 * Returns the addresses an attempt may connect to.
 * @throws AttemptError if there are none; PostponedError if they cannot be looked up now
 */
export type HostCheck = (url: URL) => Promise<readonly string[]>

export type HostCheckOptions = {
  allow: readonly string[]
  resolve?: Resolve
  /** How long a result is reused. */
  cacheMs?: number
  ownAddresses?: () => readonly string[]
}

const maxCached = 1_000
const maxTried = 8 // addresses of one name; all of them are checked
const lookupDeadlineMs = 3_000

/**
 * The network part of the address guard. A name is resolved once, and refused if any of its
 * addresses is forbidden. Attempts within `cacheMs` share one lookup.
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
      const range =
        refusedRange(address) ?? (own.includes(address) ? 'an address of this server' : null)
      if (range !== null) throw new AttemptError('blocked', `${address} is ${range}`)
    }
    return addresses
  }

  async function resolveName(name: string): Promise<readonly string[]> {
    const addresses = await resolve(name).catch((error) => {
      throw lookupError(error)
    })
    if (addresses.length === 0) throw new AttemptError('dns', 'the name has no address')
    return addresses
  }

  return function checkHost(url) {
    const now = performance.now()
    const known = checks.get(url.origin)
    if (known && known.until > now) return known.addresses
    const addresses = check(url).then((all) => all.slice(0, maxTried))
    checks.delete(url.origin) // Moves it to the end: a Map iterates in order of insertion.
    checks.set(url.origin, { until: now + cacheMs, addresses })
    for (const oldest of checks.keys()) {
      if (checks.size <= maxCached) break
      checks.delete(oldest)
    }
    return addresses
  }
}

/** A host of `OUTBOUND_ALLOW` is resolved by the operating system, including its hosts file. */
async function lookUp(host: string): Promise<readonly string[]> {
  try {
    const found = await resolveWithin(lookupDeadlineMs, lookup(host, { all: true }))
    return found.map(({ address }) => address)
  } catch (error) {
    throw lookupError(error)
  }
}

/** Even a public address of this server would reach its own listeners. */
function listOwnAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((one) => one.address))
}

/** The URL in the form to store, or the reason for refusing it, for the operator only. */
export type CheckedUrl = { url: string } | { refused: string }

/**
 * The whole address guard without sending: first the form of the URL, then its host. A name that
 * cannot be resolved is refused like one with a private address; otherwise the difference would
 * reveal which names our name servers know.
 * @throws PostponedError if the name cannot be looked up because of a fault of ours
 */
export function createUrlCheck(allow: readonly string[], checkHost: HostCheck) {
  return async function checkUrl(text: string): Promise<CheckedUrl> {
    const read = readEndpointUrl(text, allow)
    if ('refused' in read) return read
    try {
      await checkHost(read.url)
      return { url: read.url.href }
    } catch (error) {
      const failure = attemptError(error)
      if (failure instanceof PostponedError) throw failure
      return { refused: `${failure.code}: ${failure.message}` }
    }
  }
}

/** Resolves to the IPv4 and IPv6 addresses of a name; rejects if neither can be determined. */
export type Resolve = (name: string) => Promise<readonly string[]>

type Options = {
  /** As for `dns.setServers`; by default those of the operating system. */
  servers?: readonly string[]
  tryMs?: number
  deadlineMs?: number
}

const tries = 2
const withoutRecords = ['ENODATA', 'ENOTFOUND']

/**
 * Queries the name servers for A and AAAA records only: no hosts file, no search list. Some name
 * servers answer A and fail for AAAA, so what was answered counts; every lookup asks for both.
 */
export function createResolve({
  servers,
  tryMs = 1_000,
  deadlineMs = 3_000,
}: Options = {}): Resolve {
  const resolver = new Resolver({ timeout: tryMs, maxTimeout: tryMs, tries })
  if (servers) resolver.setServers(servers)
  return async function resolve(name) {
    const queries = [resolver.resolve4(name), resolver.resolve6(name)]
    const answers = await Promise.allSettled(
      queries.map((query) => resolveWithin(deadlineMs, records(query))),
    )
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    )
    if (addresses.length > 0) return addresses
    const failed = answers.find((answer) => answer.status === 'rejected')
    throw failed?.reason ?? new Error('the name has no address')
  }
}

/** Rejects after `ms`. A DNS lookup cannot be cancelled, so it goes on in the background. */
async function resolveWithin<T>(ms: number, lookUp: Promise<T>): Promise<T> {
  const result = await resultWithin(ms, lookUp)
  if (result === null) throw new Error('the name servers did not answer in time')
  return result
}

async function records(answer: Promise<string[]>): Promise<string[]> {
  try {
    return await answer
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (withoutRecords.includes(code)) return []
    throw error
  }
}
