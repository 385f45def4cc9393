import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { untilTrue } from '#test/support/database/until.ts'

const runner = fileURLToPath(new URL('./run.ts', import.meta.url))
const samples = ['test/run/samples/interrupted.ts', 'test/run/samples/passing.ts']

t.test('a failure is shown at once, and a signal ends everything that a run started', async (t) => {
  // Not as a part of the run that this file belongs to.
  const { TAP: _tap, TAP_CHILD_ID: _child, TEST_RUN: run, ...env } = process.env
  const child = spawn(process.execPath, [runner, ...samples], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const repeat = `To repeat it: npm test -- ${samples[0]}`
  await untilTrue(() => output.includes(repeat) || child.exitCode !== null)
  t.notOk(/^\d+ passed/m.test(output), 'the failure is shown before the run has ended')
  const pid = Number(/left behind: (\d+)/.exec(output)?.[1])
  t.ok(isAlive(pid), 'the program runs')
  child.kill('SIGTERM')
  const [code] = await ended
  t.equal(code, 143)
  t.notOk(isAlive(pid), 'the program has ended')
  t.match(output, /of 2 files, /)
  t.match(output, /ended by SIGTERM, and everything that it started has ended\.\n/)
  t.match(output, /\n\d+ passed, [1-9]\d* failed, 0 skipped\n$/)
  t.ok(run, 'a run marks its processes')
})

/** @returns false also for a process that has ended and whose new parent has not asked for its end yet */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return /^[^Z]/.test(stdout.trim())
}
