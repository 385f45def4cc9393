import { measureChain } from './chain.ts'
import type { Place } from './place.ts'
import type { Section } from './section.ts'

const note = `500,000 documents in 20,000 folders nested up to five deep, 2,000 people in four of 400 teams each, one
person in all of them. Whole transactions one after another, including Prisma; “nothing” is an empty
transaction.`

/** Checks of the relationship from a team to a document. */
export async function measureRelationships(place: Place): Promise<Section> {
  const measured = await measureChain(place)
  const check = measured.find(({ what }) => what === 'one document')
  return {
    title: 'Relationship chains',
    ratios: [
      {
        measure: 'p99 of a check at 500,000 documents, ms',
        value: check?.p99Ms.toFixed(2) ?? 'not measured',
        goal: '≤ 5',
      },
    ],
    measures: [
      ['One at a time', 'p50 ms', 'p99 ms'],
      ...measured.map(({ what, p50Ms, p99Ms }) => [what, p50Ms.toFixed(2), p99Ms.toFixed(2)]),
    ],
    note,
  }
}
