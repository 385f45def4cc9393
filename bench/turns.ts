import { type Measured, medianOf } from './measured.ts'

export type Contest = { contender: string; connections: number }

/**
 * Measures every contest `runs` times, alternating, so that disturbances affect all of them.
 * @param measure resolves to null if the contender is not available
 */
export async function takeTurns<One extends Contest>(
  contests: readonly One[],
  runs: number,
  measure: (contest: One) => Promise<Measured | null>,
): Promise<Map<string, Measured>> {
  const all = new Map<string, Measured[]>()
  for (let run = 0; run < runs; run++) {
    for (const contest of contests) {
      const measured = await measure(contest)
      if (measured === null) continue
      const name = nameOf(contest)
      all.set(name, [...(all.get(name) ?? []), measured])
      console.log(`${name.padEnd(24)} ${measured.perSecond.toFixed(0).padStart(7)}/s`)
    }
  }
  return new Map([...all].map(([name, runs]) => [name, medianOf(runs)]))
}

export function nameOf({ contender, connections }: Contest): string {
  return `${contender}, ${connections}`
}
