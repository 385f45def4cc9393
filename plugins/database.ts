import fp from 'fastify-plugin'
import type { ContextMode } from '#src/config/config.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import { traceDatabase, traceSystemDatabase } from '#src/db/tracing.ts'
import type { VerifyMonitor } from '#src/schema/verify-monitor.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Owned and tenant rows: scoped transactions only, refused while isolation is not verified. */
    db: Database
    /** Rows that are read by key before a tenant is known. */
    systemDb: SystemDatabase
  }
}

type Options = { url: string; poolSize: number; context: ContextMode; verification: VerifyMonitor }

/** Opens the database pools and closes them with the server. */
export default fp<Options>(
  async function database(app, { url, poolSize, context, verification }) {
    const { tracing, metrics } = app
    const { pools } = metrics
    const scoped = openDatabase(url, poolSize, context, pools.watch('scoped'))
    const keyed = openSystemDatabase(url, Math.ceil(poolSize / 2), pools.watch('identity'))
    const db = traceDatabase(requireVerified(scoped, verification), tracing)
    const systemDb = traceSystemDatabase(keyed, tracing)
    app.decorate('db', db)
    app.decorate('systemDb', systemDb)
    app.addHook('onClose', async function closeDatabase() {
      await Promise.all([db.close(), systemDb.close()])
    })
  },
  { name: 'database', fastify: '5.x', dependencies: ['metrics', 'tracing'] },
)

/** Every scoped transaction is a 503 while row-level security is not verified. */
function requireVerified(db: Database, verification: VerifyMonitor): Database {
  return {
    ...db,
    async read(scope, work) {
      verification.requireVerified()
      return db.read(scope, work)
    },
    async readRows(scope, statement) {
      verification.requireVerified()
      return db.readRows(scope, statement)
    },
    async write(scope, work) {
      verification.requireVerified()
      return db.write(scope, work)
    },
  }
}
