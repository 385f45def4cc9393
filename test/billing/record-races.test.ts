import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createRecorder, type Recorded, recorderLimits } from '#src/billing/record.ts'
import type { RecordStore } from '#src/billing/record-store.ts'
import { bodyOf, parsed } from './received.ts'

const runs = Number(process.env.RACE_RUNS ?? 400)

/** Only the order of the promises is searched here, so no limit of time may be reached. */
const patient = { ...recorderLimits, waitMs: 600_000, sendMs: 600_000, batchEvents: 3 }

/** Ids that arrive at two processes, in any order of commits, comparisons and answers. */
const arrivals = fc.array(
  fc.record({
    process: fc.nat(1),
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    body: fc.constantFrom('1', '2'),
  }),
  { minLength: 1, maxLength: 12 },
)
/** Which of the commits fail. */
const failures = fc.array(fc.boolean(), { maxLength: 4 })

type Answer = Recorded | 'refused'

/**
 * A database of which the scheduler decides when each statement runs and when its answer arrives. It
 * keeps the first body of each id, as the statement of the program does.
 */
function createStore(
  scheduler: fc.Scheduler,
  rows: Map<string, string>,
  failing: boolean[],
): RecordStore {
  const answer = <T>(value: T) => scheduler.schedule(Promise.resolve(value), 'answer')
  return {
    async record(events) {
      await scheduler.schedule(Promise.resolve(), 'commit')
      // A statement that fails has committed nothing.
      if (failing.shift() === true) throw new Error('the commit failed')
      const fresh = events.filter(({ eventId }) => !rows.has(eventId))
      for (const { eventId, body } of fresh) rows.set(eventId, body.toString())
      return answer(new Set(fresh.map(({ eventId }) => eventId)))
    },
    async compare(duplicates) {
      await scheduler.schedule(Promise.resolve(), 'compare')
      return answer(duplicates.map(({ eventId, body }) => rows.get(eventId) !== body.toString()))
    },
    close: async () => {},
  }
}

t.test('in any order of commits and answers an event is first once', async (t) => {
  const seen = { first: 0, refused: 0, duplicate: 0 }
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), arrivals, failures, async (scheduler, plan, failing) => {
      const rows = new Map<string, string>()
      const left = [...failing]
      const recorders = [0, 1].map(() =>
        createRecorder(createStore(scheduler, rows, left), patient),
      )
      const answered = plan.map(async ({ process, id, body }): Promise<Answer> => {
        await scheduler.schedule(Promise.resolve(), `arrive ${id} at ${process}`)
        const event = parsed(bodyOf({ id, object: {} }))
        const recorder = recorders[process]
        if (recorder === undefined) throw new Error('no process')
        return recorder.record(event, Buffer.from(body), 0).catch(() => 'refused' as const)
      })
      await scheduler.waitFor(Promise.all(answered))
      const answers = await Promise.all(answered)
      await scheduler.waitFor(Promise.all(recorders.map((recorder) => recorder.close())))
      for (const [id, kept] of rows) {
        const own = plan.flatMap((arrival, index) =>
          arrival.id === id ? [{ body: arrival.body, answer: answers[index] }] : [],
        )
        const first = own.filter(({ answer }) => answer === 'first')
        assert.equal(first.length, 1, `${id} is recorded, and one answer says so`)
        assert.equal(first[0]?.body, kept, 'the body of the first is kept')
        for (const { body, answer } of own) {
          if (answer === 'duplicate') assert.equal(body, kept)
          if (answer === 'duplicate-different-body') assert.notEqual(body, kept)
        }
      }
      for (const [index, { id }] of plan.entries()) {
        const answer = answers[index]
        // Only an event that is recorded gets 200.
        if (answer !== 'refused') assert.ok(rows.has(id), `${id}: ${answer}`)
        seen[answer === 'first' || answer === 'refused' ? answer : 'duplicate'] += 1
      }
    }),
    { numRuns: runs },
  )
  t.comment(JSON.stringify(seen))
  t.ok(Math.min(...Object.values(seen)) > runs / 10, 'all answers are met')
})
