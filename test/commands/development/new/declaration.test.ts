import t from 'tap'
import { withResource } from '#src/commands/development/new/declaration.ts'

const resource = { name: 'task', table: 'tasks' }

t.test('a configuration gets one more resource, however its list is written', async (t) => {
  const head = `import { defineApp } from 'gatehouse'\n`
  const added = `import { tasks } from './resources/tasks.ts'\n`
  for (const [before, after] of [
    ['resources: []', 'resources: [tasks]'],
    ['resources: [notes]', 'resources: [notes, tasks]'],
    ['resources: [\n    notes,\n  ]', 'resources: [\n    notes, tasks\n  ]'],
    ['resources:[notes],\n  routes: {}', 'resources:[notes, tasks],\n  routes: {}'],
  ] as const) {
    const config = (list: string) => `export default defineApp({ name: 'acme', ${list} })\n`
    t.equal(
      withResource(`${head}${config(before)}`, resource),
      `${head}${added}${config(after)}`,
      before,
    )
  }
})

t.test('an import of several lines stays whole', async (t) => {
  const config = `import {\n  defineApp,\n} from 'gatehouse'\n\nexport default defineApp({ resources: [] })\n`
  t.equal(
    withResource(config, resource),
    `import {\n  defineApp,\n} from 'gatehouse'\nimport { tasks } from './resources/tasks.ts'\n\nexport default defineApp({ resources: [tasks] })\n`,
  )
})

t.test('a configuration without a list in it is not changed', async (t) => {
  for (const list of ['resources', 'resources: all', 'resources: [...all(), [notes]]']) {
    t.equal(withResource(`export default defineApp({ ${list} })`, resource), null, list)
  }
})
