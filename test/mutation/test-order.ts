type Record = { catches: number; seconds: number }

/** A test that has not run yet counts as one that took this long and caught one mutant. */
const untried: Record = { catches: 1, seconds: 5 }

/**
 * The order in which the tests of a mutant run: first those that have caught most for their time, among
 * mutants with the same list of tests. The list's own order decides at the start.
 */
export class TestOrder {
  readonly #lists = new Map<readonly string[], Map<string, Record>>()

  of(list: readonly string[]): string[] {
    const rate = (test: string) => {
      const { catches, seconds } = this.#recordOf(list, test)
      return catches / seconds
    }
    return [...list].sort((one, other) => rate(other) - rate(one))
  }

  note(list: readonly string[], test: string, run: { caught: boolean; seconds: number }): void {
    const record = this.#recordOf(list, test)
    record.catches += Number(run.caught)
    record.seconds += run.seconds
  }

  #recordOf(list: readonly string[], test: string): Record {
    const records = this.#lists.get(list) ?? new Map<string, Record>()
    this.#lists.set(list, records)
    const record = records.get(test) ?? { ...untried }
    records.set(test, record)
    return record
  }
}
