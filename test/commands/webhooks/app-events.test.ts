import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

t.test('the app registers its event types from a file, and publishes an event', async (t) => {
  const test = await build(t)
  const address = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const { tenantId } = await createUser(test.database)
  const { token } = await addAppToken(test.database)
  const cwd = await temporaryFolder(t)
  const file = join(cwd, 'types.json')
  const run = async (...args: string[]) => {
    const env = { GATEHOUSE_TOKEN: token, GATEHOUSE_URL: address }
    const program = await runProgram(t, args, env, { cwd })
    return { status: await program.ended, output: program.results(), told: program.messages() }
  }
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
  const types = {
    'report.finished': { description: 'Done.', schema },
    opened: { description: 'x' },
  }
  await writeFile(file, JSON.stringify(types))
  const applied = await run('event-types', 'apply', file)
  t.match(applied, { status: 0, output: 'report.finished  registered\nopened  registered\n' })
  t.match((await run('event-types', 'apply', file)).output, /^report\.finished {2}replaced$/m)
  const asJson = await run('event-types', 'apply', file, '--json')
  t.match(JSON.parse(asJson.output), [{ name: 'report.finished' }, { name: 'opened' }])
  await writeFile(
    file,
    JSON.stringify({ closed: { description: 'x' }, opened: { description: '' } }),
  )
  const refused = await run('event-types', 'apply', file, '--json')
  t.equal(refused.status, 1)
  t.match(JSON.parse(refused.output), [{ name: 'closed' }], 'those before it are registered')
  t.match(refused.told, /^opened is refused\.\n.*\/description in the body/)

  const publish = (...args: string[]) => run('events', 'publish', ...args, '--tenant', tenantId)
  const published = await publish('report.finished', '{"id":"r1"}', '--id', 'mine')
  t.equal(published.status, 0, published.told)
  t.match(published.output, /^mine {2}report\.finished {2}\S+Z\n$/)
  await writeFile(file, '{"id":"r2"}')
  const [event] = JSON.parse((await publish('report.finished', `@${file}`, '--json')).output)
  t.match(event, { id: /^msg_/, type: 'report.finished' })
  const wrong = await publish('report.finished', '{"id":2}')
  t.equal(wrong.status, 1)
  t.match(wrong.told, '/data/id in the body must be a string')
  t.match(await publish('report.finished', 'x'), { status: 1, told: 'is not a JSON object' })
  const { rows } = await test.database.admin.query(
    `SELECT body::json -> 'data' ->> 'id' AS id FROM outbound_events ORDER BY sequence`,
  )
  t.strictSame(rows, [{ id: 'r1' }, { id: 'r2' }])
})
