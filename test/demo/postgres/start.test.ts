import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { isAlive } from '#dev/demo/postgres/lock-file.ts'
import { removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'

const settings = { fsync: 'off' }
const pollMs = 20
const deadlineMs = 20_000

t.test('the second start keeps the data, the password and the given settings', async (t) => {
  const dataDir = await makeDataDir(t, 0o711)
  const first = await startPostgres({ dataDir, settings })
  await query(first.url('postgres'), 'create table kept as select 42 as answer')
  await first.stop()
  t.notOk(isAlive(first.pid), 'no process left after stop')

  const second = await startPostgres({ dataDir, settings })
  t.teardown(() => second.stop())
  t.same(await query(second.url('postgres'), 'select answer from kept'), [{ answer: 42 }])
  t.equal(second.password, first.password)
  t.same(await query(second.url('postgres'), 'show fsync'), [{ fsync: 'off' }])
})

t.test('the cluster is UTF-8, ordered by code point, and listens on 127.0.0.1 alone', async (t) => {
  const dataDir = await makeDataDir(t, 0o711)
  const database = await startPostgres({ dataDir, settings })
  t.teardown(() => database.stop())
  const sql = `select pg_encoding_to_char(encoding) as encoding, datlocprovider, datlocale,
    current_setting('listen_addresses') as addresses,
    current_setting('unix_socket_directories') as sockets
    from pg_database where datname = current_database()`
  t.same(await query(database.url('postgres'), sql), [
    {
      encoding: 'UTF8',
      datlocprovider: 'b',
      datlocale: 'C.UTF-8',
      addresses: '127.0.0.1',
      sockets: '',
    },
  ])
})

t.test(
  'a wrong password is refused; the password file is readable by its owner only',
  async (t) => {
    const dataDir = await makeDataDir(t, 0o711)
    const database = await startPostgres({ dataDir, settings })
    t.teardown(() => database.stop())
    const user = { name: database.superuser, password: 'wrong' }
    await t.rejects(query(database.url('postgres', user), 'select 1'), { code: '28P01' })
    const { mode } = await stat(join(dataDir, 'password'))
    t.equal(mode & 0o777, 0o600)
  },
)

t.test('works below a folder that only its owner can enter, also as root', async (t) => {
  const dataDir = await makeDataDir(t, 0o700)
  const first = await startPostgres({ dataDir, settings })
  await query(first.url('postgres'), 'create table kept as select 42 as answer')
  await first.stop()
  const second = await startPostgres({ dataDir, settings })
  t.teardown(() => second.stop())
  t.same(await query(second.url('postgres'), 'select answer from kept'), [{ answer: 42 }])
})

t.test('removing the folder resets the cluster', async (t) => {
  const dataDir = await makeDataDir(t, 0o700)
  const first = await startPostgres({ dataDir, settings })
  await query(first.url('postgres'), 'create table kept as select 42 as answer')
  await first.stop()
  await rm(dataDir, { recursive: true })
  const second = await startPostgres({ dataDir, settings })
  t.teardown(() => second.stop())
  await t.rejects(query(second.url('postgres'), 'select answer from kept'), { code: '42P01' })
})

t.test('kill -9 of the program stops the server, and the next start waits for it', async (t) => {
  const dataDir = await makeDataDir(t, 0o711)
  const { owner, pid } = await startInChild(t, dataDir)
  t.ok(isAlive(pid))
  owner.kill('SIGKILL')
  const next = await startPostgres({ dataDir, settings })
  t.teardown(() => next.stop())
  t.notSame(next.pid, pid)
  t.ok(await vanishes(pid))
})

t.test('data in use by another server is an error with a remedy', async (t) => {
  const dataDir = await makeDataDir(t, 0o711)
  const database = await startPostgres({ dataDir, settings })
  t.teardown(() => database.stop())
  await t.rejects(startPostgres({ dataDir, settings }), {
    name: 'OperatorError',
    message: new RegExp(`in use by the server process ${database.pid}\\.$`),
    remedy: `Stop the program that started it, or run: kill -INT ${database.pid}`,
  })
})

t.test('a server that fails to start is one line with the end of its log', async (t) => {
  const dataDir = await makeDataDir(t, 0o711)
  await t.rejects(startPostgres({ dataDir, settings: { shared_buffers: 'nonsense' } }), {
    message:
      /^PostgreSQL ended during its start: .*invalid value for parameter "shared_buffers".*$/,
  })
})

/** A data path in a new folder of that mode; both are removed when the test ends. */
async function makeDataDir(t: Test, mode: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-postgres-test-'))
  await chmod(folder, mode)
  const dataDir = join(folder, 'data')
  // Added first, so run last: tap tears down in reverse order.
  t.teardown(async () => {
    await removePostgres(dataDir)
    await rm(folder, { recursive: true })
  })
  return dataDir
}

async function query(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** A separate program that starts the server and then stays idle. */
async function startInChild(
  t: Test,
  dataDir: string,
): Promise<{ owner: ChildProcess; pid: number }> {
  const script = `import { startPostgres } from '#dev/demo/postgres/start.ts'
    const { pid } = await startPostgres({ dataDir: process.argv[1], settings: ${JSON.stringify(settings)} })
    console.log(pid)
    setInterval(() => undefined, 60_000)`
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => owner.kill('SIGKILL'))
  return { owner, pid: Number(await firstLine(owner.stdout)) }
}

async function firstLine(output: Readable): Promise<string> {
  const [line] = await once(createInterface({ input: output }), 'line')
  return String(line)
}

/** Polls, because the process is not our child. */
async function vanishes(pid: number): Promise<boolean> {
  const end = performance.now() + deadlineMs
  while (isAlive(pid) && performance.now() < end) await wait(pollMs)
  return !isAlive(pid)
}
