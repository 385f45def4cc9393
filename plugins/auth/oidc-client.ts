import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { ProviderDeps } from '#src/auth/oidc/client.ts'
import type { WatchedProvider } from '#src/auth/oidc/clients.ts'
import { createProviders } from '#src/auth/oidc/clients.ts'
import type { ProviderConfig } from '#src/config/providers/providers.ts'
import type { ProviderChoice } from '#src/pages/sign-in/sign-in.ts'
import type { Clock } from '#src/runtime/clock.ts'

/** An identity provider: its configuration and its client. */
export type SignInProvider = { setup: ProviderConfig; client: WatchedProvider }

declare module 'fastify' {
  interface FastifyInstance {
    /** By name. Metadata is fetched at the first sign-in, so a provider may be down at boot. */
    providers: ReadonlyMap<string, SignInProvider>
    /**
     * The providers for a page that a browser with these cookies asked for. Waits for none; may ask one
     * in the background whether it answers.
     */
    signInChoices(cookies: FastifyRequest['cookies']): ProviderChoice[]
  }
  interface FastifyReply {
    /** The next sign-in page of this browser shows the provider first. */
    rememberProvider(name: string): void
  }
}

type Options = {
  providers: readonly ProviderConfig[]
  clock: Clock
  providerFetch?: ProviderDeps['fetch']
  secureCookie: boolean
}

const lastProviderCookie = 'last_provider'
const rememberedSeconds = 365 * 86_400

export default fp<Options>(
  async function oidcClient(app, { providers, clock, providerFetch, secureCookie }) {
    const clients = createProviders(providers, {
      clock,
      ...(providerFetch && { fetch: providerFetch }),
      secretSwitched: (provider, position) =>
        app.log.warn({ provider, position }, 'another client secret was accepted'),
      missedAddition: (provider, reason) =>
        app.log.warn(
          { provider, reason },
          'people sign in without what the provider would add: its addresses or userinfo cannot be read',
        ),
      foundPage: app.allowFormTarget,
    })
    const entries = providers.flatMap((setup) => {
      const client = clients.get(setup.name)
      return client === undefined ? [] : [[setup.name, { setup, client }] as const]
    })
    app.decorate('providers', new Map(entries))
    app.decorate('signInChoices', ({ [lastProviderCookie]: lastUsed }) =>
      entries.map(([name, { setup, client }]) => {
        return { name, label: setup.label, isDown: client.isDown(), isLastUsed: name === lastUsed }
      }),
    )
    app.decorateReply('rememberProvider', function rememberProvider(this: FastifyReply, name) {
      this.setCookie(lastProviderCookie, name, {
        path: '/',
        httpOnly: true,
        secure: secureCookie,
        sameSite: 'lax',
        maxAge: rememberedSeconds,
      })
    })
  },
  { name: 'oidc-client', fastify: '5.x', dependencies: ['security-headers'] },
)
