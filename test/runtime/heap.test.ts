import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { heapFlags } from '#src/runtime/process/heap.ts'
import { beginningsOf } from '#test/support/processes/beginnings.ts'

const cli = fileURLToPath(new URL('../../dev/cli.ts', import.meta.url))
const skip = process.platform === 'win32' && 'a process cannot be replaced'

/** Every beginning of the command line. */
const run = (
  t: Test,
  args: readonly string[],
  options: { NODE_OPTIONS?: string; ipc?: true } = {},
) => beginningsOf(t, [process.execPath, cli, ...args], options)

t.test(
  'what runs for long has the flags of the binary, in the same process',
  { skip },
  async (t) => {
    for (const command of ['serve', 'worker']) {
      const { pid, status, begun, messages } = await run(t, ['--app', 'none', command])
      t.same(
        begun,
        [[], heapFlags].map((flags) => ({ pid, flags, args: ['--app', 'none', command] })),
      )
      t.equal(status, 1)
      t.match(messages, /^gatehouse: The settings are not valid/m, 'and it goes on as before')
    }
  },
)

t.test('a flag that the operator sets stays', { skip }, async (t) => {
  const { begun } = await run(t, ['serve'], { NODE_OPTIONS: '--max_semi_space_size=32' })
  t.same(
    begun.map(({ flags }) => flags),
    [[], ['--heap-growing-percent=30']],
  )
})

t.test(
  'other commands, the child of another Node and what is debugged begin once',
  { skip },
  async (t) => {
    t.equal((await run(t, ['--version'])).begun.length, 1)
    t.equal((await run(t, ['serve'], { ipc: true })).begun.length, 1, 'it keeps its channel')
    const debugged = await run(t, ['serve'], { NODE_OPTIONS: '--inspect=127.0.0.1:0' })
    t.equal(debugged.begun.length, 1, 'it keeps its debugger')
  },
)
