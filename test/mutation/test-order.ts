type Record = { catches: number; seconds: number }
/** `seconds`: what it takes about. */
type Test = { name: string; seconds: number }

/** Of a test that has not run yet: one that often catches something runs before it, one that never does after it. */
const untriedCatches = 0.2

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

  /** @param run of this occasion, or of an earlier one, when the test took about what it takes */
  note(list: readonly Test[], test: Test, run: { caught: boolean; seconds?: number }): void {
    const record = this.#recordOf(list, test)
    record.catches += Number(run.caught)
    record.seconds += run.seconds ?? test.seconds
  }

  #recordOf(list: readonly Test[], test: Test): Record {
    const key = `${test.name} of ${list.map(({ name }) => name).join()}`
    const record = this.#records.get(key) ?? { catches: untriedCatches, seconds: test.seconds }
    this.#records.set(key, record)
    return record
  }
}
