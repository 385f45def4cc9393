import type { BadgeMood } from '#src/pages/kit/components.ts'

/** The state of a subscription in words, with what to know about it. */
export type State = { words: string; mood: BadgeMood | undefined; note?: string }

const states: Readonly<Record<string, State>> = {
  active: { words: 'Active', mood: 'good' },
  trialing: { words: 'Trial', mood: 'good' },
  past_due: {
    words: 'Payment failed',
    mood: 'warning',
    note: 'The last payment failed. The plan stays while the provider tries again: check your card.',
  },
  unpaid: {
    words: 'Unpaid',
    mood: 'bad',
    note: 'The plan has ended because a payment is missing. Pay the open invoice to get it back.',
  },
  paused: { words: 'Paused', mood: undefined },
  canceled: { words: 'Ended', mood: undefined },
  incomplete: { words: 'Waiting for the first payment', mood: 'warning' },
  incomplete_expired: { words: 'Ended', mood: undefined },
}

/** @param status as GET /subscriptions has it */
export function stateOf(status: string): State {
  return states[status] ?? { words: status, mood: undefined }
}
