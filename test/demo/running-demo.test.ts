import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startDemo } from '#src/demo/demo.ts'
import { announceDemo, findRunningDemo, withDemoSettings } from '#src/demo/running-demo.ts'
import { createDatabase, testSettings } from '#test/support/helper.ts'
import { addresses, runProgram, temporaryFolder } from '#test/support/program.ts'

const home = process.cwd()
t.afterEach(() => process.chdir(home))

t.test('a file whose process id now belongs to another program is ignored', async (t) => {
  process.chdir(await temporaryFolder(t))
  await mkdir('.data')
  const write = (content: object) => writeFile('.data/running.json', JSON.stringify(content))
  for (const pid of [process.pid, process.ppid]) {
    await write({ pid, startedAt: 'another time', env: {} })
    t.equal(await findRunningDemo(), null, `another start of ${pid}`)
    await write({ pid, env: {} })
    t.equal(await findRunningDemo(), null, `no start of ${pid}`)
  }
  const remove = await announceDemo({}, { PORT: '3000' })
  t.match(await findRunningDemo(), { pid: process.pid, env: { PORT: '3000' } })
  await remove()
  t.equal(await findRunningDemo(), null)
})

t.test('configured settings are not copied into the file', async (t) => {
  process.chdir(await temporaryFolder(t))
  await mkdir('.data')
  const given = { SESSION_SECRETS: 'given', OUTBOUND_ALLOW: 'a:1', PORT: '8' }
  await announceDemo(given, { ...given, ENCRYPTION_KEYS: 'made', OUTBOUND_ALLOW: 'a:1,b:2' })
  const { env } = JSON.parse(await readFile('.data/running.json', 'utf8'))
  t.same(env, { ENCRYPTION_KEYS: 'made', OUTBOUND_ALLOW: 'a:1,b:2', PORT: '8' })
})

t.test('a command with its own database or providers gets none of the demo’s', async (t) => {
  const demo = {
    DATABASE_URL: 'd',
    DATABASE_OWNER_URL: 'd',
    OIDC_PROVIDERS: 'd',
    OIDC_DEMO_ISSUER: 'd',
    OPERATORS: 'd',
    SESSION_SECRETS: 'd',
  }
  const running = { pid: 1, startedAt: '', env: demo }
  t.same(withDemoSettings(running, {}), demo)
  t.same(withDemoSettings(running, { DATABASE_URL: 'own', OIDC_PROVIDERS: 'own' }), {
    DATABASE_URL: 'own',
    OIDC_PROVIDERS: 'own',
    SESSION_SECRETS: 'd',
  })
})

t.test('with every setting given, processes share a checkout and write nothing', async (t) => {
  const database = await createDatabase(t)
  const settings = { ...testSettings(database), LOG_LEVEL: 'info' }
  const cwd = await temporaryFolder(t)
  for (const name of ['first', 'second']) {
    const program = await runProgram(t, ['serve'], settings, { cwd })
    const { address } = await addresses(program)
    t.equal((await fetch(`${address}/openapi.json`)).status, 200, name)
  }
  t.notOk(existsSync(join(cwd, '.data')))
})

t.test('an embedded part is refused beside a demo, and nothing else is', async (t) => {
  process.chdir(await temporaryFolder(t))
  await mkdir('.data')
  const remove = await announceDemo({}, { BASE_URL: 'http://localhost:1' })
  await t.rejects(startDemo({ DATABASE_URL: 'postgres://own' }), /A demo already runs/)
  const demo = await startDemo({ DATABASE_URL: 'postgres://own', OIDC_PROVIDERS: 'own' })
  t.match(demo, { embedded: { database: false, provider: false }, customer: null })
  await demo.stop()
  t.match(await findRunningDemo(), { pid: process.pid }, 'the other demo’s file remains')
  await remove()
})
