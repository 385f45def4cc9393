import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { start } from '#src/server.ts'
import { repeatWhenAsked } from '#test/support/app/repeat-when-asked.ts'
import { createDatabase } from '#test/support/database/database.ts'

const mostStatements = 60
const minuteMs = 60_000

t.test('a process with nothing to do makes at most 60 statements a minute', async (t) => {
  const database = await createDatabase(t)
  const statements = watchStatements(t)
  const { repeat, again } = repeatWhenAsked()
  const config = testConfig(database, { ROLE: 'all' })
  const running = await start(config, createLogger('silent'), repeat)
  t.teardown(() => running.stop())
  await again() // the first of a process verifies everything
  await wait(minuteMs / 6) // what a start leaves to do
  const before = statements.length
  await again()
  await wait(minuteMs)
  const sent = statements.slice(before)
  const times = Map.groupBy(sent, (text) => text.trim().slice(0, 60))
  const list = [...times].map(([text, { length }]) => `${length} ${text}`)
  t.ok(sent.length > 0 && sent.length <= mostStatements, `${sent.length}: ${list.join('\n')}`)
})

/** Every statement that this process sends. */
function watchStatements(t: Test): readonly string[] {
  const sent: string[] = []
  const { prototype } = pg.Client
  const { query } = prototype
  t.teardown(() => void Object.assign(prototype, { query }))
  prototype.query = function record(this: pg.Client, ...args: unknown[]) {
    const [first] = args
    sent.push(typeof first === 'string' ? first : String(Object(first).text))
    return Reflect.apply(query, this, args)
  } as typeof query
  return sent
}
