import { type ChildProcessWithoutNullStreams as Child, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { endsWithin } from '#src/runtime/timeout.ts'
import { isAlive } from './lock-file.ts'
import type { Account } from './os-account.ts'

/** `pid` is that of the postmaster, not of the supervisor. */
export type ServerProcess = { pid: number; stop(): Promise<void> }

type Command = {
  file: string
  args: string[]
  cwd: string
  account: Account | undefined
  /** Besides `serverEnvironment`. */
  environment?: Record<string, string> | undefined
  /** Gets each line of the server's log. */
  onLog?: ((line: string) => void) | undefined
}

const startDeadlineMs = 60_000 // including crash recovery
const fastStopMs = 15_000
const immediateStopMs = 5_000
const keptLines = 6

/** English messages and UTC; no PG* variables of the caller. */
export const serverEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/**
 * Runs the server and stops it when its standard input ends, which also happens when the parent
 * process is killed. The watcher is a separate process, so that it survives the shell. It repeats
 * the signal until the server has stopped, because a shell starts background processes with SIGINT
 * ignored and the server needs a moment to install its handler. SIGINT is a fast shutdown, SIGQUIT
 * an immediate one.
 */
const supervisor = `
exec 3<&0
"$@" 3<&- 1>&2 &
server=$!
echo "$server"
(
  while read -r _ <&3; do :; done
  tries=0
  while kill -INT "$server" 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -gt 75 ]; then kill -QUIT "$server"; fi
    if [ "$tries" -gt 150 ]; then kill -KILL "$server"; fi
    sleep 0.2
  done
) >/dev/null 2>&1 &
watcher=$!
exec 3<&- 1>&- 2>&-
wait "$server"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`

/**
 * Starts a PostgreSQL server and resolves when it accepts connections.
 *
 * The server does not keep the caller's process alive, and stops when that process ends.
 *
 * @throws if the server ends or misses the deadline, with the last lines of its log
 */
export async function runServer({
  file,
  args,
  cwd,
  account,
  environment,
  onLog,
}: Command): Promise<ServerProcess> {
  const child = spawn('/bin/sh', ['-c', supervisor, 'sh', file, ...args], {
    ...(account && { uid: account.uid, gid: account.gid }),
    cwd,
    env: { ...serverEnvironment, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    // In its own process group: Ctrl-C signals the whole foreground group, and the server must
    // stay up until the last query of the program.
    detached: true,
  })
  const ended = once(child, 'close')
  // Writing to a supervisor that has ended is an error.
  child.stdin.on('error', () => undefined)
  const log = followLog(child.stderr, onLog)
  const pid = await Promise.race([readPid(child.stdout), ended.then(() => 0)])
  const stop = () => stopServer(child, pid, ended)
  const isInTime = await endsWithin(startDeadlineMs, Promise.race([log.ready, ended]))
  if (!log.isReady()) {
    await stop()
    const reason = isInTime ? 'ended during its start' : `was not ready after ${startDeadlineMs} ms`
    throw new Error(`PostgreSQL ${reason}: ${log.lastLines()}`)
  }
  hold(child, 'unref')
  return { pid, stop }
}

async function readPid(output: Readable): Promise<number> {
  for await (const line of createInterface({ input: output })) return Number(line)
  return 0
}

/** Reads the whole log, because a full pipe would block the server, and keeps its last lines. */
function followLog(input: Readable, onLog: Command['onLog']) {
  const lines: string[] = []
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  let isReady = false
  createInterface({ input }).on('line', (line) => {
    onLog?.(line)
    lines.push(line)
    if (lines.length > keptLines) lines.shift()
    if (!/database system is ready to accept (read-only )?connections/.test(line)) return
    isReady = true
    resolve()
  })
  return { ready, isReady: () => isReady, lastLines: () => lines.join(' | ') }
}

async function stopServer(child: Child, pid: number, ended: Promise<unknown>): Promise<void> {
  hold(child, 'ref')
  child.stdin.end()
  if (await endsWithin(fastStopMs, ended)) return
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    if (pid > 0 && isAlive(pid)) process.kill(pid, signal)
    if (await endsWithin(immediateStopMs, ended)) return
  }
  throw new Error(`the PostgreSQL process ${pid} could not be stopped`)
}

/** Sets whether the child and its pipes keep this process alive. */
function hold(child: Child, how: 'ref' | 'unref'): void {
  child[how]()
  for (const stream of child.stdio) if (stream instanceof Socket) stream[how]()
}
