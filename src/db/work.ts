import type { Tx } from './entry.ts'
import type { Prisma } from './generated/client.ts'
import type { OneStatement } from './sql.ts'

/** What a transaction does after its entry: a function of it, or one statement. */
export type Work<Facts, T> = WholeWork<Facts, T> | OneStatement<Facts, T>
export type WholeWork<Facts, T> = (tx: Tx, facts: Facts) => Promise<T>

/** A write that is one statement once it is known who asks. */
export type ShortWork<Facts, T> = {
  /** The statement for these facts; null if this write needs several. */
  short(facts: Facts): Promise<ShortStatement<T> | null>
  /** The write in a transaction, on facts that it returns. */
  whole: WholeWork<Facts, T>
}

export type ShortStatement<T> = {
  readonly statement: Prisma.Sql
  /**
   * If given, it may share packet and commit with statements of other requests. It inserts, or changes the
   * row that this names: two packets lock the rows of a tenant in the order of these names.
   */
  readonly sharedAs?: string
  /**
   * Makes the result from the rows, once they are committed.
   * @returns null if the statement has changed nothing: the whole work follows
   */
  read(rows: object[], tx: Pick<Tx, 'notify'>): T | null
}

/** The work as a function of the transaction. */
export function wholeOf<Facts, T>(work: Work<Facts, T> | ShortWork<Facts, T>): WholeWork<Facts, T> {
  if (typeof work === 'function') return work
  if ('whole' in work) return work.whole
  const { statement, further = [], read } = work
  return async (tx, facts) => {
    const rows = await tx.sql(statement)
    const more: object[][] = []
    for (const one of further) more.push(await tx.sql(one))
    return read(rows, facts, more)
  }
}
