import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { batchesOf, filesOf, patterns } from './lanes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const all = globSync('test/**/*.test.ts', { cwd: root }).sort()

t.test('every file is in one lane and in one batch', async (t) => {
  const batched = (['first', 'second'] as const).flatMap((lane) =>
    batchesOf(filesOf(lane, root), lane).flat(),
  )
  t.strictSame(batched.sort(), all)
})

t.test('every pattern names files', async (t) => {
  for (const pattern of patterns) t.ok(globSync(pattern, { cwd: root }).length > 0, pattern)
})
