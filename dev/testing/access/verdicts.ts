import { isWrong, type Verdict } from './matrix.ts'

/** One line for each verdict that differs from the contract. */
export function wrongOf(verdicts: readonly Verdict[]): string[] {
  return verdicts.filter(isWrong).map(({ route, actor, place, expected, actual, fault }) => {
    const subject = place === null ? route : `${route}, ${place === 'own' ? 'their own' : place}`
    const may = actual < 400 ? 'may' : 'may not'
    const more = fault === null ? '' : `; ${fault}`
    return `${actor} ${may} ${subject}: expected ${expected}, got ${actual}${more}`
  })
}

/** Whether an actor reached an object outside their scope. */
export function leaks(verdicts: readonly Verdict[]): boolean {
  return verdicts.some(
    ({ expected, actual, fault }) =>
      (expected === 404 && actual < 400) || (actual === 200 && fault !== null),
  )
}

/** A summary of the verdicts. */
export function summaryOf(verdicts: readonly Verdict[]): string {
  const count = (pick: (verdict: Verdict) => unknown) => new Set(verdicts.map(pick)).size
  const refused = verdicts.filter(({ expected }) => expected >= 400).length
  return (
    `access matrix: ${verdicts.length} cases, ${refused} of them refusals ` +
    `(${count(({ route }) => route)} routes, ${count(({ actor }) => actor)} actors)`
  )
}

/**
 * A row that only a policy refuses to insert is an error instead of a 404, or instead of a 400 if it refers to a row
 * out of reach. It is still not inserted.
 */
export function isRefusedInsert({ route, expected, actual }: Verdict): boolean {
  return /^(POST|PUT) /.test(route) && (expected === 404 || expected === 400) && actual === 500
}
