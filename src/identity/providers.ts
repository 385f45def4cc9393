import { createProvider, type ProviderConfig } from '#src/auth/oidc/client.ts'
import { type WatchedProvider, watchOutages } from '#src/auth/oidc/clients.ts'
import type { Clock } from '#src/runtime/clock.ts'

/** The conversation with each configured provider, by name; nothing is fetched before its use. */
export function createProviders(
  configs: readonly ProviderConfig[],
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
