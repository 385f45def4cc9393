import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// All of them take some hours: npm run mutate. The tests of these take a few seconds each.
const quick = ['decision', 'budget']

t.test('decisions and budgets do not lose a condition unnoticed', async (t) => {
  const program = fileURLToPath(new URL('./run.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    [program, ...quick.flatMap((name) => ['--only', `${name} src/`])],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.teardown(() => child.kill())
  const output: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text))
  const [status] = await once(child, 'close')
  t.comment(output.join(''))
  t.equal(status, 0, 'every mutant was caught')
})
