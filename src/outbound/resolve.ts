import { Resolver } from 'node:dns/promises'

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
    const answers = await within(deadlineMs, Promise.all(questions))
    const addresses = answers.flat()
    if (addresses.length === 0) throw new Error('the name has no address')
    return addresses
  }
}

/** Rejects when the answer is late; a look-up cannot be called off, so it is left to itself. */
export async function within<T>(deadlineMs: number, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('the name servers are late')), deadlineMs)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
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
