import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { divide, filesOf, patterns } from './lanes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const all = globSync('test/**/*.test.ts', { cwd: root }).sort()

t.test('every file is in one lane, alone or shared', async (t) => {
  const divided = (['first', 'second'] as const).flatMap((lane) => {
    const { alone, shared } = divide(filesOf(lane, root), lane, 4)
    return [...alone, ...shared]
  })
  t.strictSame(divided.sort(), all)
})

t.test('a few files share one process, and many as many as run at once', async (t) => {
  const files = Array.from({ length: 41 }, (_, index) => `test/${index}.test.ts`)
  t.equal(divide(files.slice(0, 1), 'first', 4).processes, 1)
  t.equal(divide(files.slice(0, 11), 'first', 4).processes, 2)
  t.equal(divide(files, 'first', 4).processes, 4)
  t.strictSame(divide(['test/app.test.ts'], 'first', 4).processes, 0)
})

t.test('every pattern names files', async (t) => {
  for (const pattern of patterns) t.ok(globSync(pattern, { cwd: root }).length > 0, pattern)
})
