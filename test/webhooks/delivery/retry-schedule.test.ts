import t from 'tap'
import { decideStart, nextStep, type Startable } from '#src/webhooks/delivery/outcome.ts'

const waits = [0, 5, 30, 300, 3_600]
const answer = (statusCode: number, retryAfterSeconds: number | null = null) => ({
  statusCode,
  retryAfterSeconds,
  error: null,
})
const failed = answer(500)
const accepted = answer(204)

t.test('waits of 0, 5, 30, 300 and 3600 seconds before attempts 1 to 5', async (t) => {
  const steps = [1, 2, 3, 4, 5].map((attempt) => nextStep(attempt, failed, waits))
  t.strictSame(steps, [
    { outcome: null, waitSeconds: 5 },
    { outcome: null, waitSeconds: 30 },
    { outcome: null, waitSeconds: 300 },
    { outcome: null, waitSeconds: 3_600 },
    { outcome: 'exhausted' },
  ])
})

t.test('the first 2xx of any attempt ends the schedule', async (t) => {
  for (const attempt of [1, 2, 3, 4, 5, 6]) {
    t.strictSame(nextStep(attempt, accepted, waits), { outcome: 'succeeded' })
  }
})

t.test('a schedule of one attempt is exhausted by its failure', async (t) => {
  t.strictSame(nextStep(1, failed, [0]), { outcome: 'exhausted' })
})

t.test('Retry-After puts the next attempt off, within two hours', async (t) => {
  const waitAfter = (attempt: number, seconds: number) =>
    nextStep(attempt, answer(429, seconds), waits)
  t.strictSame(waitAfter(1, 120), { outcome: null, waitSeconds: 120 })
  t.strictSame(waitAfter(1, 4), { outcome: null, waitSeconds: 5 }, 'never earlier')
  t.strictSame(waitAfter(1, -60), { outcome: null, waitSeconds: 5 }, 'a date in the past')
  t.strictSame(waitAfter(1, 7_201), { outcome: null, waitSeconds: 7_200 })
  t.strictSame(nextStep(1, answer(429, 7_201), [0, 8_000]), { outcome: null, waitSeconds: 8_000 })
  t.strictSame(waitAfter(5, 60), { outcome: 'exhausted' }, 'no further attempt')
  t.strictSame(nextStep(1, answer(204, 60), waits), { outcome: 'succeeded' })
})

const createdAt = new Date('2026-03-01T10:00:00Z')
const delivery: Startable = {
  status: 'pending',
  series: 0,
  attempts: 0,
  isTrial: false,
  createdAt,
  endpoint: { status: 'active' },
}
const first = { series: 0, number: 1 }

t.test('a job makes its attempt only if it is due', async (t) => {
  const start = (job: typeof first, found: Startable | null) =>
    decideStart(job, found, waits, createdAt)
  t.equal(start(first, delivery), 'attempt')
  t.equal(start({ series: 0, number: 3 }, { ...delivery, attempts: 2 }), 'attempt')
  t.equal(start({ series: 2, number: 1 }, { ...delivery, series: 2 }), 'attempt')
  t.equal(start(first, null), 'drop', 'the delivery is gone')
  t.equal(start(first, { ...delivery, attempts: 1 }), 'drop', 'attempt made before')
  t.equal(start({ series: 0, number: 2 }, delivery), 'drop', 'an earlier attempt is due')
  t.equal(start(first, { ...delivery, series: 1 }), 'drop', 'a replay has begun')
  t.equal(start({ series: 1, number: 1 }, delivery), 'drop')
  for (const status of ['succeeded', 'exhausted'] as const) {
    t.equal(start(first, { ...delivery, status }), 'drop', 'the delivery has ended')
  }
})

t.test('a trial is made even if its endpoint is disabled, but only if it is due', async (t) => {
  const trial = { ...delivery, isTrial: true, endpoint: { status: 'disabled' as const } }
  t.equal(decideStart(first, trial, waits, createdAt), 'attempt')
  t.equal(decideStart(first, { ...trial, status: 'exhausted' }, waits, createdAt), 'drop')
})

t.test('nothing is sent to a disabled endpoint', async (t) => {
  const disabled = { ...delivery, endpoint: { status: 'disabled' as const } }
  t.equal(decideStart(first, disabled, waits, createdAt), 'give-up')
  const failing = { ...delivery, endpoint: { status: 'failing' as const } }
  t.equal(decideStart(first, failing, waits, createdAt), 'attempt')
})

t.test(
  'the wait before the first attempt counts from the event, and only in the schedule',
  async (t) => {
    const after = (ms: number) => new Date(createdAt.getTime() + ms)
    const start = (job: typeof first, found: Startable, ms: number) =>
      decideStart(job, found, [10, 5], after(ms))
    t.strictSame(start(first, delivery, 4_000), { waitSeconds: 6 })
    t.equal(start(first, delivery, 10_000), 'attempt')
    t.equal(start({ series: 1, number: 1 }, { ...delivery, series: 1 }, 4_000), 'attempt')
    t.equal(start({ series: 0, number: 2 }, { ...delivery, attempts: 1 }, 4_000), 'attempt')
  },
)
