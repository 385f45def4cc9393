import t from 'tap'
import type { Queryable } from '#src/db/system-database.ts'
import { createAnswers, maxWaiting } from '#src/queue/answers.ts'
import type { EndedJob } from '#src/queue/job-table.ts'

const limits = { takenSeconds: 4, answeredMs: 60_000 }
const id = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000002'

const jobOf = (one: string) => ({ queue: 'endpoint-call', id: one, tenantId: 'a' }) as const

/** Answers of jobs that end when the test says so. */
function setUp() {
  const ended: EndedJob[] = []
  let looks = 0
  let isBroken = false
  const sql = async () => {
    looks += 1
    if (isBroken) throw new Error('no database')
    return ended
  }
  const answers = createAnswers({ sql } as unknown as Queryable)
  return {
    answers,
    ended,
    looks: () => looks,
    setBroken: (broken: boolean) => {
      isBroken = broken
    },
  }
}

t.test('each request gets the output of its own job', async (t) => {
  const { answers, ended } = setUp()
  const waits = [id, other].map((one) => answers.wait(jobOf(one), limits))
  ended.push({ id: other, state: 'completed', output: { b: 2 } })
  t.same(await waits[1], { b: 2 })
  ended.push({ id, state: 'completed', output: { a: 1 } })
  t.same(await waits[0], { a: 1 })
})

t.test('a job that no worker took was missed; one that failed or is gone was lost', async (t) => {
  for (const [state, fault] of [
    ['created', 'missed'],
    ['failed', 'lost'],
    ['cancelled', 'lost'],
    [null, 'lost'],
  ] as const) {
    const { answers, ended } = setUp()
    ended.push({ id, state, output: null })
    const wait = answers.wait(jobOf(id), limits)
    await t.rejects(wait, { name: 'UnansweredError', fault }, String(state))
  }
})

t.test('a wait survives an outage of the database, and ends by its own limit', async (t) => {
  const { answers, ended, looks, setBroken } = setUp()
  setBroken(true)
  const wait = answers.wait(jobOf(id), limits)
  const short = answers.wait(jobOf(other), { ...limits, answeredMs: 120 })
  await t.rejects(short, { name: 'UnansweredError', fault: 'lost' })
  t.ok(looks() > 0)
  setBroken(false)
  ended.push({ id, state: 'completed', output: {} })
  t.same(await wait, {})
})

t.test('closing ends every wait', async (t) => {
  const { answers } = setUp()
  const waits = [id, other].map((one) => answers.wait(jobOf(one), limits))
  answers.close()
  for (const wait of waits) await t.rejects(wait, { name: 'UnansweredError', fault: 'lost' })
})

t.test(
  'a tenant has so many waiting requests at most, and leaves room to the others',
  async (t) => {
    const { answers, ended } = setUp()
    const ids = Array.from({ length: maxWaiting }, () => crypto.randomUUID())
    for (const _ of ids) answers.requireRoom('a')
    const waits = ids.map((one) => answers.wait(jobOf(one), limits))
    t.throws(() => answers.requireRoom('a'), { name: 'TenantBusy' })
    answers.requireRoom('b')
    const [first = ''] = ids
    ended.push({ id: first, state: 'completed', output: {} })
    await waits[0]
    answers.requireRoom('a')
    answers.close()
    for (const wait of waits.slice(1)) await t.rejects(wait, { name: 'UnansweredError' })
  },
)
