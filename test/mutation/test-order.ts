/** `seconds`: what it takes about. */
type Test = { name: string; seconds: number }

type Record = { catches: number; seconds: number }

/** The tests of a mutant, and the file or function that it changes. */
export type Asked<One extends Test> = { tests: readonly One[]; place: string }

/** Of a test that has not run yet: one that often catches something runs before it, one that never does after it. */
const untriedCatches = 0.2

/**
 * The order in which the tests of a mutant run: first those that have caught most for their time, among
 * mutants in the same place and among those with the same list of tests. The list's own order decides at the start.
 */
export class TestOrder {
  readonly #records = new Map<string, Record>()

  of<One extends Test>(asked: Asked<One>): One[] {
    const rate = (test: Test) =>
      this.#recordsOf(asked, test).reduce((sum, { catches, seconds }) => sum + catches / seconds, 0)
    return [...asked.tests].sort((one, other) => rate(other) - rate(one))
  }

  /** @param run of this occasion, or of an earlier one, when the test took about what it takes */
  note(asked: Asked<Test>, test: Test, run: { caught: boolean; seconds?: number }): void {
    for (const record of this.#recordsOf(asked, test)) {
      record.catches += Number(run.caught)
      record.seconds += run.seconds ?? test.seconds
    }
  }

  #recordsOf({ tests, place }: Asked<Test>, test: Test): Record[] {
    const ofList = `${test.name} of ${tests.map(({ name }) => name).join()}`
    return [
      this.#recordAt(ofList, { catches: untriedCatches, seconds: test.seconds }),
      this.#recordAt(`${test.name} in ${place}`, { catches: 0, seconds: test.seconds }),
    ]
  }

  #recordAt(key: string, untried: Record): Record {
    const record = this.#records.get(key) ?? untried
    this.#records.set(key, record)
    return record
  }
}
