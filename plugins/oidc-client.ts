import fp from 'fastify-plugin'
import type { Clock } from '#src/clock.ts'
import type { Provider } from '#src/identity/provider.ts'
import { createProviders } from '#src/identity/providers.ts'
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
    const clients = createProviders(providers, clock, (provider, position) =>
      app.log.warn({ provider, position }, 'another client secret was accepted'),
    )
    const entries = providers.flatMap((setup) => {
      const client = clients.get(setup.name)
      return client === undefined ? [] : [[setup.name, { setup, client }] as const]
    })
    app.decorate('providers', new Map(entries))
  },
  { name: 'oidc-client', fastify: '5.x' },
)
