import t from 'tap'
import { JobGone } from '#src/queue/enter-jobs.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import type { DueAttempt } from '#src/webhooks/delivery/claim.ts'
import {
  beginTurn,
  step,
  type TurnEvent,
  type TurnFacts,
  type TurnState,
} from '#src/webhooks/delivery/turn-state.ts'

const now = 100_000
const time = new Date('2026-03-10T10:00:00Z')
const ago = (ms: number) => new Date(time.getTime() - ms)
const facts: TurnFacts = {
  idleMs: 1_000,
  longMs: 10_000,
  errorMs: 500,
  now,
  time,
  slots: { inFlight: 16, perEndpoint: 3, taken: 0 },
  isCrowded: false,
  isAbandoned: false,
}
const due = (name: string, ageMs = 1_000): DueAttempt => ({
  tenantId: 'tenant',
  endpointId: 'endpoint',
  deliveryId: name,
  series: 0,
  number: 1,
  dueAt: ago(ageMs),
  released: false,
  delivery: null,
})
const [a, b, c] = [due('a', 3_000), due('b', 2_000), due('c', 1_000)]
const ready = (...attempts: DueAttempt[]) =>
  attempts.map((one) => ({ due: one, readAt: now, isAdmitted: false }))
const fault = new Error('a fault of ours')
const gone = new JobGone('endpoint-turn')
const busyAddress = new PostponedError('address-busy', 'enough connections')

const fresh = beginTurn(now)
/** It has read everything that was due, without a rest. */
const dry: TurnState = { ...fresh, isDry: true }
const claiming: TurnState = {
  ...fresh,
  claim: { wanted: 12, position: null, isWoken: false },
}
const sending: TurnState = { ...dry, sending: 1 }
const unrecorded: TurnState = { ...dry, unrecorded: 1 }
const reading = { ...fresh.reading, position: c.dueAt, wholeAt: now, overlapAt: now }
const look: TurnEvent = { kind: 'look' }
const claimed = (...found: DueAttempt[]): TurnEvent => ({ kind: 'claimed', found, admitted: found })

type Case = {
  name: string
  state: TurnState
  event: TurnEvent
  facts?: Partial<TurnFacts>
  effects: readonly object[]
  after?: object
}

const cases: readonly Case[] = [
  {
    name: 'a turn begins with a claim from the beginning, of four times its share',
    state: fresh,
    event: look,
    effects: [{ kind: 'claim', since: null, room: 12 }],
    after: { claim: { wanted: 12, isWoken: false } },
  },
  {
    name: 'a second claim waits for the first one',
    state: claiming,
    event: look,
    effects: [],
  },
  {
    name: 'what is claimed begins at once, the oldest first, as far as the share goes',
    state: claiming,
    event: claimed(a, b, c, due('d')),
    effects: [a, b, c].map((one) => ({ kind: 'attempt', due: one })),
    after: { sending: 3, ready: { length: 1 }, isDry: true, claim: null },
  },
  {
    name: 'a claim that found all that it asked for is followed by the next one',
    state: {
      ...claiming,
      claim: { wanted: 2, position: null, isWoken: false },
      reading: { ...reading, position: null },
    },
    event: claimed(a, b),
    effects: [
      { kind: 'attempt', due: a },
      { kind: 'attempt', due: b },
      { kind: 'claim', since: b.dueAt, room: 10 },
    ],
    after: { isDry: false, reading: { position: b.dueAt } },
  },
  {
    name: 'the second claim that finds something announces the turn',
    state: { ...claiming, busyClaims: 1 },
    event: claimed(a),
    effects: [{ kind: 'announce' }, { kind: 'attempt', due: a }],
    after: { busyClaims: 2 },
  },
  {
    name: 'the third one does not',
    state: { ...claiming, busyClaims: 2 },
    event: claimed(a),
    effects: [{ kind: 'attempt', due: a }],
  },
  {
    name: 'what is beyond the rate limit does not begin',
    state: claiming,
    event: { kind: 'claimed', found: [a, b], admitted: [b] },
    effects: [{ kind: 'attempt', due: b }],
    after: { reading: { position: b.dueAt } },
  },
  {
    name: 'a turn that is woken during a claim reads once more',
    state: { ...claiming, claim: { wanted: 12, position: null, isWoken: true } },
    event: claimed(),
    effects: [{ kind: 'claim', since: null }],
  },
  {
    name: 'a claim does not move the position on if that was set back meanwhile',
    state: {
      ...claiming,
      claim: { wanted: 12, position: c.dueAt, isWoken: false },
      reading: { ...reading, position: a.dueAt },
    },
    event: claimed(due('e', 500)),
    effects: [{ kind: 'attempt' }],
    after: { reading: { position: a.dueAt } },
  },
  {
    name: 'in a backlog a claim begins where the last one ended',
    state: { ...fresh, reading: { ...reading, wasFull: true } },
    event: look,
    effects: [{ kind: 'claim', since: c.dueAt }],
  },
  {
    name: 'every 250 ms it begins a second ago, because a slow transaction adds behind it',
    state: {
      ...fresh,
      reading: {
        ...reading,
        position: ago(0),
        wasFull: true,
        overlapAt: now - 250,
        longOverlapAt: now,
      },
    },
    event: look,
    effects: [{ kind: 'claim', since: ago(1_000) }],
    after: { reading: { overlapAt: now } },
  },
  {
    name: 'every second it begins fifteen seconds ago',
    state: {
      ...fresh,
      reading: { ...reading, overlapAt: 0, longOverlapAt: now - 1_001 },
    },
    event: look,
    effects: [{ kind: 'claim', since: ago(15_000) }],
    after: { reading: { longOverlapAt: now } },
  },
  {
    name: 'every minute it begins at the beginning',
    state: { ...fresh, reading: { ...reading, wholeAt: now - 60_001 } },
    event: look,
    effects: [{ kind: 'claim', since: null }],
  },
  {
    name: 'nothing is read while 256 attempts are not recorded, and nothing begins',
    state: { ...fresh, ready: ready(a), unrecorded: 256 },
    event: look,
    effects: [],
  },
  {
    name: 'an attempt that ends makes room for the next one, before it is recorded',
    state: { ...sending, sending: 3, ready: ready(b) },
    event: { kind: 'attempted' },
    facts: { slots: { ...facts.slots, taken: 2 } },
    effects: [{ kind: 'attempt', due: b }],
    after: { sending: 3, unrecorded: 1 },
  },
  {
    name: 'without a free slot an endpoint with nothing in progress waits for one',
    state: { ...dry, ready: ready(a) },
    event: look,
    facts: { slots: { ...facts.slots, taken: 16 } },
    effects: [{ kind: 'wait-for-slot' }],
  },
  {
    name: 'one with an attempt in progress does not',
    state: { ...sending, ready: ready(a) },
    event: look,
    facts: { slots: { ...facts.slots, taken: 16 } },
    effects: [],
  },
  {
    name: 'what was read more than a second ago is read again',
    state: { ...dry, ready: ready(a, b), reading },
    event: look,
    facts: { now: now + 1_001 },
    effects: [{ kind: 'forget', attempts: [a, b] }, { kind: 'claim' }],
    after: { ready: { length: 0 }, reading: { position: a.dueAt } },
  },
  {
    name: 'what the rate limit has admitted is not',
    state: { ...dry, ready: ready(a).map((one) => ({ ...one, isAdmitted: true })) },
    event: look,
    facts: { now: now + 1_001 },
    effects: [{ kind: 'attempt', due: a }],
  },
  {
    name: 'with a rate limit nothing is read ahead',
    state: { ...fresh, isLimited: true },
    event: look,
    effects: [{ kind: 'claim', room: 3 }],
  },
  {
    name: 'a busy address is a pause, and its attempt is read again',
    state: { ...sending, reading },
    event: { kind: 'not-attempted', due: a, error: busyAddress },
    effects: [{ kind: 'look-again', afterMs: 250 }],
    after: { sending: 0, isDry: false, reading: { position: a.dueAt }, failure: null },
  },
  {
    name: 'another reason not to make an attempt gives the turn up',
    state: { ...sending, ready: ready(b) },
    event: { kind: 'not-attempted', due: a, error: fault },
    effects: [
      { kind: 'forget', attempts: [b] },
      { kind: 'give-up', error: fault },
    ],
    after: { phase: 'leaving' },
  },
  {
    name: 'not before the others are recorded',
    state: { ...sending, sending: 2, ready: ready(b) },
    event: { kind: 'not-attempted', due: a, error: fault },
    effects: [{ kind: 'forget', attempts: [b] }],
    after: { phase: 'working' },
  },
  {
    name: 'an outcome that cannot be recorded gives the turn up',
    state: unrecorded,
    event: { kind: 'not-recorded', error: fault },
    effects: [{ kind: 'give-up', error: fault }],
  },
  {
    name: 'the first failure counts',
    state: { ...unrecorded, failure: { error: fault } },
    event: { kind: 'not-recorded', error: new Error('another one') },
    effects: [{ kind: 'give-up', error: fault }],
  },
  {
    name: 'a claim that fails is repeated after a pause',
    state: claiming,
    event: { kind: 'claim-failed', error: fault },
    effects: [{ kind: 'look-again', afterMs: 500 }],
    after: { claim: null, failure: null },
  },
  {
    name: 'a turn that another worker has is over without a word',
    state: claiming,
    event: { kind: 'claim-failed', error: gone },
    effects: [{ kind: 'over' }],
    after: { phase: 'over' },
  },
  {
    name: 'a turn with nothing due rests before it ends',
    state: unrecorded,
    event: { kind: 'recorded' },
    effects: [{ kind: 'look-again', afterMs: 1_000 }],
    after: { phase: 'working', unrecorded: 0 },
  },
  {
    name: 'it ends after the rest',
    state: dry,
    event: look,
    facts: { now: now + 1_000 },
    effects: [{ kind: 'end' }],
    after: { phase: 'leaving' },
  },
  {
    name: 'a wake during the rest reads again',
    state: dry,
    event: { kind: 'wake' },
    effects: [{ kind: 'claim' }],
  },
  {
    name: 'a turn that may not end reads from the beginning',
    state: { ...dry, phase: 'leaving', reading },
    event: { kind: 'not-ended' },
    effects: [{ kind: 'claim', since: null }],
    after: { phase: 'working' },
  },
  {
    name: 'nothing begins while it leaves',
    state: { ...fresh, phase: 'leaving', ready: ready(a) },
    event: { kind: 'wake' },
    effects: [],
  },
  {
    name: 'it is over once it has left',
    state: { ...dry, phase: 'leaving' },
    event: { kind: 'left' },
    effects: [{ kind: 'over' }],
    after: { phase: 'over' },
  },
  {
    name: 'a stop begins nothing more and gives the turn back',
    state: { ...fresh, ready: ready(a) },
    event: { kind: 'finish' },
    effects: [{ kind: 'forget', attempts: [a] }, { kind: 'hand-back' }],
    after: { phase: 'leaving' },
  },
  {
    name: 'a stop waits for the claim in progress',
    state: claiming,
    event: { kind: 'finish' },
    effects: [],
    after: { phase: 'working' },
  },
  {
    name: 'and begins nothing that it found',
    state: { ...claiming, isFinishing: true },
    event: claimed(a),
    effects: [{ kind: 'forget', attempts: [a] }, { kind: 'hand-back' }],
  },
  {
    name: 'a long turn gives way if others wait',
    state: { ...fresh, ready: ready(a) },
    event: look,
    facts: { now: now + 10_001, isCrowded: true },
    effects: [{ kind: 'forget' }, { kind: 'hand-back' }],
  },
  {
    name: 'a short one does not',
    state: dry,
    event: look,
    facts: { isCrowded: true },
    effects: [{ kind: 'look-again' }],
  },
  {
    name: 'an abandoned turn is over, whatever is in progress',
    state: { ...sending, ready: ready(a) },
    event: look,
    facts: { isAbandoned: true },
    effects: [{ kind: 'over' }],
    after: { phase: 'over' },
  },
  {
    name: 'after that an attempt that ends changes nothing more',
    state: { ...sending, phase: 'over', ready: ready(a) },
    event: { kind: 'attempted' },
    effects: [],
    after: { phase: 'over' },
  },
]

for (const { name, state, event, facts: other, effects, after = {} } of cases) {
  t.test(name, async (t) => {
    const before = structuredClone({ ...state, failure: null })
    const next = step(state, event, { ...facts, ...other })
    t.equal(next.effects.length, effects.length)
    t.match(next.effects, effects)
    t.match(next.state, after)
    t.same({ ...state, failure: null }, before, 'the state before stays as it was')
  })
}
