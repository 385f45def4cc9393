import type { Models } from './connections/models.ts'
import type { Statement } from './connections/one-trip.ts'
import type { Queryable } from './system-database.ts'

/** A transaction that a credential has opened; domain functions take one and nothing else does. */
export type Tx = Models &
  Queryable & {
    /**
     * Runs a statement of a write after all others, in one packet with COMMIT. If it fails, the write is
     * rolled back and fails with its error.
     * @param committed gets its rows after the commit
     */
    runWithCommit(statement: Statement, committed: (rows: readonly object[]) => void): void
    /**
     * Notifies once the transaction is committed. NOTIFY inside of it would take a lock that all commits
     * with notifications in all databases of the server wait for.
     */
    notify(channel: string, payload: string): void
  }
