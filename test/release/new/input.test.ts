import t from 'tap'
import { InputFault, readCommand, type Taken } from '#dev/release/new/input.ts'

const taken: Taken = {
  rules: ['post', 'folder'],
  tables: ['posts', 'folders', 'tenant_usage'],
  schemas: ['Post', 'Folder', 'AuditEntry'],
  paths: ['posts', 'usage', 'app'],
  events: ['post.updated', 'endpoint.test'],
}
const line = 'title:line:200'
const scope = ['--scope', 'tenant']
const faultOf = (...args: string[]) => {
  try {
    readCommand(args, taken)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof InputFault)) throw error
    return error.message
  }
}

t.test('a resource with every kind of field is read', async (t) => {
  const command = readCommand(
    [
      ...['task-note', line, 'details:text:5000:optional', 'status:choice:open/done'],
      ...['priority:integer', 'urgent:flag:optional', '--scope', 'chain', '--page', 'Task notes'],
    ],
    taken,
  )
  t.strictSame(command, {
    kind: 'add',
    resource: {
      ...{ name: 'task-note', table: 'task_notes', scope: 'chain', page: 'Task notes' },
      fields: [
        { key: 'title', isOptional: false, limit: 200, words: [], kind: 'line' },
        { key: 'details', isOptional: true, limit: 5_000, words: [], kind: 'text' },
        { key: 'status', isOptional: false, limit: 0, words: ['open', 'done'], kind: 'choice' },
        { key: 'priority', isOptional: false, limit: 0, words: [], kind: 'integer' },
        { key: 'urgent', isOptional: true, limit: 0, words: [], kind: 'flag' },
      ],
    },
  })
  t.strictSame(readCommand(['--remove', 'task'], taken), { kind: 'remove', name: 'task' })
})

t.test('a name that exists already, or is reserved, is refused', async (t) => {
  const refused: Record<string, [string[], RegExp]> = {
    rule: [['folder', line, ...scope], /the policy has rules for folder already/],
    schema: [['audit-entry', line, ...scope], /has AuditEntry already/],
    table: [['note', line, ...scope, '--plural', 'tenant_usage'], /the table tenant_usage exists/],
    path: [['use', line, ...scope, '--plural', 'usage'], /the path \/usage exists already/],
    event: [['endpoint', line, ...scope], /there are events endpoint\.… already/],
    'word of SQL': [['table', line, ...scope], /table: the word is reserved/],
    'plural of SQL': [['note', line, ...scope, '--plural', 'order'], /the word order is reserved/],
    'word of JavaScript': [['class', line, ...scope], /class: the word is reserved/],
    'field of SQL': [
      ['note', line, 'group:line:9', ...scope],
      /group:line:9: the word is reserved/,
    ],
    'field of every object': [['note', line, 'constructor:flag', ...scope], /word is reserved/],
    'field of every table': [['note', line, 'xmin:integer', ...scope], /word is reserved/],
    'fact of conditions': [['note', line, 'department:line:9', ...scope], /department is taken/],
    'field of the program': [['note', line, 'tenantId:line:9', ...scope], /tenantId is taken/],
  }
  for (const [name, [args, message]] of Object.entries(refused)) {
    t.match(faultOf(...args), message, name)
  }
})

t.test('every other argument says what is accepted', async (t) => {
  const refused: [string[], RegExp][] = [
    [[], /npm run new/],
    [['Note', line, ...scope], /lower-case words with hyphens/],
    [["note'; DROP", line, ...scope], /lower-case words with hyphens/],
    [['note', line], /--scope : use owner, tenant or chain/],
    [['note', line, '--scope', 'all'], /--scope all/],
    [['note', line, ...scope, '--colour', 'red'], /colour/],
    [['note', line, ...scope, '--page', `It's`], /--page It's: use letters/],
    [['note', line, ...scope, '--plural', 'Notes'], /--plural Notes/],
    [['note', ...scope], /at least one line/],
    [['note', 'title:line:200:optional', ...scope], /at least one line/],
    [['note', line, line, ...scope], /named twice/],
    [['note', 'Title:line:9', ...scope], /begins with a lower-case letter/],
    [['note', 'title:line', ...scope], /needs its greatest length, from 1 to 1000/],
    [['note', 'title:line:0', ...scope], /from 1 to 1000/],
    [['note', 'body:text:999999', ...scope], /from 1 to 100000/],
    [['note', 'at:date', ...scope], /the kinds are line, text, choice, integer and flag/],
    [['note', 'state:choice:open', ...scope], /two or more different words/],
    [['note', `state:choice:open/it's`, ...scope], /two or more different words/],
    [['note', 'count:integer:9', ...scope], /takes nothing further/],
    [['note', 'title:line:9:more:parts', ...scope], /too many parts/],
    [['--remove', '../x'], /lower-case words with hyphens/],
  ]
  for (const [args, message] of refused) t.match(faultOf(...args), message, args.join(' '))
})
