import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { chooseFiles, quickFiles, quickWithDatabase } from './chosen.ts'
import { filesOf } from './lanes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

t.test('the quick run has files of the first lane, the named ones first', async (t) => {
  const first = filesOf('first', root)
  const quick = chooseFiles(root, { lane: 'first', named: [], isQuick: true })
  t.strictSame(quick.slice(0, quickWithDatabase.length), [...quickWithDatabase])
  t.strictSame(
    quick.filter((file) => !first.includes(file) || !existsSync(join(root, file))),
    [],
  )
  t.equal(new Set(quick).size, quick.length)
  t.ok(quick.includes('test/access/rules.test.ts'), 'a rule without a database')
  t.notOk(quick.includes('test/routes/api/orders.test.ts'), 'a route with one')
})

t.test('a new file is in the quick run unless it starts a database or a program', async (t) => {
  const light = ['test/new.test.ts', ['#src/rule.ts']] as const
  const heavy = ['test/heavy.test.ts', ['test/support/helper.ts']] as const
  const imports = new Map<string, readonly string[]>([
    light,
    heavy,
    ['test/support/helper.ts', ['test/support/database/template.ts']],
  ])
  const chosen = quickFiles(['test/new.test.ts', 'test/heavy.test.ts'], imports)
  t.strictSame(chosen.slice(quickWithDatabase.length), ['test/new.test.ts'])
})

t.test(
  'named files are found by path, pattern and folder, and one that is missing is an error',
  async (t) => {
    const named = (...names: string[]) =>
      chooseFiles(root, { lane: 'first', named: names, isQuick: false })
    t.strictSame(named('test/run/lanes.test.ts'), ['test/run/lanes.test.ts'])
    t.ok(named('test/run').includes('test/run/lanes.test.ts'))
    t.ok(named('test/run/*.test.ts').includes('test/run/lanes.test.ts'))
    t.throws(() => named('test/none.test.ts'), /no test at test\/none\.test\.ts/)
  },
)
