import fp from 'fastify-plugin'
import type { ContextMode } from '#src/config/config.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { type IdentityPlane, openIdentityPlane } from '#src/db/system-database.ts'
import { traceDatabase, traceIdentityPlane } from '#src/db/tracing.ts'
import type { ProofWatch } from '#src/schema/verify-monitor.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Owned and tenant rows: scoped transactions only, and none while the lock is not proven. */
    db: Database
    /** Rows that are read by key before a tenant is known. */
    identityPlane: IdentityPlane
  }
}

type Options = { url: string; poolSize: number; context: ContextMode; proof: ProofWatch }

/** Opens both doors to the database and closes them with the server. */
export default fp<Options>(
  async function database(app, { url, poolSize, context, proof }) {
    const { tracing, metrics } = app
    const { pools } = metrics
    const scoped = openDatabase(url, poolSize, context, pools.watch('scoped'))
    const keyed = openIdentityPlane(url, Math.ceil(poolSize / 2), pools.watch('identity'))
    const db = traceDatabase(requireProof(scoped, proof), tracing)
    const identityPlane = traceIdentityPlane(keyed, tracing)
    app.decorate('db', db)
    app.decorate('identityPlane', identityPlane)
    app.addHook('onClose', async function closeDatabase() {
      await Promise.all([db.close(), identityPlane.close()])
    })
  },
  { name: 'database', fastify: '5.x', dependencies: ['metrics', 'tracing'] },
)

/** Whatever route it is that asks: under a broken lock it gets a 503 instead of rows. */
function requireProof(db: Database, proof: ProofWatch): Database {
  return {
    ...db,
    async read(scope, work) {
      proof.requireProof()
      return db.read(scope, work)
    },
    async readRows(scope, statement) {
      proof.requireProof()
      return db.readRows(scope, statement)
    },
    async write(scope, work) {
      proof.requireProof()
      return db.write(scope, work)
    },
  }
}
