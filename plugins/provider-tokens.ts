import fp from 'fastify-plugin'
import { createGrantAccess, type GrantAccess } from '#src/auth/provider-tokens/access.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { openIdentityPlane } from '#src/db/system-database.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Hands out access tokens for the providers' APIs (setting `OIDC_<NAME>_STORE_TOKENS`). */
    grantAccess: GrantAccess
  }
}

// Grants refreshed at once in this process; more wait a moment and are then told to come back.
const refreshesAtOnce = 4

/** The way to the providers' APIs; its connections are opened at the first refresh. */
export default fp<{ url: string; keys: EncryptionKeys }>(
  async function grantAccess(app, { url, keys }) {
    const locks = openIdentityPlane(url, refreshesAtOnce)
    const clients = [...app.providers].map(([name, { client }]) => [name, client] as const)
    app.decorate(
      'grantAccess',
      createGrantAccess({
        keys,
        locks,
        plane: app.identityPlane,
        queue: app.queue,
        providers: new Map(clients),
      }),
    )
    app.addHook('onClose', async function closeGrantLocks() {
      await locks.close()
    })
  },
  { name: 'grant-access', fastify: '5.x', dependencies: ['database', 'queue', 'oidc-client'] },
)
