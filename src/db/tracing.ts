import type { Tracing } from '#src/observability/tracing.ts'
import type { Database } from './database.ts'
import { sqlOver } from './sql.ts'
import type { SystemDatabase } from './system-database.ts'

const postgres = { 'db.system.name': 'postgresql' }
const operation = (name: string) => ({ ...postgres, 'db.operation.name': name })

/** Makes a span of each transaction, without statements and values. */
export function traceDatabase(db: Database, tracing: Tracing): Database {
  if (!tracing.on) return db
  const { step } = tracing
  return {
    read: (entry, work) => step('database read', operation('read'), () => db.read(entry, work)),
    write: (entry, work) => step('database write', operation('write'), () => db.write(entry, work)),
    close: db.close,
  }
}

/** Makes a span of each query and transaction; a query has the name of its function or table. */
export function traceSystemDatabase(systemDb: SystemDatabase, tracing: Tracing): SystemDatabase {
  if (!tracing.on) return systemDb
  const { step } = tracing
  return {
    sql: sqlOver((statement) =>
      step('identity query', { ...postgres, 'db.query.summary': summaryOf(statement.text) }, () =>
        systemDb.sql(statement),
      ),
    ),
    notify: systemDb.notify,
    transaction: (limits, work) =>
      step('identity transaction', operation('transaction'), () =>
        systemDb.transaction(limits, work),
      ),
    close: systemDb.close,
  }
}

/** The first function or table that the text names. */
function summaryOf(text: string): string {
  const found = /\b(?:FROM|INTO|UPDATE)\s+([\w.]+)|\bSELECT\s+(\w+)\(/.exec(text)
  return found?.[1] ?? found?.[2] ?? 'other'
}
