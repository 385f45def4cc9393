import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { openRecord, revision, writeTable } from '#test/run/record.ts'
import { makeRunFolder } from '#test/run/run-folder.ts'
import { startRunServer } from '#test/run/server.ts'

/*
 * `npm run test:repeat -- FILE [--times 50] [--load 1] [--seed N]`: repeats one test file beside a load
 * that keeps that many cores busy, each time with another seed, until it fails. Prints the output of the
 * failed run and the seed that repeats it. Exits with 1 after a failure.
 *
 * `npm run test:repeat -- --lane [--times 10] [--load 1] [--resume]`: the same with the whole first lane,
 * which takes long, so each run is recorded: with `--resume` the command continues where an earlier one
 * ended. It writes the table of docs/testing.md.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string' },
    lane: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    /** Where the runs of a lane are recorded. */
    state: { type: 'string', default: 'dist/repeated-lanes.jsonl' },
    load: { type: 'string', default: '1' },
    /** The same seed every time, instead of a new one. */
    seed: { type: 'string' },
  },
})
const [file] = positionals
if (file === undefined && !values.lane) {
  throw new Error('Name a test file: npm run test:repeat -- test/….test.ts')
}

const fixedSeed = new URL('./fixed-seed.ts', import.meta.url).href
const folder = await makeRunFolder()
const burners = Array.from(
  { length: Number(values.load) },
  () => new Worker('for (;;) Math.sqrt(2)', { eval: true }),
)
try {
  process.exitCode = file === undefined ? await repeatLane() : await repeat(file)
} finally {
  await Promise.all(burners.map((burner) => burner.terminate()))
  await rm(folder, { recursive: true, force: true })
}

async function repeat(path: string): Promise<number> {
  const server = await startRunServer(folder)
  try {
    const times = Number(values.times ?? 50)
    for (let round = 1; round <= times; round++) {
      const seed = values.seed ?? String(randomInt(2 ** 31))
      const output = await failureOf(path, { ...server.env, TEST_SEED: seed })
      console.log(`${round}/${times} TEST_SEED=${seed} ${output === null ? 'passed' : 'failed'}`)
      if (output !== null) {
        console.log(`${output}\nTo repeat it: npm run test:repeat -- ${path} --seed ${seed}`)
        return 1
      }
    }
    return 0
  } finally {
    await server.stop()
  }
}

/** @returns the output of the run if it failed */
async function failureOf(path: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const child = spawn(process.execPath, [`--import=${fixedSeed}`, path], {
    env: {
      ...process.env,
      ...env,
      TAP_TIMEOUT: '900',
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text))
  }
  const [code] = await once(child, 'close')
  return code === 0 ? null : output.join('')
}

type LaneRun = {
  date: string
  revision: string
  load: string
  seconds: number
  result: string
  passed: boolean
}

/** Runs the first lane until so many runs in a row have passed, or one fails. */
async function repeatLane(): Promise<number> {
  const { entries, add } = await openRecord<LaneRun>(values.state, values)
  const times = Number(values.times ?? 10)
  const inRow = () => entries.length - 1 - entries.findLastIndex(({ passed }) => !passed)
  while (inRow() < times) {
    const start = performance.now()
    const { code, result } = await runLane()
    // Ended by a signal, which is no result.
    if (code === null || code > 128) return 1
    await add({
      date: new Date().toISOString().slice(0, 10),
      revision: revision(),
      load: values.load,
      seconds: Math.round((performance.now() - start) / 1_000),
      result,
      passed: code === 0,
    })
    await writeTable('repeated lanes', [
      ['Date', 'Commit', 'Cores kept busy', 'Seconds', 'Result'],
      ...entries.map((run) => [run.date, run.revision, run.load, run.seconds, run.result]),
    ])
    console.log(`${inRow()}/${times} ${result}`)
    if (code !== 0) return 1
  }
  return 0
}

/** @returns the exit status, null after a signal, and the last line of the run */
async function runLane(): Promise<{ code: number | null; result: string }> {
  const runner = fileURLToPath(new URL('./run.ts', import.meta.url))
  const child = spawn(process.execPath, [runner], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pass = (signal: NodeJS.Signals) => void child.kill(signal)
  process.on('SIGINT', pass).on('SIGTERM', pass)
  let result = ''
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line)
    if (line !== '') result = line
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  process.off('SIGINT', pass).off('SIGTERM', pass)
  return { code: child.exitCode, result }
}
