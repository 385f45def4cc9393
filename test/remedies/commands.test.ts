import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { openApi } from '#src/commands/api/api-client.ts'
import { loginFile, readLogin, writeLogin } from '#src/commands/api/login-file.ts'
import { readSources } from '#src/commands/kit/environment.ts'
import { errorMessage } from '#src/commands/kit/error-message.ts'
import { readBillingProvider } from '#src/config/billing.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { runProgram } from '#test/support/processes/program.ts'

/* Faults that need no database: after what the remedy says the same call succeeds. */

async function emptyFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-remedies-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The remedy of the error that the call throws. */
async function remedyOf(call: () => unknown): Promise<string> {
  try {
    await call()
  } catch (error) {
    if (error instanceof OperatorError) return error.remedy
    throw error
  }
  throw new Error('The call succeeds.')
}

t.test('a login that others can read, and one that is damaged', async (t) => {
  const shell = { XDG_CONFIG_HOME: await emptyFolder(t) }
  const login = { url: 'https://app.example.com', token: 'gth_x' }
  const file = await writeLogin(shell, login)
  await chmod(file, 0o644)
  const [command, mode, path = ''] = (await remedyOf(() => readLogin(shell))).split(' ')
  t.strictSame([command, path], ['chmod', file])
  await chmod(path, Number.parseInt(mode ?? '', 8))
  t.strictSame(await readLogin(shell), login)

  await writeFile(file, '{')
  t.equal(await remedyOf(() => readLogin(shell)), 'Run `gatehouse login` again.')
  await writeLogin(shell, login) // what the command does at its end
  t.strictSame(await readLogin(shell), login)

  await rm(file)
  await mkdir(loginFile(shell), { mode: 0o700 })
  await t.rejects(readLogin(shell), { code: 'EISDIR' }, 'another error stays what it is')
})

t.test('an unknown billing provider', async (t) => {
  const remedy = await remedyOf(() => readBillingProvider({ BILLING_PROVIDER: 'strip' }))
  const [, names = ''] = /^It must be one of (.*)\.$/.exec(remedy) ?? []
  t.ok(names.split(', ').length > 1)
  for (const name of names.split(', ')) {
    t.equal(readBillingProvider({ BILLING_PROVIDER: name }), name)
  }
})

t.test('a .env that is a folder, and a .env that is no readable file', async (t) => {
  const before = process.cwd()
  process.chdir(await emptyFolder(t))
  t.teardown(() => process.chdir(before))
  await mkdir('.env')
  t.match(await remedyOf(readSources), /^Remove it, and make a file with NAME=value in each line\./)
  await rm('.env', { recursive: true })
  await writeFile('.env', Buffer.from('REMEDY_TRIED=naïve\n', 'latin1'))
  t.equal(
    await remedyOf(readSources),
    'Make it a file that this user may read, with NAME=value in each line.',
  )
  await writeFile('.env', 'REMEDY_TRIED=yes\n')
  t.teardown(() => delete process.env.REMEDY_TRIED)
  t.equal(readSources().env.REMEDY_TRIED, 'yes')
})

t.test('a configuration that exists already', async (t) => {
  const cwd = await emptyFolder(t)
  await writeFile(join(cwd, '.env'), '')
  const init = async (...args: string[]) => {
    const program = await runProgram(t, ['init', ...args], { NODE_ENV: 'production' }, { cwd })
    await program.ended
    return program.messages()
  }
  t.match(await init(), /exists already\. Move it away, or choose another with --out\./)
  t.match(await init('--out', 'other.env'), 'The answers ended too early')
  await rename(join(cwd, '.env'), join(cwd, 'kept'))
  t.match(await init(), 'The answers ended too early', 'it asks its first question')
})

t.test('data in use: its server is stopped with the printed command', async (t) => {
  const dataDir = join(await emptyFolder(t), 'data')
  await startPostgres({ dataDir })
  const remedy = await remedyOf(() => startPostgres({ dataDir }))
  const [, signal, pid] = /run: kill -(\w+) (\d+)$/.exec(remedy) ?? []
  process.kill(Number(pid), `SIG${signal}`)
  const second = await startPostgres({ dataDir })
  await second.stop()
})

t.test('a missing file is named with its path, and is no other fault', async (t) => {
  const path = join(await emptyFolder(t), 'missing')
  const missing = Object.assign(new Error(`ENOENT: no such file, open '${path}'`), {
    code: 'ENOENT',
    path,
  })
  t.equal(
    errorMessage(missing),
    `ENOENT: no such file, open '${path}'. Restore it: \`git status\` lists the missing files of a checkout.`,
  )
  const unknown = Object.assign(new Error('ENOENT'), { code: 'ENOENT' })
  t.match(errorMessage(unknown), /^Error: ENOENT\n/, 'without a path it is not a file')
})

t.test('a login for another address: a further login, or a token', async (t) => {
  const shell = { XDG_CONFIG_HOME: await emptyFolder(t) }
  const [one, other] = ['https://one.example.com', 'https://other.example.com']
  await writeLogin(shell, { url: one, token: 'gth_x' })
  const env = { GATEHOUSE_URL: other }
  t.equal(
    await remedyOf(() => openApi({ shell, env })),
    'Run `gatehouse login` with the other address, or set GATEHOUSE_TOKEN.',
  )
  const withToken = { ...env, GATEHOUSE_TOKEN: 'gth_y' }
  t.match(await openApi({ shell, env: withToken }), { baseUrl: other })
  await writeLogin(shell, { url: other, token: 'gth_y' }) // what the command does at its end
  t.match(await openApi({ shell, env }), { baseUrl: other })
})

t.test('an instance that is busy is asked again later', async (t) => {
  const answers = { status: 429, body: '' }
  const server = createServer((_, response) => {
    response.writeHead(answers.status, { 'content-type': 'application/json' }).end(answers.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const list = async () => {
    const program = await runProgram(t, ['endpoints', 'list', '--json'], {
      ...{ GATEHOUSE_URL: `http://127.0.0.1:${port}`, GATEHOUSE_TOKEN: 'gth_x' },
    })
    return { status: await program.ended, told: program.messages() }
  }
  for (const status of [429, 503]) {
    Object.assign(answers, { status, body: '' })
    t.match(await list(), { status: 1, told: /Try again later\./ })
    Object.assign(answers, { status: 200, body: '{"data":[],"nextCursor":null}' })
    t.match(await list(), { status: 0 })
  }
})

t.test(
  'data that the account of PostgreSQL cannot enter is moved away',
  { skip: process.getuid?.() !== 0 && 'only root starts PostgreSQL as another account' },
  async (t) => {
    const folder = await emptyFolder(t)
    const dataDir = join(folder, 'data')
    await mkdir(dataDir)
    await writeFile(join(dataDir, 'file'), '')
    t.match(await remedyOf(() => startPostgres({ dataDir })), /^Move it away, or delete it/)
    await rename(dataDir, join(folder, 'kept'))
    t.teardown(() => removePostgres(dataDir))
    const server = await startPostgres({ dataDir })
    await server.stop()
  },
)
