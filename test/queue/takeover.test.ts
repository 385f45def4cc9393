import t, { type Test } from 'tap'
import { startDueJobs } from '#src/queue/due-jobs.ts'
import { heartbeatMs } from '#src/queue/queue.ts'
import { lapseMs } from '#src/queue/takeover.ts'

t.test('a dead worker is noticed, and its jobs are returned, within 10 s', (t) => {
  t.ok(lapseMs + heartbeatMs < 10_000, 'it is looked for at every heartbeat')
  t.ok(lapseMs >= 4 * heartbeatMs, 'a living one may miss some heartbeats')
  t.end()
})

t.test('jobs of dead workers go back, and only the attempts that were found', async (t) => {
  const { taken } = await start(t, [])
  t.strictSame(await taken, ['deliver', [{ name: 'deliver', id: 'a', retryCount: 2 }]])
})

t.test('after trouble with the database, living workers send their heartbeats first', async (t) => {
  const begun = performance.now()
  const { taken, warnings } = await start(t, [new Error('the database is away')])
  await taken
  t.ok(performance.now() - begun >= lapseMs)
  t.match(warnings[0], /could not be looked up/)
})

/** Looks at a queue that fail at first, and then find a lapsed job each time. */
async function start(t: Test, errors: Error[]) {
  const { promise: taken, resolve } = Promise.withResolvers<unknown[]>()
  const warnings: string[] = []
  const lapsed = [{ name: 'deliver', id: 'a', retryCount: 2 }]
  const due = await startDueJobs({
    queue: {
      getDb: () => ({
        async executeSql() {
          const error = errors.shift()
          if (error) throw error
          return { rows: [{ due: [], nextMs: null, isActive: true, lapsed }] }
        },
      }),
      async fail(name, jobs) {
        resolve([name, jobs])
        return {}
      },
      work: () => Promise.reject(new Error('no handler is registered')),
      notifyWorker() {},
    },
    listens: false,
    logger: {
      info() {},
      warn: (_facts, message) => void warnings.push(message),
      error: (facts) => t.fail('an error was logged', facts),
    },
  })
  const keptRunning = setInterval(() => {}, heartbeatMs) // the timer of the looks does not
  t.teardown(() => {
    clearInterval(keptRunning)
    return due.stop()
  })
  return { taken, warnings }
}
