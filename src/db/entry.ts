import type { UsePrisma } from '#src/resources/typed-client.ts'
import type { Models } from './connections/models.ts'
import type { Statement } from './connections/one-trip.ts'
import { Prisma } from './generated/client.ts'
import { composeAround } from './sql.ts'
import type { Queryable } from './system-database.ts'

/** A transaction that a credential has opened; domain functions take one and nothing else does. */
export type Tx = Models &
  Queryable & {
    readonly prisma: UsePrisma
    /**
     * Runs a statement of a write after all others, in one packet with COMMIT. If it fails, the write is
     * rolled back and fails with its error.
     * @param committed gets its rows after the commit
     */
    runWithCommit(statement: Statement, committed: (rows: readonly object[]) => void): void
    /**
     * Deletes credentials. Their writes hold the rows, and PostgreSQL lets the locks of further writes pass a
     * DELETE that waits. So one that would have to wait marks them as expired first, in a transaction of its
     * own: no further write enters, and they have ended even if this transaction fails.
     */
    deleteCredentials: DeleteCredentials
  }

export type DeleteCredentials = <Row extends object>(
  table: Prisma.Sql,
  where: Prisma.Sql,
  returning: Prisma.Sql,
) => Promise<Row[]>

/**
 * How a transaction begins: a statement that presents the credential to the database, which sets
 * the scope of row-level security and returns the facts about it, and the decision on these facts.
 * Without an entry there is no transaction on tenant or owned rows.
 */
export type Entry<Facts> = {
  /**
   * True if the statement always replaces the scope of the transaction, so independent requests may
   * share one (`openPacketPool`).
   */
  readonly replacesScope?: boolean
  /**
   * The tenant that the transaction is for, as far as it is known before: its transactions have a share
   * of the connections (`createTenantShares`). It decides nothing else.
   */
  readonly holder?: () => string
  /**
   * The facts that the latest transaction of the credential returned; null if there are none, or the
   * decision on them is no. They are only a hint: the statement makes the database compare them.
   */
  readonly foreseen?: (() => Foreseen<Facts> | null) | undefined
  /** True if `admit` only refuses when the statement returned no row, and so set no scope. */
  readonly decidesInDatabase?: true
  /**
   * True for a write that ends or narrows a right. It waits for the writes that use the right, which hold
   * its rows, as long as they may take: a right ends however busy its holder is.
   */
  readonly endsRight?: boolean | undefined
  /**
   * For a write that also locks rows of others: locks them before the write enters for good, so that writes
   * which lock the rows of each other do it in one order.
   * @param rows what `statement` returned without locks
   */
  readonly lockFirst?: (tx: Tx, rows: readonly object[]) => Promise<unknown>
  /**
   * For a request with an Idempotency-Key: runs the work of its write, or returns the result that the
   * same request had before, in the same transaction (`runOnce`).
   */
  readonly once?: (<T>(tx: Tx, work: () => Promise<T>) => Promise<T>) | undefined
  /**
   * The first statement of the transaction.
   * @param forWrite lock the rows that give the right until the transaction ends
   */
  statement(forWrite: boolean): Prisma.Sql
  /**
   * Decides on the rows that `statement` returned.
   * @throws Problem when the credential is not live or not allowed to do this: nothing is read or written
   */
  admit(rows: readonly object[]): Facts
}

/** Facts that a write may decide on before the database has said that they are still true. */
export type Foreseen<Facts> = {
  readonly facts: Facts
  /**
   * Enters for a write, with the same locks, if the facts are still the same; otherwise it raises GH001
   * (`haveFactsChanged`). So it never leaves the scope of another.
   */
  readonly statement: Prisma.Sql
  /** Called with the rows of the statement. */
  entered(rows: readonly object[]): void
}

/** The same entry with a further condition on its facts. */
export function refine<Facts, Refined extends Facts>(
  entry: Entry<Facts>,
  check: (facts: Facts) => Refined,
): Entry<Refined> {
  const { foreseen } = entry
  return {
    ...entry,
    admit: (rows) => check(entry.admit(rows)),
    foreseen: foreseen && (() => checkForeseen(foreseen(), check)),
  }
}

/** @returns null if `check` refuses: the facts may be old, so the database has to decide */
export function checkForeseen<Facts, Checked>(
  foreseen: Foreseen<Facts> | null,
  check: (facts: Facts) => Checked,
): Foreseen<Checked> | null {
  if (foreseen === null) return null
  try {
    return { ...foreseen, facts: check(foreseen.facts) }
  } catch {
    return null
  }
}

/** Settings of one transaction, which triggers and defaults of columns read. */
export type EntrySettings = Readonly<Record<`app.${string}`, string>>

/**
 * The same entry, whose writes have settings: they leave in the statement that enters.
 * @param settings always the same names, so that the statement stays the same
 */
export function withSettings<Facts>(
  entry: Entry<Facts>,
  settings: () => EntrySettings,
): Entry<Facts> {
  const { foreseen } = entry
  const set = (statement: Prisma.Sql) => enterWith(statement, ...Object.entries(settings()).flat())
  return {
    ...entry,
    statement(forWrite) {
      const statement = entry.statement(forWrite)
      return forWrite ? set(statement) : statement
    },
    foreseen:
      foreseen &&
      (() => {
        const one = foreseen()
        return one && { ...one, statement: set(one.statement) }
      }),
  }
}

const enterWith = composeAround((statement: Prisma.Sql, ...settings: string[]) => {
  const all = settings.flatMap((setting, index) =>
    index % 2 === 0 ? [Prisma.sql`put_setting(${setting}, ${settings[index + 1]})`] : [],
  )
  return Prisma.sql`
    SELECT entered.*, concat(${Prisma.join(all)}) AS settings FROM (${statement}) AS entered`
})

/**
 * The same entry without locks, for a transaction whose own statements lock the rows that give the
 * right and check them under that lock.
 */
export function withoutLocks<Facts>(entry: Entry<Facts>): Entry<Facts> {
  const { foreseen: _, ...rest } = entry
  return { ...rest, statement: () => entry.statement(false) }
}

/**
 * For tables that belong to no tenant. The scope stays empty, so row-level security shows nothing of
 * any other table.
 */
export const withoutScope: Entry<undefined> = {
  statement: () => Prisma.sql`SELECT`,
  admit: () => undefined,
}
