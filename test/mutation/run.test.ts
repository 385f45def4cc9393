import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// All of them take 45 minutes: npm run mutate. These differ in each run.
const sample = '3'

t.test('mutants drawn at random are caught', async (t) => {
  const program = fileURLToPath(new URL('./run.ts', import.meta.url))
  const child = spawn(process.execPath, [program, '--sample', sample], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill())
  const output: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text))
  const [status] = await once(child, 'close')
  t.comment(output.join(''))
  t.equal(status, 0, 'every mutant was caught')
})
