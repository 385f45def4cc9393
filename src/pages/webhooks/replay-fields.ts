import Type from 'typebox'
import { isReplayRange, maxRangeDays } from '#src/outbound/replay-range.ts'
import { deliveryStatuses } from '#src/webhooks/delivery/deliveries.ts'
import type { ReplayRange } from '#src/webhooks/delivery/replays.ts'

const rangeMs = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 }

// As a browser's field for date and time sends it, empty where it was not filled in.
const LocalTime = Type.String({ pattern: '^(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d)?)?$' })

/** What the form that sends a range again says. */
export const RangeFields = Type.Object(
  {
    range: Type.Enum(['hour', 'day', 'week']),
    from: LocalTime,
    to: LocalTime,
    status: Type.Enum(['', ...deliveryStatuses]),
  },
  { additionalProperties: false },
)

/** The range that is asked for, or why it is none. Times of one's own (UTC) go before the others. */
export function readRange(
  { range, from, to, status }: Type.Static<typeof RangeFields>,
  now: Date,
): ReplayRange | { fault: string } {
  const chosen = status === '' ? null : status
  if (from === '' && to === '') {
    return { from: new Date(now.getTime() - rangeMs[range]), to: now, status: chosen }
  }
  const own = { from: new Date(`${from}Z`), to: new Date(`${to}Z`) }
  if (isReplayRange(own.from, own.to)) return { ...own, status: chosen }
  return { fault: `Give both times, the later one second, at most ${maxRangeDays} days apart.` }
}
