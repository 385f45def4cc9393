import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, readFile, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { isAlive } from '#dev/demo/postgres/lock-file.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { findProgram } from '#test/support/processes/find-program.ts'
import { type Program, runProgram, temporaryFolder } from '#test/support/processes/program.ts'

/*
 * However `npm start` ends, nothing of it is left: no process, and no port that is listened on. The
 * ways to end it share a folder, so each start also shows that the data is usable after the way before.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))

type Started = { npm: number; program: number; processes: readonly number[] }
type Ending = {
  end(started: Started): void
  /** Whether the program can stop its parts itself; after SIGKILL PostgreSQL ends alone. */
  graceful: boolean
  /** The exit status of `npm start`; null after a signal. */
  status?: number | null
}

const endings: Readonly<Record<string, Ending>> = {
  'SIGTERM to npm': { end: ({ npm }) => process.kill(npm, 'SIGTERM'), graceful: true, status: 0 },
  'SIGKILL to npm': { end: ({ npm }) => process.kill(npm, 'SIGKILL'), graceful: true },
  'SIGHUP to npm': { end: ({ npm }) => process.kill(npm, 'SIGHUP'), graceful: true },
  'SIGTERM to the program': {
    end: ({ program }) => process.kill(program, 'SIGTERM'),
    graceful: true,
    status: 0,
  },
  'SIGKILL to the program': {
    end: ({ program }) => process.kill(program, 'SIGKILL'),
    graceful: false,
  },
  // What Ctrl-C sends; npm sends it to the program a second time.
  'SIGINT to the process group': {
    end: ({ npm }) => process.kill(-npm, 'SIGINT'),
    graceful: true,
    status: 130,
  },
  'SIGHUP to the process group': {
    end: ({ npm }) => process.kill(-npm, 'SIGHUP'),
    graceful: true,
  },
}

const missing = ['setsid', 'script'].filter((name) => findProgram(name) === null)
const skip = missing.length > 0 && `this machine has no ${missing.join(', ')}`

t.test('npm start', { skip }, async (t) => {
  const cwd = await packageFolder(t)
  for (const [name, { end, graceful, status }] of Object.entries(endings)) {
    await t.test(`after ${name} nothing is left`, async (t) => {
      const program = await npmStart(t, cwd, inOwnSession)
      const started = await processesOf(t, Number(program.child.pid))
      const ports = await portsOf(cwd, program)
      t.equal(ports.length, 7, 'of the application, the admin listener and five embedded parts')
      end(started)
      await expectNothingLeft(started, ports)
      const ended = await program.ended
      if (status !== undefined) t.equal(ended, status, program.output())
      if (!graceful) return
      t.match(program.output(), /"complete":true,.*"msg":"stopped"/)
      t.notOk(existsSync(join(cwd, '.data/running.json')))
    })
  }

  await t.test('after its terminal closes nothing is left', async (t) => {
    const program = await npmStart(t, cwd, inTerminal)
    const started = await processesOf(t, Number(program.child.pid))
    const ports = await portsOf(cwd, program)
    program.child.kill('SIGKILL')
    await expectNothingLeft(started, ports)
    t.notOk(existsSync(join(cwd, '.data/running.json')), 'it stopped its parts itself')
  })
})

/** A folder whose `npm start` is that of this package, with data of its own. */
async function packageFolder(t: Test): Promise<string> {
  const folder = await temporaryFolder(t)
  await copyFile(join(root, 'package.json'), join(folder, 'package.json'))
  for (const name of ['src', 'dev', 'examples', 'node_modules'])
    await symlink(join(root, name), join(folder, name))
  return folder
}

/** In a session of its own: as its leader npm has a process group, as in a terminal. */
const inOwnSession: Command = { before: ['setsid'], program: 'npm', args: ['start'] }
/** In a terminal that closes when `script` ends. */
const inTerminal: Command = {
  before: ['script', '--quiet', '--command'],
  program: 'npm start',
  args: ['/dev/null'],
}

type Command = { before: [string, ...string[]]; program: string; args: string[] }

async function npmStart(t: Test, cwd: string, command: Command): Promise<Program> {
  const env = { PORT: '0', ADMIN_PORT: '0', npm_config_update_notifier: 'false' }
  const { program: file, args } = command
  const program = await runProgram(t, args, env, { cwd, before: command.before, program: file })
  await program.says(/Ctrl-C stops everything/)
  return program
}

/** The tree below `npm start`; what a failed test leaves is ended with it. */
async function processesOf(t: Test, npm: number): Promise<Started> {
  const rows = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  const all = [...rows.matchAll(/^ *(\d+) +(\d+) (.*)$/gm)].map(([, pid, parent, args = '']) => ({
    pid: Number(pid),
    parent: Number(parent),
    args,
  }))
  const below = (parent: number): typeof all =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)])
  const tree = [...all.filter(({ pid }) => pid === npm), ...below(npm)]
  const processes = tree.map(({ pid }) => pid)
  t.teardown(() => {
    for (const pid of processes.filter(isAlive)) process.kill(pid, 'SIGKILL')
  })
  const programs = tree.filter(({ args }) => /^\S*node .*dev\/cli\.ts serve/.test(args))
  t.equal(programs.length, 1)
  t.equal(tree.filter(({ args }) => args.startsWith('npm ')).length, 1, 'one npm')
  t.ok(tree.some(({ args }) => args.includes('postgres')))
  return { npm, program: programs[0]?.pid ?? 0, processes }
}

/** Every port that the started processes listen on. */
async function portsOf(cwd: string, program: Program): Promise<number[]> {
  const { env, customer } = JSON.parse(await readFile(join(cwd, '.data/running.json'), 'utf8'))
  const [, admin] = await program.says(/"?adminAddress"?:? *"?(http:[^" ]+)/)
  const urls = [
    admin,
    env.BASE_URL,
    env.DATABASE_URL,
    env.OIDC_DEMO_ISSUER,
    env.OIDC_SECOND_ISSUER,
    env.BILLING_API_URL,
    customer.receiverUrl,
  ]
  return [...new Set(urls.map((url) => Number(new URL(url).port)))]
}

async function expectNothingLeft({ processes }: Started, ports: readonly number[]): Promise<void> {
  await untilTrue(async () => !processes.some(isAlive))
  for (const port of ports) await untilTrue(() => isFree(port))
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
