import Type from 'typebox'
import type { Used } from './filters.ts'

/* A filter of lists by time that moves on: from a while ago until now. */

const periods = {
  hour: { label: 'Last hour', ms: 3_600_000 },
  day: { label: 'Last day', ms: 86_400_000 },
  week: { label: 'Last week', ms: 604_800_000 },
  month: { label: 'Last 30 days', ms: 2_592_000_000 },
} as const

/** The parameter of a page; the API has `from` alone. */
export const sinceParameter = {
  since: Type.Optional(Type.Enum(Object.keys(periods))),
}

/** How the filter looks. */
export function sinceLook(label: string) {
  const options = Object.entries(periods).map(([value, { label }]) => ({ value, label }))
  return { label, all: 'Any time', options }
}

/** At or after, and before; RFC 3339. */
export type MeantRange = Readonly<Record<'from' | 'to', string | undefined>>

/** The range that filters mean now, as a list takes it. `from` goes before `since`. */
export function rangeOf({ since, from, to }: Used, now: Date): MeantRange {
  const ms = Object.entries(periods).find(([name]) => name === since)?.[1].ms
  const begin = ms === undefined ? undefined : new Date(now.getTime() - ms).toISOString()
  return { from: from ?? begin, to }
}
