import fp from 'fastify-plugin'
import { type Database, openDatabase } from '#src/db/database.ts'
import { type IdentityPlane, openIdentityPlane } from '#src/db/identity-plane.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Owned and tenant rows: scoped transactions only. */
    db: Database
    /** Rows that are read by key before a tenant is known. */
    identityPlane: IdentityPlane
  }
}

/** Opens both doors to the database and closes them with the server. */
export default fp<{ url: string; poolSize: number }>(
  async function database(app, { url, poolSize }) {
    const db = openDatabase(url, poolSize)
    const identityPlane = openIdentityPlane(url, Math.ceil(poolSize / 2))
    app.decorate('db', db)
    app.decorate('identityPlane', identityPlane)
    app.addHook('onClose', async function closeDatabase() {
      await Promise.all([db.close(), identityPlane.close()])
    })
  },
  { name: 'database', fastify: '5.x' },
)
