/** How many failures are shown, and how many lines of each. */
const failuresShown = 20
const linesShown = 30

/**
 * What failed, from a run's raw TAP: for each failed assertion the tests it is in, its own line and
 * its explanation. A test that failed only because of what is in it is not repeated. A long run is
 * often read by its end alone, so this is printed there.
 */
export function failuresOf(tap: string): string[] {
  const lines = tap.split('\n')
  /** The tests that are open at a line, each with how far its own lines are indented. */
  const open: { depth: number; name: string; failed: boolean }[] = []
  const failures: string[] = []
  lines.forEach((line, at) => {
    const depth = line.length - line.trimStart().length
    const [, name] = line.match(/^ *# Subtest: (.*)$/) ?? []
    if (name !== undefined) {
      while (open.length > 0 && (open.at(-1)?.depth ?? 0) >= depth) open.pop()
      open.push({ depth, name, failed: false })
      return
    }
    if (!/^ *not ok /.test(line) || / # (TODO|SKIP)\b/i.test(line)) return
    while ((open.at(-1)?.depth ?? -1) > depth) open.pop()
    const own = open.at(-1)?.depth === depth ? open.pop() : undefined
    if (own?.failed) return
    for (const test of open) test.failed = true
    const names = open.map((test) => test.name)
    failures.push([...names, line.trim(), ...explanation(lines, at, depth)].join('\n  '))
  })
  return failures
}

/** The failures as the text that ends a run; empty when there is none. */
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

/** The lines between `---` and `...` after a result. */
function explanation(lines: string[], at: number, depth: number): string[] {
  if (lines[at + 1]?.trim() !== '---') return []
  const end = lines.findIndex((line, index) => index > at && line.trim() === '...')
  return lines
    .slice(at + 2, Math.min(end === -1 ? lines.length : end, at + 2 + linesShown))
    .map((line) => line.slice(depth + 2))
}
