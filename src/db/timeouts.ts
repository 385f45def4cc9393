/**
 * Every statement timeout of the program, in milliseconds. The server enforces it: per connection
 * where that is possible, otherwise per transaction or per role.
 */
export const statementTimeoutsMs = {
  /** Default of every connection and of both database roles. */
  connection: 5_000,
  /** A transaction of a request or a job that reads and writes single rows by key. */
  byKey: 2_000,
  /** Recording a batch of billing events, within the 2 s of contract 5 (src/billing/record.ts). */
  recordEvents: 500,
  /** One cleanup batch: up to 1,000 expired rows of each table. */
  cleanup: 4_000,
  /** One batch of what a deleted user or tenant has left; at last the jobs of a tenant are searched. */
  erasure: 30_000,
  /**
   * Waiting while another process refreshes the same provider token: metadata, then the token
   * endpoint with two client secrets, 5 s each.
   */
  refreshLock: 16_000,
  /** Selecting billing events for a replay scans the recorded events. */
  replay: 5_000,
  /** Counting the encrypted values of a table, or encrypting 100 rows with the first key. */
  keyRotation: 10_000,
  /** Counting all rows of one tenant, for `gatehouse usage check`. */
  countUsage: 120_000,
  /** Looking for an id in every tenant, for `gatehouse trace`. */
  trace: 60_000,
  /** Checking whether the events and deliveries of a day are accounted for. */
  ledger: 120_000,
  /** Maintenance of the job queue deletes finished jobs in bulk. */
  queueMaintenance: 30_000,
} as const

/** What a transaction may take in milliseconds, the wait for its locks not counted. */
export const transactionMs = 10_000

/** As long as a write may hold its locks: its transaction, and the statement that it ends with. */
const writeMs = transactionMs + statementTimeoutsMs.connection

/**
 * Limits of a transaction that ends a right. It waits for the writes that use the right, and then has the
 * time of any statement.
 */
export const endingLimits = {
  lockTimeoutMs: writeMs,
  statementTimeoutMs: writeMs + statementTimeoutsMs.connection,
} as const
