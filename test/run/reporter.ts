import { trackProgress } from './progress.ts'

/*
 * A reporter of tap, for a run of several files. On a terminal it updates one line; elsewhere it prints a
 * line every ten seconds. It prints a failure when it happens: tap itself writes nothing of a program
 * that runs beside others before that program has ended.
 */

/** The parts of tap that the reporter uses: the run, and a program of it. */
type Run = {
  pool: Iterable<Program>
  subtests: Iterable<Program>
  on(event: 'spawn', listener: (program: Program) => void): void
  on(event: 'complete', listener: () => void): void
}
type Program = {
  name: string
  parser: { on(event: 'line', listener: (line: string) => void): void }
  on(event: 'process', listener: (child: Child) => void): void
}
type Child = {
  stdin: NodeJS.WritableStream | null
  stderr: NodeJS.ReadableStream | null
  on(event: 'close', listener: () => void): void
}

const terminalMs = 250
const logMs = 10_000
const eraseLine = '\r\u001b[2K'

const { stdout, stderr } = process
let isFollowing = false

/** tap calls it as a component, possibly again; it draws nothing of its own. */
export default function report({ test }: { test: Run }): null {
  if (!isFollowing) follow(test)
  isFollowing = true
  return null
}

function follow(run: Run): void {
  const print = (text: string) => {
    if (stdout.isTTY) stdout.write(eraseLine)
    stdout.write(text)
  }
  const progress = trackProgress(Number(process.env.TEST_FILES), {
    failed: (text) => print(`\n${text}\n\n`),
    now: () => performance.now(),
  })
  const draw = () => {
    if (!stdout.isTTY) return print(`${progress.summary()}\n`)
    print(progress.summary().slice(0, stdout.columns - 1))
  }
  const timer = setInterval(draw, stdout.isTTY ? terminalMs : logMs)
  const add = (program: Program) => {
    let following: ReturnType<typeof progress.program> | undefined
    program.on('process', (child) => {
      following = progress.program(program.name)
      child.stdin?.end()
      child.stderr?.on('data', (text) => {
        if (stdout.isTTY) stdout.write(eraseLine)
        stderr.write(text)
      })
      child.on('close', () => following?.end())
    })
    program.parser.on('line', (line) => following?.line(line.replace(/\n$/, '')))
  }
  for (const program of [...run.pool, ...run.subtests]) add(program)
  run.on('spawn', add)
  run.on('complete', () => {
    clearInterval(timer)
    print(`${progress.summary()}\n`)
  })
}
