import { isWrong, type Verdict } from './matrix.ts'

/** Each verdict that is not what the contract says, as a line. */
export function wrongOf(verdicts: readonly Verdict[]): string[] {
  return verdicts.filter(isWrong).map(({ route, actor, place, expected, actual, fault }) => {
    const subject = place === null ? route : `${route}, ${place}`
    return `${subject}, for ${actor}: ${expected} expected, ${actual} answered${fault ? `; ${fault}` : ''}`
  })
}

/** Whether somebody got at an object that is not theirs to come near. */
export function leaks(verdicts: readonly Verdict[]): boolean {
  return verdicts.some(
    ({ expected, actual, fault }) =>
      (expected === 404 && actual < 400) || (actual === 200 && fault !== null),
  )
}

/** How much was judged. */
export function summaryOf(verdicts: readonly Verdict[]): string {
  const count = (pick: (verdict: Verdict) => unknown) => new Set(verdicts.map(pick)).size
  const refused = verdicts.filter(({ expected }) => expected >= 400).length
  return (
    `access matrix: ${verdicts.length} cases, ${refused} of them refusals ` +
    `(${count(({ route }) => route)} routes, ${count(({ actor }) => actor)} actors)`
  )
}
