import type { Tracing } from '#src/observability/tracing.ts'
import type { Database } from './database.ts'
import type { SystemDatabase } from './system-database.ts'

const postgres = { 'db.system.name': 'postgresql' }
const operation = (name: string) => ({ ...postgres, 'db.operation.name': name })

/** Adds a span per transaction, without statements and values. */
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

/** Adds a span per statement, with its name if it has one, and per transaction. */
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
