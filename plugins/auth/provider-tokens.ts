import fp from 'fastify-plugin'
import { createProviderTokens, type ProviderTokens } from '#src/auth/provider-tokens/access.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Limits } from '#src/db/connections/pool-options.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Access tokens for the providers' APIs (setting `OIDC_<NAME>_STORE_TOKENS`). */
    providerTokens: ProviderTokens
  }
}

// Concurrent token refreshes in this process; further ones wait briefly, then have to retry.
const refreshesAtOnce = 4

/** Provides provider access tokens. Its database connections are opened at the first refresh. */
export default fp<{ url: string; limits?: Partial<Limits>; keys: EncryptionKeys }>(
  async function providerTokens(app, { url, limits = {}, keys }) {
    const locks = openSystemDatabase(url, refreshesAtOnce, { limits })
    const clients = [...app.providers].map(([name, { client }]) => [name, client] as const)
    app.decorate(
      'providerTokens',
      createProviderTokens({
        keys,
        locks,
        systemDb: app.systemDb,
        queue: app.queue,
        providers: new Map(clients),
      }),
    )
    app.addHook('onClose', async function closeTokenLocks() {
      await locks.close()
    })
  },
  { name: 'provider-tokens', fastify: '5.x', dependencies: ['database', 'queue', 'oidc-client'] },
)
