import type { OidcClientConfig } from '#src/config/providers.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { createProvider, type Provider } from './client.ts'
import { ProviderUnavailable } from './errors.ts'

/** A provider of which is known, as far as one can without waiting, whether it answers. */
export type WatchedProvider = Provider & {
  /**
   * Whether it failed when it was last asked. Says so at once; where that was a while ago it is
   * asked again meanwhile, for whoever looks next.
   */
  isDown(): boolean
}

// Whoever opens a page makes us ask, so it is not asked more often than this.
const askAgainMs = 15_000

/**
 * Watches what comes of every conversation. While the provider is known to be down each sign-in
 * first asks whether it is back: nobody is sent to a site that does not answer.
 */
function watchOutages(provider: Provider, clock: Clock): WatchedProvider {
  let down = false
  let asking: Promise<void> | undefined
  let askedAt = Number.NEGATIVE_INFINITY

  /** Notes what comes of it, and passes that on. */
  async function note<T>(conversation: Promise<T>): Promise<T> {
    askedAt = clock.now().getTime()
    try {
      const result = await conversation
      down = false
      return result
    } catch (error) {
      if (error instanceof ProviderUnavailable) down = true
      throw error
    }
  }

  /** Whoever asks while an answer is awaited waits for the same one. */
  function ask(): Promise<void> {
    asking ??= note(provider.check()).finally(() => {
      asking = undefined
    })
    return asking
  }

  return {
    ...provider,

    async authorizationUrl(...request) {
      if (down) await ask()
      // Metadata that is kept proves nothing, so only its failure is noted.
      return provider.authorizationUrl(...request).catch((error) => note(Promise.reject(error)))
    },

    exchange: (...callback) => note(provider.exchange(...callback)),

    isDown() {
      if (clock.now().getTime() - askedAt >= askAgainMs) ask().catch(() => {})
      return down
    },
  }
}

/** The conversation with each configured provider, by name; nothing is fetched before its use. */
export function createProviders(
  configs: readonly OidcClientConfig[],
  clock: Clock,
  secretSwitched: (provider: string, position: number) => void,
): ReadonlyMap<string, WatchedProvider> {
  return new Map(
    configs.map((config) => {
      const others = configs.filter(({ name }) => name !== config.name)
      const provider = createProvider(config, {
        clock,
        otherIssuers: others.map(({ issuer }) => issuer),
        secretSwitched: (position) => secretSwitched(config.name, position),
      })
      return [config.name, watchOutages(provider, clock)]
    }),
  )
}
