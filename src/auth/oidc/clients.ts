import type { OidcClientConfig } from '#src/config/providers/providers.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { createProvider, type Provider, type ProviderDeps } from './client.ts'
import { ProviderUnavailable } from './errors.ts'

/** A provider that remembers whether its last call reached it. */
export type WatchedProvider = Provider & {
  /** True if the last call failed. Makes no request. */
  wasDown(): boolean
  /**
   * True if the last call failed. Does not wait; if the last call is older than 15 s, a new check
   * starts in the background.
   */
  isDown(): boolean
}

// Anyone can open the sign-in page, so checks are limited to one per interval.
const checkIntervalMs = 15_000

/**
 * Records for every call whether the provider answered. While it is down each sign-in checks it
 * first, so that no browser is redirected to a site that does not answer.
 */
function watchOutages(provider: Provider, clock: Clock): WatchedProvider {
  let down = false
  let pendingCheck: Promise<void> | undefined
  let calledAt = Number.NEGATIVE_INFINITY

  async function record<T>(call: Promise<T>): Promise<T> {
    calledAt = clock.now().getTime()
    try {
      const result = await call
      down = false
      return result
    } catch (error) {
      if (error instanceof ProviderUnavailable) down = true
      throw error
    }
  }

  /** Concurrent callers share one check. */
  function check(): Promise<void> {
    pendingCheck ??= record(provider.check()).finally(() => {
      pendingCheck = undefined
    })
    return pendingCheck
  }

  return {
    ...provider,

    async authorizationUrl(...request) {
      if (down) await check()
      // Only a failure is recorded: a success may have used cached metadata.
      return provider.authorizationUrl(...request).catch((error) => record(Promise.reject(error)))
    },

    exchange: (...callback) => record(provider.exchange(...callback)),

    wasDown: () => down,

    isDown() {
      if (clock.now().getTime() - calledAt >= checkIntervalMs) check().catch(() => {})
      return down
    },
  }
}

type ProvidersDeps = Omit<
  ProviderDeps,
  'secretSwitched' | 'missedAddition' | 'foundPage' | 'otherIssuers'
> & {
  secretSwitched?: (provider: string, position: number) => void
  /** Called once for each provider and reason. */
  missedAddition?: (provider: string, reason: string) => void
  foundPage?: (provider: string, origin: string) => void
}

/** The client of each configured provider by name. */
export function createProviders(
  configs: readonly OidcClientConfig[],
  { secretSwitched, missedAddition, foundPage, ...deps }: ProvidersDeps,
): ReadonlyMap<string, WatchedProvider> {
  return new Map(
    configs.map((config) => {
      const others = configs.filter(({ name }) => name !== config.name)
      const provider = createProvider(config, {
        ...deps,
        otherIssuers: others.map(({ issuer }) => issuer),
        secretSwitched: (position) => secretSwitched?.(config.name, position),
        missedAddition: once((reason) => missedAddition?.(config.name, reason)),
        foundPage: (origin) => foundPage?.(config.name, origin),
      })
      return [config.name, watchOutages(provider, deps.clock)]
    }),
  )
}

function once(report: (reason: string) => void): (reason: string) => void {
  const known = new Set<string>()
  return (reason) => {
    if (!known.has(reason)) report(reason)
    known.add(reason)
  }
}
