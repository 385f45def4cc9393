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

type Amounts = { requests: number; bytes: number }
type Host = Amounts & {
  countedAt: number
  provenUntil: number
  /** What each tenant has taken and has not flowed back. */
  taken: Map<string, Amounts>
}

export type HostBudget = {
  /** Takes nothing. @throws PostponedError `address-busy` if nothing is left */
  require(host: string, tenantId: string | null): void
  /** Takes one request from the budget of the host. @throws PostponedError `address-busy` */
  take(host: string, tenantId: string | null, bytes: number): void
  /** The host has answered with 2xx. */
  prove(host: string): void
}

/**
 * Limits requests and bytes to each host over all tenants of this process. What is beyond is sent
 * later and does not count as an attempt. A tenant takes only while more is left than it has taken lately, so
 * one tenant gets half of a burst and all that flows back, and several share both.
 * @param nowMs a clock that only goes forward
 */
export function createHostBudget(nowMs = () => performance.now()): HostBudget {
  const hosts = new Map<string, Host>()

  function find(name: string): Host {
    const { requests, bytes } = unprovenLimits
    const host = hosts.get(name) ?? {
      ...{ requests: requests.burst, bytes: bytes.burst },
      ...{ countedAt: nowMs(), provenUntil: Number.NEGATIVE_INFINITY },
      taken: new Map(),
    }
    hosts.delete(name)
    const [unusedLongest] = hosts.keys()
    if (hosts.size >= maxHosts && unusedLongest !== undefined) hosts.delete(unusedLongest)
    hosts.set(name, host)
    return host
  }

  /** With what has flowed back until now. */
  function findWithRoom(name: string, tenantId: string | null): Host {
    const host = find(name)
    const now = nowMs()
    const limits = now < host.provenUntil ? provenLimits : unprovenLimits
    const seconds = (now - host.countedAt) / 1_000
    refill(host, 'requests', limits.requests, seconds)
    refill(host, 'bytes', limits.bytes, seconds)
    host.countedAt = now
    // A body larger than what is left is sent, and paid for by those after it.
    if (host.requests < 1 || host.bytes <= 0) {
      throw new PostponedError('address-busy', `${name} has had its requests from all tenants`)
    }
    const own = tenantId === null ? undefined : host.taken.get(tenantId)
    if (own !== undefined && (own.requests >= host.requests || own.bytes >= host.bytes)) {
      throw new PostponedError('address-busy', `${name} has had its requests from the tenant`)
    }
    return host
  }

  return {
    require: (name, tenantId) => void findWithRoom(name, tenantId),
    take(name, tenantId, bytes) {
      const host = findWithRoom(name, tenantId)
      host.requests -= 1
      host.bytes -= bytes
      if (tenantId === null) return
      const own = host.taken.get(tenantId) ?? { requests: 0, bytes: 0 }
      host.taken.set(tenantId, { requests: own.requests + 1, bytes: own.bytes + bytes })
    },
    prove(name) {
      const host = find(name)
      const now = nowMs()
      if (now >= host.provenUntil) {
        Object.assign(host, {
          requests: provenLimits.requests.burst,
          bytes: provenLimits.bytes.burst,
          taken: new Map(),
        })
      }
      host.provenUntil = now + provenMs
    },
  }
}

/** What flows back is divided among the tenants by what they have taken. */
function refill(host: Host, of: keyof Amounts, { burst, perSecond }: Rate, seconds: number): void {
  const missing = burst - host[of]
  host[of] = Math.min(burst, host[of] + perSecond * seconds)
  const part = missing > 0 ? Math.max(0, burst - host[of]) / missing : 0
  for (const [tenantId, taken] of host.taken) {
    taken[of] *= part
    if (taken.requests < 0.01 && taken.bytes < 1) host.taken.delete(tenantId)
  }
}
