import t from 'tap'
import { startTestApp } from '#dev/testing/index.ts'

t.test('what the app of a test did not expect is printed once, with its cause', async (t) => {
  const app = await startTestApp()
  t.teardown(app.stop)
  const { send } = await app.addPerson({ role: 'editor' })
  const { body: task } = await send('POST', '/tasks', { title: 'Go' })
  const printed = t.capture(process.stderr, 'write', () => true)
  t.equal((await send('GET', '/tasks/1000')).status, 404)
  t.strictSame(printed(), [], 'nothing of a refusal')
  t.equal((await send('POST', `/tasks/${task.id}/remind`)).status, 500)
  const [line = '', ...more] = printed().map(({ args }) => String(args[0]))
  t.match(
    line,
    /^internal in run of task:remind: Error: The data of the event task\.reminded is not what payloads says: \/letters must be >= 3\.\n {4}at /,
  )
  t.strictSame(more, [])
})

t.test('LOG_LEVEL shows the whole log of the app of a test, on stderr', async (t) => {
  const app = await startTestApp({ settings: { LOG_LEVEL: 'info' } })
  t.teardown(app.stop)
  const printed = t.capture(process.stderr, 'write', () => true)
  const authorization = `Bearer gh_${'a'.repeat(43)}`
  await app.send('GET', '/tasks', undefined, { authorization })
  const text = printed()
    .map(({ args }) => String(args[0]))
    .join('')
  t.match(text, '"level":"info"')
  t.notMatch(text, authorization)
})
