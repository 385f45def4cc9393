import { Refusal } from '#src/http/problems.ts'
import type { Decision } from './policy.ts'

/** What a person is told; the code is in the log. */
const details: Partial<Record<Decision['reason'], string>> = {
  'editor-of-another-department': 'An editor may change what is of their own department only.',
  'editor-outside-hours': 'An editor may change this between 09:00 and 17:00 UTC only.',
}

/** The 403 for what `decide` has refused, in words where the reason is the caller's to know. */
export function refusalOf(reason: Decision['reason']): Refusal {
  const detail = details[reason]
  return new Refusal('forbidden', detail === undefined ? {} : { detail })
}
