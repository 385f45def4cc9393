import t from 'tap'
import { needsOwner, nextLookAt, nextTrialAt } from '#src/webhooks/health/recovery.ts'
import {
  type AttemptOutcome,
  affectsState,
  changeState,
  type EndpointState,
} from '#src/webhooks/health/state.ts'

const minute = 60_000
const hour = 60 * minute
const start = new Date('2026-03-10T10:00:00Z')
const at = (ms: number) => new Date(start.getTime() + ms)
const broken = { statusCode: 503, cause: null }
const succeeded: AttemptOutcome = { kind: 'succeeded', isTrial: false }
const failed: AttemptOutcome = { kind: 'failed', isTrial: false, ...broken }
const exhausted: AttemptOutcome = { kind: 'exhausted', isTrial: false, ...broken }
const waiting = { now: at(hour), hasBacklog: true }
const failing: EndpointState = {
  status: 'failing',
  lastSuccessAt: null,
  healthySince: null,
  retryingSince: start,
  failureStatus: 503,
  failureCause: null,
  failingSince: start,
  exhaustedDeliveries: 1,
  disabledAt: null,
  outageSince: start,
  recoveringSince: null,
  recoveryStep: 0,
  trialAt: at(minute),
  trials: 0,
  trialDeliveryId: null,
}
const recovering: EndpointState = {
  ...failing,
  status: 'active',
  failingSince: null,
  retryingSince: null,
  recoveringSince: at(minute),
  recoveryStep: 1,
  trialAt: null,
}

t.test('trials after 1, 5, 15 and 60 minutes, then every 6 hours', async (t) => {
  const times: number[] = []
  let now = start
  for (let trials = 0; trials < 7; trials++) {
    now = nextTrialAt({ failingSince: start, trials, ...broken }, now)
    times.push((now.getTime() - start.getTime()) / minute)
  }
  t.strictSame(times, [1, 5, 15, 60, 420, 780, 1140])
})

t.test('without a delivery that waits a look follows, seldom', async (t) => {
  t.strictSame(nextLookAt('failing', start), at(15 * minute))
  t.strictSame(nextLookAt('disabled', start), at(6 * hour))
})

t.test('trials that were missed do not follow at once', async (t) => {
  const next = nextTrialAt({ failingSince: start, trials: 1, ...broken }, at(2 * hour))
  t.strictSame(next, at(2 * hour + minute))
})

t.test('for a failure that does not pass by itself at most one trial a day', async (t) => {
  const refusals = [401, 403, 404, 410].map((statusCode) => ({ statusCode, cause: null }))
  for (const failure of [...refusals, { statusCode: null, cause: 'tls-name: other' }]) {
    t.ok(needsOwner(failure))
    const facts = { failingSince: start, ...failure }
    t.strictSame(nextTrialAt({ ...facts, trials: 0 }, start), at(minute), 'the first one')
    t.strictSame(nextTrialAt({ ...facts, trials: 1 }, at(minute)), at(24 * hour + minute))
  }
  for (const failure of [broken, { statusCode: null, cause: 'tls-expired: x' }]) {
    t.notOk(needsOwner(failure))
  }
})

t.test('failing plans the first trial', async (t) => {
  const active = { ...recovering, recoveringSince: null, recoveryStep: 0, outageSince: null }
  t.match(changeState(active, exhausted, { now: start, hasBacklog: false }), {
    state: { status: 'failing', outageSince: start, trials: 0, trialAt: at(minute) },
  })
  t.match(changeState({ ...failing, trialAt: null }, exhausted, waiting)?.state, { trialAt: Date })
})

t.test('the result of the trial decides: it is not one more exhausted delivery', async (t) => {
  const trying = { ...failing, trials: 1, trialAt: at(5 * minute), trialDeliveryId: 'd' }
  t.match(changeState(trying, { ...failed, isTrial: true }, waiting), {
    state: { status: 'failing', trialDeliveryId: null, exhaustedDeliveries: 1 },
    alert: null,
  })
  const again = changeState(trying, { ...failed, isTrial: true }, waiting)
  t.strictSame(again?.state.trialAt, at(5 * minute), 'the next one is planned already')
  const refused = changeState(trying, { ...failed, isTrial: true, statusCode: 404 }, waiting)
  t.strictSame(refused?.state.trialAt, at(25 * hour), 'a refusal puts it off')
  t.match(changeState(trying, { ...succeeded, isTrial: true }, waiting), {
    state: { status: 'active', recoveringSince: at(hour), recoveryStep: 1, trialAt: null },
    alert: 'endpoint.recovering',
    drains: true,
  })
})

t.test('five successes in a row, or nothing that waits, end a recovery', async (t) => {
  let state = recovering
  const steps: number[] = []
  for (let n = 0; n < 4; n++) {
    const change = changeState(state, succeeded, waiting)
    state = change?.state ?? state
    steps.push(state.recoveryStep)
    t.equal(change?.alert, n === 3 ? 'endpoint.recovered' : null)
  }
  t.strictSame(steps, [2, 3, 4, 0])
  t.match(state, {
    status: 'active',
    recoveringSince: null,
    outageSince: null,
    healthySince: at(hour),
  })
  t.match(changeState(failing, succeeded, { ...waiting, hasBacklog: false }), {
    state: { recoveringSince: null, outageSince: null },
    alert: 'endpoint.recovered',
    drains: false,
  })
})

t.test('a failure goes one step back, from the first to failing, without an alert', async (t) => {
  t.match(changeState({ ...recovering, recoveryStep: 3 }, failed, waiting), {
    state: { status: 'active', recoveryStep: 2, recoveringSince: recovering.recoveringSince },
    alert: null,
  })
  t.match(changeState(recovering, failed, waiting), {
    state: {
      status: 'failing',
      failingSince: at(hour),
      exhaustedDeliveries: 0,
      outageSince: start,
      recoveringSince: null,
      recoveryStep: 0,
      trials: 0,
      trialAt: at(hour + minute),
    },
    alert: null,
  })
})

t.test('only a trial changes a disabled endpoint', async (t) => {
  const disabled: EndpointState = { ...failing, status: 'disabled', disabledAt: at(minute) }
  t.equal(changeState(disabled, succeeded, waiting), null)
  t.match(changeState(disabled, { ...failed, isTrial: true }, waiting), {
    state: { status: 'disabled', disabledAt: at(minute) },
  })
  t.match(changeState(disabled, { ...succeeded, isTrial: true }, waiting), {
    state: { status: 'active', disabledAt: null, recoveryStep: 1 },
    alert: 'endpoint.recovering',
  })
})

t.test('every outcome of a trial and of a recovery is stored', async (t) => {
  const known = { ...recovering, lastSuccessAt: at(hour) }
  t.ok(affectsState(known, succeeded, at(hour)))
  t.ok(affectsState(failing, { ...failed, isTrial: true }, at(hour)))
  t.notOk(affectsState(failing, failed, at(hour)))
})
