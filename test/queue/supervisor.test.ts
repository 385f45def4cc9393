import t from 'tap'
import { supervise } from '#src/queue/supervisor.ts'
import { untilTrue } from '#test/support/database/until.ts'

t.test('a worker follows the quarantine, whatever fails meanwhile', async (t) => {
  const world = open()
  const supervised = await world.supervise(null)
  t.ok(supervised.current())
  t.strictSame(world.events, ['started'])

  await world.next({ since: new Date(), reason: 'copied' })
  t.equal(supervised.current(), null)
  await world.next({ since: new Date(), reason: 'copied' })
  t.strictSame(world.events, ['started', 'error', 'stopped'], 'logged once')

  await world.next(new Error('the database is away'))
  t.equal(supervised.current(), null, 'without an answer nothing changes')
  await world.next(null)
  t.ok(supervised.current())
  t.strictSame(world.events.slice(3), ['warn', 'started', 'info'])

  await world.next(new Error('the database is away'))
  t.ok(supervised.current(), 'nor for a running worker')
  await world.stop(supervised)
  t.equal(world.events.at(-1), 'stopped')
})

t.test('a start that fails is reported at once', async (t) => {
  const world = open()
  await t.rejects(world.supervise(new Error('no database')), /no database/)
})

t.test('what is a matter of time is asked for again at the start, five times', async (t) => {
  const late = new Error('timeout exceeded when trying to connect')
  const world = open()
  for (let n = 0; n < 4; n++) world.give(late)
  t.ok((await world.supervise(null)).current())
  const other = open()
  for (let n = 0; n < 4; n++) other.give(late)
  await t.rejects(other.supervise(late), /timeout exceeded/)
})

type Answer = { since: Date; reason: 'copied' } | Error | null

/** A worker of nothing, whose looks at the quarantine get one answer each. */
function open() {
  const answers: Answer[] = []
  const events: string[] = []
  let waiting: ((answer: Answer) => void) | null = null
  const log = (level: string) => () => void events.push(level)
  const give = (answer: Answer) => {
    if (waiting === null) answers.push(answer)
    else waiting(answer)
    waiting = null
  }
  return {
    events,
    give,
    async supervise(first: Answer) {
      give(first)
      const supervised = await supervise({
        async start() {
          events.push('started')
          return { stop: async () => void events.push('stopped') }
        },
        async findQuarantine() {
          const [answer = await new Promise<Answer>((resolve) => (waiting = resolve))] =
            answers.splice(0, 1)
          if (answer instanceof Error) throw answer
          return answer
        },
        logger: { info: log('info'), warn: log('warn'), error: log('error') },
        pauseMs: 1,
      })
      return supervised
    },
    async stop(supervised: { stop(): Promise<void> }) {
      const stopped = supervised.stop()
      give(null) // the look that is waiting
      await stopped
    },
    /** Answers the next look; resolves once the one after it asks, so the answer was followed. */
    async next(answer: Answer) {
      give(answer)
      await untilTrue(() => waiting !== null)
    },
  }
}
