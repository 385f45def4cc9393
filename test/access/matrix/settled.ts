import type { Verdict } from '#dev/testing/access/matrix.ts'

/** What the contract settles, each with the verdicts that show it: the matrix must have one. */
export type Settled = Readonly<Record<string, (verdict: Verdict) => boolean>>

type Case = Partial<Pick<Verdict, 'route' | 'actor' | 'place' | 'expected'>>

/** Verdicts with these members. */
export function like(wanted: Case): (verdict: Verdict) => boolean {
  return (verdict) =>
    Object.entries(wanted).every(([name, value]) => Object(verdict)[name] === value)
}
