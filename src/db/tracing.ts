import type { Tracing } from '#src/observability/tracing.ts'
import type { Database } from './database.ts'
import type { SystemDatabase } from './system-database.ts'

const postgres = { 'db.system.name': 'postgresql' }
const operation = (name: string) => ({ ...postgres, 'db.operation.name': name })

/** Each transaction is a step of the trace it belongs to; its statements and values stay here. */
export function traceDatabase(db: Database, tracing: Tracing): Database {
  if (!tracing.on) return db
  const { step } = tracing
  return {
    read: (scope, work) => step('database read', operation('read'), () => db.read(scope, work)),
    readRows: (scope, statement) =>
      step('database read', operation('read'), () => db.readRows(scope, statement)),
    write: (scope, work) => step('database write', operation('write'), () => db.write(scope, work)),
    close: db.close,
  }
}

/** The same for what is read by key; a statement is told by its name, where it has one. */
export function traceSystemDatabase(systemDb: SystemDatabase, tracing: Tracing): SystemDatabase {
  if (!tracing.on) return systemDb
  const { step } = tracing
  return {
    query: (statement) =>
      step('identity query', { ...postgres, 'db.query.summary': statement.name ?? 'unnamed' }, () =>
        systemDb.query(statement),
      ),
    transaction: (limits, work) =>
      step('identity transaction', operation('transaction'), () =>
        systemDb.transaction(limits, work),
      ),
    close: systemDb.close,
  }
}
