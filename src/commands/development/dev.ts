import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { readConfig } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { isUnderNpm, runUntilSignal } from '#src/runtime/process/signals.ts'
import { watchFolder } from '#src/runtime/process/watch-folder.ts'
import { requireAppFolder } from '../kit/app-folder.ts'
import { ask } from '../kit/ask.ts'
import { type Demo, loadDevelopment } from '../kit/development.ts'
import { print, printMessage } from '../kit/output.ts'

const patienceMs = 1_000 // for what the old process still does; its jobs are repeated
const stopLimitMs = 15_000
/** Each start compiles the same modules, except what has changed. */
const compileCache = 'node_modules/.cache/gatehouse/compile'

/**
 * `gatehouse dev`: runs the app, and again after each change of its files. The demo's parts keep running meanwhile.
 * @throws OperatorError without an app and in production
 */
export default async function devCommand(env: Environment): Promise<void> {
  const folder = requireAppFolder()
  if (env.NODE_ENV === 'production') {
    throw new OperatorError(
      'gatehouse dev is for development, and NODE_ENV is production.',
      'Run gatehouse serve.',
    )
  }
  let starting: Promise<Demo | null> = Promise.resolve(null)
  await runUntilSignal(
    async () => {
      const { startDemo } = await loadDevelopment()
      starting = startDemo(env)
      const demo = await starting
      const session = startSession(folder, demo?.env ?? env, () => demo && greet(demo))
      return { stop: session.stop, stopLimitMs }
    },
    async () => (await starting.catch(() => null))?.stop(),
    { underNpm: isUnderNpm(env) },
  )
}

async function greet(demo: Demo): Promise<void> {
  if (!demo.embedded.database && !demo.embedded.provider) return
  const { greeting } = await loadDevelopment()
  process.stdout.write(await greeting(readConfig(demo.env), demo))
}

/** One process of the app after another, until `stop`. */
function startSession(folder: string, env: Environment, onFirst: () => unknown) {
  const changes = watchChanges(folder)
  let isStopped = false
  let server: Server | null = null
  let starts = 0
  let lastFailure = ''

  async function run(): Promise<void> {
    while (!isStopped) {
      const changed = changes.next()
      const begun = performance.now()
      server = startServer(folder, env, () => {
        const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
        starts += 1
        lastFailure = ''
        if (starts === 1) onFirst()
        else print(`The app was started again, in ${seconds} s.`)
      })
      const failure = await Promise.race([server.failed, changed.then(() => null)])
      await server.stop()
      if (failure === null || isStopped) continue
      printMessage(failure === lastFailure ? 'The same error as before.' : failure)
      lastFailure = failure
      if (await bringUpToDate(folder, env, failure)) continue
      await changed
    }
  }
  const running = run()
  return {
    async stop() {
      isStopped = true
      changes.close()
      await running
      return true
    },
  }
}

function watchChanges(folder: string) {
  let change = Promise.withResolvers<void>()
  const end = watchFolder(folder, () => {
    change.resolve()
    change = Promise.withResolvers()
  })
  return {
    /** Resolves after the next change, or when it is closed. */
    next: () => change.promise,
    close() {
      end()
      change.resolve()
    },
  }
}

type Server = {
  /** Resolves with its output when it has ended by itself. */
  readonly failed: Promise<string>
  stop(): Promise<void>
}

/** `gatehouse serve` as a process of its own, which the terminal's Ctrl-C does not reach. */
function startServer(folder: string, env: Environment, onReady: () => void): Server {
  const child = spawn(process.execPath, commandOf(folder, 'serve'), {
    env: { NODE_COMPILE_CACHE: resolve(compileCache), ...env },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    detached: true,
  })
  let said = ''
  let isReady = false
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (isReady) process.stderr.write(text)
  })
  child.once('message', () => {
    isReady = true
    said = ''
    onReady()
  })
  const ended = once(child, 'close')
  return {
    failed: ended.then(([status]) => said.trim() || `The app has ended with status ${status}.`),
    async stop() {
      child.kill('SIGTERM')
      const killing = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      await ended
      clearTimeout(killing)
    },
  }
}

/**
 * If the database lacks what the declarations say, applies it when the developer says so: tables by a migration, which
 * is written if there is none, and functions, policies and privileges as they are.
 * @returns whether to start again
 */
async function bringUpToDate(folder: string, env: Environment, failure: string): Promise<boolean> {
  if (!/gatehouse migrate/.test(failure)) return false
  const needsMigration = /gatehouse migrate dev/.test(failure)
  const answer = await ask(
    needsMigration
      ? 'Write the migration if there is none, and apply it? [y/N]'
      : 'Apply what follows from the declarations? No row changes. [y/N]',
  )
  if (!/^y(es)?$/i.test(answer ?? '')) {
    print('Waiting for a change. gatehouse migrate dev --yes, in another terminal, applies it.')
    return false
  }
  const command = needsMigration ? ['migrate', 'dev', '--yes'] : ['migrate']
  return succeeds(spawnVisible(folder, env, command))
}

function spawnVisible(folder: string, env: Environment, command: readonly string[]): ChildProcess {
  const child = commandOf(folder, ...command)
  return spawn(process.execPath, child, { env: { ...env }, stdio: 'inherit' })
}

async function succeeds(child: ChildProcess): Promise<boolean> {
  const [status] = await once(child, 'close')
  return status === 0
}

/** This program with the same app. */
function commandOf(folder: string, ...command: readonly string[]): string[] {
  return [...process.execArgv, String(process.argv[1]), '--app', folder, ...command]
}
