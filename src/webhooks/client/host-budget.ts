import { PostponedError } from './errors.ts'

/** A bucket of requests and one of bytes: each holds `burst`, and `perSecond` flow back. */
type Rate = { readonly burst: number; readonly perSecond: number }
export type HostLimits = { readonly requests: Rate; readonly bytes: Rate }

const mebibyte = 1_048_576

/** What a host gets from all tenants together that has answered with 2xx. */
const provenLimits: HostLimits = {
  requests: { burst: 1_000, perSecond: 500 },
  bytes: { burst: 100 * mebibyte, perSecond: 20 * mebibyte },
}

/**
 * What a host gets before: tenants do not prove that a URL is theirs. Ten requests are enough for the
 * first 2xx; the attempts of one delivery that fails need less than one in ten seconds.
 */
const unprovenLimits: HostLimits = {
  requests: { burst: 10, perSecond: 0.2 },
  bytes: { burst: 2 * mebibyte, perSecond: 16_384 },
}

const provenMs = 86_400_000
const maxHosts = 10_000

type Host = { requests: number; bytes: number; countedAt: number; provenUntil: number }

export type HostBudget = {
  /** Takes nothing. @throws PostponedError `address-busy` if nothing is left */
  require(host: string): void
  /** Takes one request from the budget of the host. @throws PostponedError `address-busy` */
  take(host: string, bytes: number): void
  /** The host has answered with 2xx. */
  prove(host: string): void
}

/**
 * Limits requests and bytes to each host over all tenants of this process. What is beyond is sent
 * later and does not count as an attempt.
 * @param nowMs a clock that only goes forward
 */
export function createHostBudget(nowMs = () => performance.now()): HostBudget {
  const hosts = new Map<string, Host>()

  function find(name: string): Host {
    const { requests, bytes } = unprovenLimits
    const host = hosts.get(name) ?? {
      ...{ requests: requests.burst, bytes: bytes.burst },
      ...{ countedAt: nowMs(), provenUntil: Number.NEGATIVE_INFINITY },
    }
    hosts.delete(name)
    const [unusedLongest] = hosts.keys()
    if (hosts.size >= maxHosts && unusedLongest !== undefined) hosts.delete(unusedLongest)
    hosts.set(name, host)
    return host
  }

  /** With what has flowed back until now. */
  function findWithRoom(name: string): Host {
    const host = find(name)
    const now = nowMs()
    const limits = now < host.provenUntil ? provenLimits : unprovenLimits
    const seconds = (now - host.countedAt) / 1_000
    host.requests = refill(host.requests, limits.requests, seconds)
    host.bytes = refill(host.bytes, limits.bytes, seconds)
    host.countedAt = now
    // A body larger than what is left is sent, and paid for by those after it.
    if (host.requests < 1 || host.bytes <= 0) {
      throw new PostponedError('address-busy', `${name} has had its requests from all tenants`)
    }
    return host
  }

  return {
    require: (name) => void findWithRoom(name),
    take(name, bytes) {
      const host = findWithRoom(name)
      host.requests -= 1
      host.bytes -= bytes
    },
    prove(name) {
      const host = find(name)
      const now = nowMs()
      if (now >= host.provenUntil) {
        Object.assign(host, {
          requests: provenLimits.requests.burst,
          bytes: provenLimits.bytes.burst,
        })
      }
      host.provenUntil = now + provenMs
    },
  }
}

function refill(left: number, { burst, perSecond }: Rate, seconds: number): number {
  return Math.min(burst, left + perSecond * seconds)
}
