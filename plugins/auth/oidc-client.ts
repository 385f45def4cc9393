import fp from 'fastify-plugin'
import type { ProviderDeps } from '#src/auth/oidc/client.ts'
import type { WatchedProvider } from '#src/auth/oidc/clients.ts'
import { createProviders } from '#src/auth/oidc/clients.ts'
import type { ProviderConfig } from '#src/config/providers.ts'
import type { ProviderChoice } from '#src/pages/account/sign-in.ts'
import type { Clock } from '#src/runtime/clock.ts'

/** An identity provider: its configuration and its client. */
export type SignInProvider = { setup: ProviderConfig; client: WatchedProvider }

declare module 'fastify' {
  interface FastifyInstance {
    /** By name. Metadata is fetched at the first sign-in, so a provider may be down at boot. */
    providers: ReadonlyMap<string, SignInProvider>
    /** The providers for a sign-in page. Waits for none; may ask one in the background whether it answers. */
    signInChoices(): ProviderChoice[]
  }
}

type Options = {
  providers: readonly ProviderConfig[]
  clock: Clock
  providerFetch?: ProviderDeps['fetch']
}

export default fp<Options>(
  async function oidcClient(app, { providers, clock, providerFetch }) {
    const secretSwitched = (provider: string, position: number) =>
      app.log.warn({ provider, position }, 'another client secret was accepted')
    const clients = createProviders(providers, clock, secretSwitched, providerFetch)
    const entries = providers.flatMap((setup) => {
      const client = clients.get(setup.name)
      return client === undefined ? [] : [[setup.name, { setup, client }] as const]
    })
    app.decorate('providers', new Map(entries))
    app.decorate('signInChoices', () =>
      entries.map(([name, { setup, client }]) => {
        return { name, label: setup.label, isDown: client.isDown() }
      }),
    )
  },
  { name: 'oidc-client', fastify: '5.x' },
)
