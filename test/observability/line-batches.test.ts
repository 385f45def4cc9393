import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { batchLines } from '#src/observability/line-batches.ts'
import { createLogger } from '#src/observability/logger.ts'

const source = fileURLToPath(new URL('../../src/observability/logger.ts', import.meta.url))

/** The output and the end of a process that logs 500 lines and then runs `end`. */
async function ending(end: string) {
  const script = `import { createLogger } from ${JSON.stringify(source)}
    const logger = createLogger('info')
    for (let n = 1; n <= 500; n += 1) logger.info({ n }, 'request')
    ${end}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [status, signal] = await once(child, 'close')
  const lines = output.trimEnd().split('\n')
  // A write may be in progress at the end, so only the lines are whole, and not always in their order.
  const numbers = lines.map((line): number => JSON.parse(line).n)
  return { status, signal, numbers: numbers.sort((a, b) => a - b) }
}

const all = Array.from({ length: 500 }, (_, index) => index + 1)

t.test('no line is lost when the process ends', async (t) => {
  const ends = {
    'by itself': ['', 0],
    'by process.exit': ['process.exit(3)', 3],
    'by process.exit after a turn': ['setImmediate(() => process.exit(3))', 3],
    'by an uncaught error': ["throw new Error('uncaught')", 1],
    'by an unhandled rejection': ["Promise.reject(new Error('unhandled'))", 1],
    'by a signal that it handles': [
      "process.on('SIGTERM', () => process.exit(0)); process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)",
      0,
    ],
  } as const
  for (const [name, [end, status]] of Object.entries(ends)) {
    t.match(await ending(end), { status, numbers: all }, name)
  }
})

t.test('a line of level fatal is written before the process can be killed', async (t) => {
  const { signal, numbers } = await ending(
    "logger.fatal({ n: 501 }, 'last'); process.kill(process.pid, 'SIGKILL')",
  )
  t.equal(signal, 'SIGKILL')
  t.same(numbers, [...all, 501])
})

t.test('lines wait for each other, and a warning for none', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { logger, written } = logToFile(t)
  logger.info('first')
  logger.info('second')
  for (let turns = 0; turns < 100; turns += 1) await turn()
  t.same(written(), [], 'the clock stands still')
  mock.timers.tick(50)
  await until(() => written().length === 2)
  t.same(written(), ['first', 'second'])
  logger.info('third')
  logger.warn('fourth')
  await until(() => written().length === 4)
  t.same(written().slice(2), ['third', 'fourth'], 'without the clock')
})

t.test('many lines are written without waiting', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { logger, written } = logToFile(t)
  logger.info('x'.repeat(10_000))
  await until(() => written().length === 1)
  t.match(written(), [/^x+$/])
})

/** A logger into a file, and the messages that are in the file. */
function logToFile(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-lines-'))
  const file = join(folder, 'log')
  const fd = openSync(file, 'w')
  t.teardown(() => {
    closeSync(fd)
    rmSync(folder, { recursive: true })
  })
  const written = (): string[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).msg)
  return { logger: createLogger('info', batchLines(fd)), written }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn()
}
