import pg from 'pg'

const writesReferenceTable = /\b(?:INSERT INTO|UPDATE|DELETE FROM) (?:tenants|users|memberships)\b/
const deadlock = '40P01'
const maxTries = 10

/**
 * A superuser's pool on a cluster. What a test writes into the tables that are copied to each node
 * is written one statement after the other: a cluster locks these tables in an order that depends on the
 * statement, so that two of them may end in a deadlock.
 */
export class OneAtATimePool extends pg.Pool {
  #last: Promise<unknown> = Promise.resolve()

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of `query`
  override query(...args: any[]): any {
    const run = () => Reflect.apply(super.query, this, args)
    const [statement] = args
    const text: string = statement?.text ?? statement
    if (!writesReferenceTable.test(text)) return run()
    const again = async () => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await run()
        } catch (error) {
          // With a statement of the program that is tested.
          const isDeadlock = error instanceof pg.DatabaseError && error.code === deadlock
          if (!isDeadlock || tries === maxTries) throw error
        }
      }
    }
    const turn = this.#last.then(again)
    this.#last = turn.catch(() => {})
    return turn
  }
}
