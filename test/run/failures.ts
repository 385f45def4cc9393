/** How many failures are shown, and how many lines of each. */
const failuresShown = 20
const linesShown = 30

/** How many assertions. */
export type Outcome = { passed: number; failed: number; skipped: number }

/** What a run's raw TAP says. Tests are given by their names, the outermost first. */
export type TapEvents = {
  begun?(test: readonly string[]): void
  ended?(test: readonly string[], passed: boolean): void
  /** An assertion; the result of a test that contains some is none. */
  asserted?(outcome: keyof Outcome): void
  /** The seed of a test that draws at random, as `TEST_SEED=…`. */
  seeded?(test: readonly string[], seed: string): void
  failed?(failure: Failure): void
}

/**
 * A failed assertion: the tests it is in, or the test that failed without one, and a text with their
 * names, its own line and its explanation.
 */
export type Failure = { test: readonly string[]; text: string }

type Open = { depth: number; name: string; failed: boolean }

/**
 * Reads raw TAP line by line, as it arrives. A test that failed only because of what is in it is no
 * failure of its own.
 */
export function followTap(events: TapEvents): { line(text: string): void; end(): void } {
  const open: Open[] = []
  const names = () => open.map(({ name }) => name)
  /** A failure whose explanation, the lines between `---` and `...`, may follow. */
  let waiting: { test: string[]; head: string[]; depth: number; lines: string[] | null } | undefined
  const report = () => {
    if (waiting === undefined) return
    const { test, head, lines } = waiting
    waiting = undefined
    events.failed?.({ test, text: [...head, ...(lines ?? [])].join('\n  ') })
  }
  const explain = (text: string): boolean => {
    if (waiting === undefined) return false
    const isFirst = waiting.lines === null
    if (isFirst && text.trim() === '---') waiting.lines = []
    else if (isFirst || text.trim() === '...') report()
    else if ((waiting.lines?.length ?? 0) < linesShown) {
      waiting.lines?.push(text.slice(waiting.depth + 2))
    }
    return !isFirst
  }
  const result = (text: string, depth: number) => {
    const isSkipped = / # (TODO|SKIP)\b/i.test(text)
    const isFailed = !isSkipped && /^ *not ok /.test(text)
    while ((open.at(-1)?.depth ?? -1) > depth) open.pop()
    const own = open.at(-1)?.depth === depth
    const test = names()
    const closed = own ? open.pop() : undefined
    const outcome = isSkipped ? 'skipped' : isFailed ? 'failed' : 'passed'
    if (closed === undefined) events.asserted?.(outcome)
    else events.ended?.(test, !isFailed)
    if (!isFailed || closed?.failed) return
    for (const around of open) around.failed = true
    waiting = { test, head: [...names(), text.trim()], depth, lines: null }
  }
  const line = (text: string) => {
    if (explain(text)) return
    const depth = text.length - text.trimStart().length
    const [, name] = text.match(/^ *# Subtest: (.*)$/) ?? []
    const [seed] = text.match(/^ *# .*?\bTEST_SEED=\d+/)?.[0].match(/TEST_SEED=\d+/) ?? []
    if (name !== undefined) {
      while (open.length > 0 && (open.at(-1)?.depth ?? 0) >= depth) open.pop()
      open.push({ depth, name, failed: false })
      events.begun?.(names())
    } else if (seed !== undefined) events.seeded?.(names(), seed)
    else if (/^ *(not )?ok /.test(text)) result(text, depth)
  }
  return { line, end: report }
}

/** What failed, from the raw TAP of a whole run. */
export function failuresOf(tap: string): string[] {
  const failures: string[] = []
  read(tap, { failed: ({ text }) => failures.push(text) })
  return failures
}

/** The assertions of a run, also of one that was interrupted and has no count of its own. */
export function outcomeOf(tap: string): Outcome {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  read(tap, {
    asserted: (outcome) => {
      counts[outcome] += 1
    },
  })
  return counts
}

function read(tap: string, events: TapEvents): void {
  const { line, end } = followTap(events)
  for (const text of tap.split('\n')) line(text)
  end()
}

/**
 * The failures as the text that ends a run; empty when there is none. A long run is often read by its
 * end alone, so they are printed there again.
 */
export function describeFailures(tap: string): string {
  const failures = failuresOf(tap)
  if (failures.length === 0) return ''
  const more = failures.length - failuresShown
  return [
    'Failed:',
    ...failures.slice(0, failuresShown),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join('\n\n')
}
