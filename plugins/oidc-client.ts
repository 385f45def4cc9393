import fp from 'fastify-plugin'
import type { Clock } from '#src/clock.ts'
import { createProvider, type Provider } from '#src/identity/provider.ts'
import type { ProviderSetup } from '#src/provider-settings.ts'

/** A provider people can sign in with, and how far its word about addresses goes. */
export type SignInProvider = { setup: ProviderSetup; client: Provider }

declare module 'fastify' {
  interface FastifyInstance {
    /** By name. Nothing is fetched before the first sign-in, so a provider may be down at boot. */
    providers: ReadonlyMap<string, SignInProvider>
  }
}

export default fp<{ providers: readonly ProviderSetup[]; clock: Clock }>(
  async function oidcClient(app, { providers, clock }) {
    const entries = providers.map((setup) => {
      const others = providers.filter((other) => other.name !== setup.name)
      const client = createProvider(setup, {
        clock,
        otherIssuers: others.map((other) => other.issuer),
        secretSwitched: (position) =>
          app.log.warn({ provider: setup.name, position }, 'another client secret was accepted'),
      })
      return [setup.name, { setup, client }] as const
    })
    app.decorate('providers', new Map(entries))
  },
  { name: 'oidc-client', fastify: '5.x' },
)
