import type { EntrySettings } from './entry.ts'

/** What a change comes from: a request, or the processing of a billing event. */
export type Cause = { requestId: string } | { billingEventId: string }

/** The cause of the events that a transaction publishes, for `withSettings`. */
export function causeSettings(cause: Cause, traceparent: string | null): EntrySettings {
  return { 'app.cause': causeText(cause), 'app.traceparent': traceparent ?? '' }
}

/** As the column `cause` has it: `request:ID` or `billing-event:ID`. */
export function causeText(cause: Cause): string {
  return 'requestId' in cause
    ? `request:${cause.requestId}`
    : `billing-event:${cause.billingEventId}`
}

/** The cause in a column; null if there is none. */
export function readCause(text: string | null): Cause | null {
  if (text === null) return null
  const id = text.slice(text.indexOf(':') + 1)
  return text.startsWith('request:') ? { requestId: id } : { billingEventId: id }
}
