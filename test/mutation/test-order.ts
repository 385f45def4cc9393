type Record = { catches: number; seconds: number }
type Test = { name: string }

/** Of a test that has not run yet: one that often catches something runs before it, one that never does after it. */
const untried: Record = { catches: 0.2, seconds: 5 }

/**
 * The order in which the tests of a mutant run: first those that have caught most for their time, among
 * mutants with the same list of tests. The list's own order decides at the start.
 */
export class TestOrder {
  readonly #records = new Map<string, Record>()

  of<One extends Test>(list: readonly One[]): One[] {
    const rate = (test: Test) => {
      const { catches, seconds } = this.#recordOf(list, test)
      return catches / seconds
    }
    return [...list].sort((one, other) => rate(other) - rate(one))
  }

  note(list: readonly Test[], test: Test, run: { caught: boolean; seconds: number }): void {
    const record = this.#recordOf(list, test)
    record.catches += Number(run.caught)
    record.seconds += run.seconds
  }

  #recordOf(list: readonly Test[], test: Test): Record {
    const key = `${test.name} of ${list.map(({ name }) => name).join()}`
    const record = this.#records.get(key) ?? { ...untried }
    this.#records.set(key, record)
    return record
  }
}
