import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { makeRunFolder } from '#test/run/run-folder.ts'
import { startRunServer } from '#test/run/server.ts'

/*
 * `npm run test:repeat -- FILE [--times 50] [--load 1] [--seed N]`: repeats one test file beside a load
 * that keeps that many cores busy, each time with another seed, until it fails. Prints the output of the
 * failed run and the seed that repeats it. Exits with 1 after a failure.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '50' },
    load: { type: 'string', default: '1' },
    /** The same seed every time, instead of a new one. */
    seed: { type: 'string' },
  },
})
const [file] = positionals
if (file === undefined) throw new Error('Name a test file: npm run test:repeat -- test/….test.ts')

const fixedSeed = new URL('./fixed-seed.ts', import.meta.url).href
const folder = await makeRunFolder()
const burners = Array.from(
  { length: Number(values.load) },
  () => new Worker('for (;;) Math.sqrt(2)', { eval: true }),
)
try {
  process.exitCode = await repeat(file)
} finally {
  await Promise.all(burners.map((burner) => burner.terminate()))
  await rm(folder, { recursive: true, force: true })
}

async function repeat(path: string): Promise<number> {
  const server = await startRunServer(folder)
  try {
    const times = Number(values.times)
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
