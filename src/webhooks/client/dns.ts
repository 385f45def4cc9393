import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { resultWithin } from '#src/runtime/timeout.ts'
import { AttemptError, attemptError } from './errors.ts'
import { refusedRange } from './ip-ranges.ts'
import { hostOf, isExempt, readEndpointUrl } from './url.ts'

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
    const found = await resolveWithin(lookupDeadlineMs, lookup(host, { all: true }))
    return found.map(({ address }) => address)
  } catch (error) {
    throw new AttemptError('dns', error instanceof Error ? error.message : String(error))
  }
}

/** A public address of this machine leads to its own listeners. */
function listOwnAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((one) => one.address))
}

/** The URL in the form to keep, or why it is refused, for the operator alone. */
export type JudgedUrl = { url: string } | { refused: string }

/**
 * The whole guard before anything is sent: form, then name. A name that cannot be resolved is
 * refused as one that leads inside, or the difference would tell what our name servers know.
 */
export function createUrlJudge(allow: readonly string[], checkHost: HostCheck) {
  return async function judgeUrl(text: string): Promise<JudgedUrl> {
    const read = readEndpointUrl(text, allow)
    if ('refused' in read) return read
    try {
      await checkHost(read.url)
      return { url: read.url.href }
    } catch (error) {
      const { code, message } = attemptError(error)
      return { refused: `${code}: ${message}` }
    }
  }
}

/** Every address of a name, IPv4 and IPv6; rejects when that cannot be found out. */
export type Resolve = (name: string) => Promise<readonly string[]>

type Options = {
  /** As `dns.setServers` takes them; the machine's own without. */
  servers?: readonly string[]
  tryMs?: number
  deadlineMs?: number
}

const tries = 2
const withoutRecords = ['ENODATA', 'ENOTFOUND']

/**
 * Asks the name servers for A and AAAA records and nothing else: no hosts file, no search list.
 * One kind of record may be missing; when one of the questions stays open nothing is known.
 */
export function createResolve({
  servers,
  tryMs = 1_000,
  deadlineMs = 3_000,
}: Options = {}): Resolve {
  const resolver = new Resolver({ timeout: tryMs, maxTimeout: tryMs, tries })
  if (servers) resolver.setServers(servers)
  return async function resolve(name) {
    const questions = [records(resolver.resolve4(name)), records(resolver.resolve6(name))]
    const answers = await resolveWithin(deadlineMs, Promise.all(questions))
    const addresses = answers.flat()
    if (addresses.length === 0) throw new Error('the name has no address')
    return addresses
  }
}

/** Rejects after `ms`; a look-up cannot be cancelled. */
async function resolveWithin<T>(ms: number, lookUp: Promise<T>): Promise<T> {
  const result = await resultWithin(ms, lookUp)
  if (result === null) throw new Error('the name servers are late')
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
