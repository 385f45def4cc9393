import { spawn } from 'node:child_process'
import t from 'tap'

/* What test/run/interrupted.test.ts runs and interrupts. */

t.test('starts a program with a process group of its own, fails and hangs', async (t) => {
  const { pid } = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
  t.fail(`left behind: ${pid}`)
  await new Promise((resolve) => setTimeout(resolve, 600_000))
})
