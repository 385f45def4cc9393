import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig, testSettings } from '#dev/testing/settings.ts'
import { askPatiently, type Instance, startInstance } from '#test/reliability/instance.ts'
import { signedEvent } from '#test/reliability/load.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { makeServerHostile } from '#test/support/database/hostile-settings.ts'
import { postgresPrograms, startMachinePostgres } from '#test/support/database/machine-postgres.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import { codeBlocks, readPage, root } from './page.ts'

/* The steps of docs/operations.md that restore a dump into another server, as written there. */

const skip = postgresPrograms === null && 'no PostgreSQL with its clients on this machine'
const run = promisify(execFile)
const passwords = { owner: 'owner-word', app: 'app-word', worker: 'worker-word' }

t.test('a dump is restored by the steps of the page', { skip }, (t) =>
  restoreDump(t, async () => {}),
)

t.test('the same on servers whose settings differ from the defaults', { skip }, (t) =>
  restoreDump(t, makeServerHostile),
)

async function restoreDump(t: Test, prepare: (superuserUrl: string) => Promise<void>) {
  const page = await readPage('docs/operations.md')
  const [backup = '', restore = '', ...others] = codeBlocks(page, 'sh')
  t.strictSame(others, [], 'every block is run here')
  const folder = await temporaryFolder(t)
  const [oldServer, newServer] = [await startMachinePostgres(t), await startMachinePostgres(t)]
  for (const server of [oldServer, newServer]) await prepare(server('postgres'))
  const owner = { name: 'gatehouse_owner', password: passwords.owner }
  await createOwnerAndDatabase(oldServer('postgres'), owner, 'gatehouse')
  const original = open(t, oldServer)
  await gatehouse(t, ['migrate'], original)

  // Two published events, and a billing event whose job waits.
  const user = await createUser(original, { role: 'admin', billingCustomer: 'cus_1' })
  const { cookie } = await signIn({ config: testConfig(original), database: original }, user)
  const first = await startInstance(t, original) // its worker notes where the database is
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
  const before = await startInstance(t, original, { ROLE: 'web' })
  for (const title of ['First', 'Second']) {
    const headers = { cookie, 'content-type': 'application/json' }
    const body = JSON.stringify({ title, body: 'Text', department: 'sales' })
    const made = await askPatiently(before, { method: 'POST', path: '/posts', headers, body })
    t.equal(made.status, 201, made.body)
    const path = `/posts/${JSON.parse(made.body).id}`
    const changed = await askPatiently(before, {
      method: 'PATCH',
      path,
      headers,
      body: '{"body":"New"}',
    })
    t.equal(changed.status, 200, changed.body)
  }
  t.equal((await askPatiently(before, signedEvent('evt_waiting'))).status, 200)
  const eventsOf = async (instance: Instance): Promise<{ id: string }[]> => {
    const feed = await askPatiently(instance, { path: '/events', headers: { cookie } })
    return JSON.parse(feed.body).data
  }
  // The feed waits for older transactions.
  await untilTrue(async () => (await eventsOf(before)).length === 2)
  const events = await eventsOf(before)
  before.child.kill('SIGTERM')
  t.equal(await before.ended, 0)

  await shell(t, folder, backup, { SUPERUSER_URL: oldServer('gatehouse') }, original)
  const restored = open(t, newServer)
  await shell(
    t,
    folder,
    restore,
    { NEW_SERVER_URL: newServer('postgres'), NEW_URL: newServer('gatehouse') },
    restored,
  )

  const doctor = await gatehouse(t, ['doctor', '--json'], restored, 1)
  const findings: { subject: string; faults: string[] }[] = JSON.parse(doctor)
  const sick = findings.filter(({ faults }) => faults.length > 0).map(({ subject }) => subject)
  t.strictSame(
    sick.filter((subject) => !subject.startsWith('provider')),
    ['quarantine'],
  )

  const after = await startInstance(t, restored)
  await untilTrue(async () => (await eventsOf(after)).length === 2)
  t.strictSame(
    (await eventsOf(after)).map(({ id }) => id),
    events.map(({ id }) => id),
    'the session is still valid, and the feed has every event in its order',
  )
  await after.says(/quarantine/)
  await until(restored, `SELECT FROM received_events WHERE status = 'recorded'`)
  await gatehouse(t, ['adopt'], restored)
  await until(restored, `SELECT FROM received_events WHERE status = 'processed'`)
}

function open(t: Test, server: (database: string) => string): TestDatabase {
  const as = (role: keyof typeof passwords) => {
    const url = new URL(server('gatehouse'))
    url.username = `gatehouse_${role}`
    url.password = passwords[role]
    return url.href
  }
  const admin = new pg.Pool({ connectionString: server('gatehouse'), max: 2 })
  admin.on('error', () => {}) // the server ends before it
  t.teardown(() => admin.end())
  const urls = { superuserUrl: server('gatehouse'), ownerUrl: as('owner') }
  return { ...urls, url: as('app'), workerUrl: as('worker'), admin }
}

function settingsOf(database: TestDatabase): Record<string, string> {
  return { ...testSettings(database), DATABASE_OWNER_URL: database.ownerUrl }
}

async function gatehouse(t: Test, args: string[], database: TestDatabase, status = 0) {
  const program = await runProgram(t, args, settingsOf(database))
  t.equal(await program.ended, status, program.output())
  return program.results()
}

/** Runs a block of the page as an operator would, with `gatehouse` and the clients in PATH. */
async function shell(
  t: Test,
  cwd: string,
  script: string,
  variables: Record<string, string>,
  database: TestDatabase,
): Promise<void> {
  const command = `#!/bin/sh\nexec '${process.execPath}' '${root}/dev/cli.ts' "$@"\n`
  await writeFile(join(cwd, 'gatehouse'), command, { mode: 0o755 })
  const path = [cwd, postgresPrograms, process.env.PATH].join(delimiter)
  const env = { ...settingsOf(database), ...variables, PATH: path }
  const { stdout, stderr } = await run('/bin/sh', ['-ec', script], { cwd, env })
  t.comment(stdout + stderr)
}
