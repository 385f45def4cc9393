import t from 'tap'
import { type Edit, withEdit, withoutEdit } from '#dev/release/new/edit.ts'
import { InputFault } from '#dev/release/new/input.ts'

const list = `import { posts } from './posts.ts'\n\nexport const all = [posts] as const\n`
const line: Edit = {
  ...{ path: 'list.ts', after: 'import { posts }' },
  text: `import { tasks } from './tasks.ts'\n`,
}
const name: Edit = { path: 'list.ts', before: '] as const', text: ', tasks' }

t.test('what an edit adds can be taken out again', async (t) => {
  const added = withEdit(withEdit(list, line), name)
  t.equal(
    added,
    `import { posts } from './posts.ts'\nimport { tasks } from './tasks.ts'\n\nexport const all = [posts, tasks] as const\n`,
  )
  t.equal(withoutEdit(withoutEdit(added, name), line), list)
})

t.test('a name is not taken out of a longer name', async (t) => {
  const longer = list.replace('[posts]', '[posts, tasksOfTeams, tasks]')
  t.equal(withoutEdit(longer, name), list.replace('[posts]', '[posts, tasksOfTeams]'))
})

t.test('a list of several lines gets one comma', async (t) => {
  const lines = 'export const all = [\n  posts,\n] as const\n'
  t.equal(withEdit(lines, name), 'export const all = [\n  posts,\n tasks] as const\n')
})

t.test('a file that exists is not written, and a place that is missing is named', async (t) => {
  const refused: [() => string, string][] = [
    [() => withEdit('', { path: 'new.ts', text: 'x' }), 'new.ts exists already.'],
    [() => withEdit('other', line), 'list.ts has no “import { posts }” any more.'],
    [() => withEdit('other', name), 'list.ts has no “] as const” any more.'],
    [() => withEdit(null, name), 'list.ts has no “] as const” any more.'],
    [() => withoutEdit(list, name), 'list.ts has been changed. Take out what was added by hand.'],
  ]
  for (const [edit, message] of refused) t.throws(edit, new InputFault(message))
})
