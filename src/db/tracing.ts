import type { Tracing } from '#src/observability/tracing.ts'
import type { Database } from './database.ts'
import { queryable, type SystemDatabase } from './system-database.ts'

const postgres = { 'db.system.name': 'postgresql' }
const operation = (name: string) => ({ ...postgres, 'db.operation.name': name })

type Wrap = <T>(access: 'read' | 'write', run: () => Promise<T>) => Promise<T>

/** A database that runs every transaction inside `wrap`. */
export function wrapDatabase(db: Database, wrap: Wrap): Database {
  return {
    read: async (entry, work) => wrap('read', () => db.read(entry, work)),
    write: async (entry, work) => wrap('write', () => db.write(entry, work)),
    close: db.close,
  }
}

/** Makes a span of each transaction, without statements and values. */
export function traceDatabase(db: Database, tracing: Tracing): Database {
  if (!tracing.on) return db
  return wrapDatabase(db, (access, run) =>
    tracing.step(`database ${access}`, operation(access), run),
  )
}

/** Makes a span of each query and transaction; a query has the name of its statement. */
export function traceSystemDatabase(systemDb: SystemDatabase, tracing: Tracing): SystemDatabase {
  if (!tracing.on) return systemDb
  const { step } = tracing
  const query: SystemDatabase['query'] = (statement) =>
    step('identity query', { ...postgres, 'db.query.summary': statement.name ?? 'unnamed' }, () =>
      systemDb.query(statement),
    )
  return {
    ...queryable(query),
    transaction: (limits, work) =>
      step('identity transaction', operation('transaction'), () =>
        systemDb.transaction(limits, work),
      ),
    close: systemDb.close,
  }
}
