import fp from 'fastify-plugin'
import { type Limits, requestLockMs } from '#src/db/connections/pool-options.ts'
import { type Database, type DatabaseForm, openDatabase } from '#src/db/database.ts'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import { traceDatabase, traceSystemDatabase } from '#src/db/tracing.ts'
import type { VerifyMonitor } from '#src/schema/verification/verify-monitor.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Owned and tenant rows: scoped transactions only, refused while isolation is not verified. */
    db: Database
    /** Rows that are read by key before a tenant is known. */
    systemDb: SystemDatabase
  }
}

type Options = {
  url: string
  poolSize: number
  limits?: Partial<Limits>
  verification: VerifyMonitor
  form?: DatabaseForm | undefined
}

/** Opens both ways to the database and closes them with the server. */
export default fp<Options>(
  async function database(app, { url, poolSize, verification, form, ...options }) {
    const { tracing, metrics } = app
    const limits = { lockMs: requestLockMs, ...options.limits }
    const { pools } = metrics
    const watch = {
      reads: pools.watch('reads'),
      writes: pools.watch('writes'),
      transactions: pools.watch('scoped'),
    }
    const scoped = openDatabase(url, poolSize, { watch, form, limits })
    const size = Math.ceil(poolSize / 2)
    const keyed = openSystemDatabase(url, size, { watch: pools.watch('identity'), limits })
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

/** While the check of row-level security fails, every route gets a 503 instead of rows. */
function requireVerified(db: Database, verification: VerifyMonitor): Database {
  return {
    async read(entry, work) {
      verification.requireVerified()
      return db.read(entry, work)
    },
    async write(entry, work) {
      verification.requireVerified()
      return db.write(entry, work)
    },
    close: db.close,
  }
}
