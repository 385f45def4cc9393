import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { runProgram } from '#test/support/processes/program.ts'

t.test('usage list, limit and check show, limit and verify what tenants store', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  await database.admin.query(
    `INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'title', 'body')`,
    [tenantId],
  )
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
    QUOTA_RESOURCES: '5/1',
  }
  const run = async (...words: string[]) => {
    const program = await runProgram(t, ['usage', ...words], env)
    return { status: await program.ended, output: program.results(), told: program.messages() }
  }
  const resources = { rows: 1, bytes: 9 + 180, maxRows: 5, maxBytes: 1_048_576 }
  t.match(JSON.parse((await run('list', '--json')).output), [{ tenantId, resources }])
  t.match(await run('limit', tenantId, '--resources', '7/2', '--events', 'off'), { status: 0 })
  const [heads = '', ...lines] = (await run('list')).output.split('\n')
  const cells = (line: string) => line.trim().split(/ +/)
  const used = ['OF', 'MIB', 'OF']
  t.same(cells(heads), ['TENANT', 'RESOURCES', ...used, 'EVENTS', ...used])
  t.same(lines.filter((line) => line !== '').map(cells), [
    [tenantId, '1', '7', '0.0', '2.0', '0', 'off', '0.0', 'off'],
  ])
  t.same(JSON.parse((await run('limit', tenantId, '--resources', '7/2', '--json')).output), {
    tenantId,
    resources: { rows: 7, bytes: 2_097_152 },
    events: null,
  })
  t.match(await run('limit', crypto.randomUUID()), { status: 1, told: /no such tenant/ })
  t.match(await run('limit', tenantId, '--events', 'many'), { status: 1, told: /rows\/MiB/ })

  t.match(await run('check'), { status: 0, output: '1 tenants, 0 with wrong counters' })
  await database.admin.query('UPDATE tenant_usage SET resource_rows = 8')
  t.match(await run('check', '--json'), { status: 1, output: /"wrong": \[\s+\{/ })
  t.match(await run('check', '--repair'), {
    status: 0,
    output: new RegExp(`${tenantId} +8/189/0/0 +1/189/0/0 +corrected`),
  })
  t.match(await run('check'), { status: 0, output: '1 tenants, 0 with wrong counters' })
})
