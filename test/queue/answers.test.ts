import t from 'tap'
import type { Queryable } from '#src/db/system-database.ts'
import { createAnswers } from '#src/queue/answers.ts'
import type { EndedJob } from '#src/queue/job-table.ts'

const limits = { takenSeconds: 4, answeredMs: 60_000 }
const id = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000002'

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
  const waits = [id, other].map((one) => answers.wait('endpoint-call', one, limits))
  ended.push({ id: other, state: 'completed', output: { b: 2 } })
  t.same(await waits[1], { b: 2 })
  ended.push({ id, state: 'completed', output: { a: 1 } })
  t.same(await waits[0], { a: 1 })
})

t.test('a job that nobody took was missed; one that failed or is gone was lost', async (t) => {
  for (const [state, fault] of [
    ['created', 'missed'],
    ['failed', 'lost'],
    ['cancelled', 'lost'],
    [null, 'lost'],
  ] as const) {
    const { answers, ended } = setUp()
    ended.push({ id, state, output: null })
    const wait = answers.wait('endpoint-call', id, limits)
    await t.rejects(wait, { name: 'UnansweredError', fault }, String(state))
  }
})

t.test('a wait survives an outage of the database, and ends by its own limit', async (t) => {
  const { answers, ended, looks, setBroken } = setUp()
  setBroken(true)
  const wait = answers.wait('endpoint-call', id, limits)
  const short = answers.wait('endpoint-call', other, { ...limits, answeredMs: 120 })
  await t.rejects(short, { name: 'UnansweredError', fault: 'lost' })
  t.ok(looks() > 0)
  setBroken(false)
  ended.push({ id, state: 'completed', output: {} })
  t.same(await wait, {})
})

t.test('closing ends every wait', async (t) => {
  const { answers } = setUp()
  const waits = [id, other].map((one) => answers.wait('endpoint-call', one, limits))
  answers.close()
  for (const wait of waits) await t.rejects(wait, { name: 'UnansweredError', fault: 'lost' })
})
