import t from 'tap'
import type { DueDelivery } from '#src/webhooks/delivery/claim.ts'
import {
  attempted,
  givenUp,
  postponed,
  statusAfter,
  waitAfter,
} from '#src/webhooks/delivery/outcome.ts'

const now = new Date('2026-03-10T10:00:00Z')
const schedule = [0, 5, 30]
const delivery: DueDelivery = {
  id: 'd',
  status: 'pending',
  series: 0,
  attempts: 0,
  createdAt: now,
  isTrial: false,
  event: { id: 'msg_1', body: '{}', cause: null, traceparent: null },
  endpoint: {
    id: 'e',
    tenantId: 't',
    url: 'https://example.com/',
    signature: 'spec',
    secret: new Uint8Array(),
    previousSecret: null,
    previousSecretExpiresAt: null,
    status: 'active',
    lastSuccessAt: now,
    retryingSince: null,
    failureStatus: null,
    failureCause: null,
    recoveringSince: null,
    isLimited: false,
    isPaused: false,
  },
}
const answer = (statusCode: number) => ({
  statusCode,
  responseExcerpt: '',
  retryAfterSeconds: null,
  startedAt: now,
  durationMs: 1,
  error: null,
  cause: null,
  certificateExpiresAt: null,
})

t.test('a failed attempt is followed by the next one, counted from its end', async (t) => {
  const outcome = attempted(delivery, answer(500), schedule, now)
  t.match(outcome, {
    kind: 'attempted',
    attempts: 0,
    lowPriority: false,
    endpointOutcome: { endpointId: 'e', outcome: { kind: 'failed', statusCode: 500 } },
  })
  t.equal(statusAfter(outcome), 'pending')
  const wait = waitAfter(outcome) ?? 0
  t.ok(wait > 0 && wait <= 5)
  const longAgo = performance.now() - 60_000
  t.equal(waitAfter({ ...outcome, endedMs: longAgo } as typeof outcome), 0)
})

t.test('a success and the last failure end the delivery', async (t) => {
  const success = attempted(delivery, answer(204), schedule, now)
  t.equal(statusAfter(success), 'succeeded')
  t.equal(waitAfter(success), null)
  t.match(success, { endpointOutcome: null }, 'the state of the endpoint is as before')
  const last = attempted({ ...delivery, attempts: 2 }, answer(500), schedule, now)
  t.equal(statusAfter(last), 'exhausted')
  t.match(last, { endpointOutcome: { outcome: { kind: 'exhausted', isTrial: false } } })
})

t.test('a trial has one attempt, which exhausts no delivery once more', async (t) => {
  const trial = attempted({ ...delivery, isTrial: true }, answer(500), schedule, now)
  t.equal(statusAfter(trial), 'exhausted')
  t.match(trial, { endpointOutcome: { outcome: { kind: 'failed', isTrial: true } } })
})

t.test('what was not attempted waits, or is given up', async (t) => {
  const failing = { ...delivery, endpoint: { ...delivery.endpoint, status: 'failing' as const } }
  t.match(postponed(failing, 10), { kind: 'postponed', lowPriority: true })
  t.equal(statusAfter(postponed(delivery, 10)), 'pending')
  t.equal(statusAfter(givenUp(delivery)), 'exhausted')
  t.equal(waitAfter(givenUp(delivery)), null)
})
