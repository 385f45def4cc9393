import t from 'tap'
import { InputFault, readResource, type Taken } from '#src/commands/development/new/input.ts'

const taken: Taken = {
  rules: ['post', 'folder'],
  tables: ['posts', 'folders', 'tenant_usage'],
  schemas: ['Post', 'Folder', 'AuditEntry'],
  events: ['post.updated', 'endpoint.test'],
  isRouted: (path) => ['/usage', '/app/members'].includes(path),
}
const line = 'title:line:200'
const read = (name: string, fields: string[], options: { plural?: string; page?: string } = {}) =>
  readResource(name, fields, { scope: 'chain', ...options }, taken)
const faultOf = (...args: Parameters<typeof read>) => {
  try {
    read(...args)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof InputFault)) throw error
    return error.message
  }
}

t.test('a resource with every kind of field is read', async (t) => {
  const resource = read(
    'task-note',
    [
      ...[line, 'details:text:5000:optional', 'status:choice:open/done', 'priority:integer'],
      ...['urgent:flag:optional', 'due:date', 'contact:email', 'plan:url:optional'],
    ],
    { page: 'Task notes' },
  )
  const plain = { isOptional: false, limit: 0, words: [] }
  t.strictSame(resource, {
    ...{ name: 'task-note', table: 'task_notes', scope: 'chain', page: 'Task notes' },
    fields: [
      { ...plain, key: 'title', kind: 'line', limit: 200 },
      { ...plain, key: 'details', kind: 'text', limit: 5_000, isOptional: true },
      { ...plain, key: 'status', kind: 'choice', words: ['open', 'done'] },
      { ...plain, key: 'priority', kind: 'integer' },
      { ...plain, key: 'urgent', kind: 'flag', isOptional: true },
      { ...plain, key: 'due', kind: 'date' },
      { ...plain, key: 'contact', kind: 'email' },
      { ...plain, key: 'plan', kind: 'url', isOptional: true },
    ],
  })
})

t.test('a name that exists already, or is reserved, is refused', async (t) => {
  const refused: Record<string, [Parameters<typeof read>, RegExp]> = {
    rule: [['folder', [line]], /the policy has rules for folder already/],
    schema: [['audit-entry', [line]], /has AuditEntry already/],
    table: [['note', [line], { plural: 'tenant_usage' }], /the table tenant_usage exists/],
    path: [['use', [line], { plural: 'usage' }], /the path \/usage exists already/],
    page: [['member', [line]], /the path \/app\/members exists already/],
    event: [['endpoint', [line]], /there are events endpoint\.… already/],
    'word of SQL': [['table', [line]], /table: the word is reserved/],
    'plural of SQL': [['note', [line], { plural: 'order' }], /the word order is reserved/],
    'word of JavaScript': [['class', [line]], /class: the word is reserved/],
    'field of SQL': [['note', ['group:line:9']], /group:line:9: the word is reserved/],
    'field of every object': [['note', [line, 'constructor:flag']], /word is reserved/],
    'field of every table': [['note', [line, 'xmin:integer']], /word is reserved/],
    'fact of conditions': [['note', [line, 'department:line:9']], /department is taken/],
    'field of the program': [['note', [line, 'tenantId:line:9']], /tenantId is taken/],
  }
  for (const [name, [args, message]] of Object.entries(refused)) {
    t.match(faultOf(...args), message, name)
  }
})

t.test('every other argument says what is accepted', async (t) => {
  const refused: [Parameters<typeof read>, RegExp][] = [
    [['Note', [line]], /lower-case words with hyphens/],
    [["note'; DROP", [line]], /lower-case words with hyphens/],
    [['../x', [line]], /lower-case words with hyphens/],
    [['note', [line], { page: `It's` }], /--page It's: use letters/],
    [['note', [line], { plural: 'Notes' }], /--plural Notes/],
    [['note', []], /at least one line/],
    [['note', ['title:line:200:optional']], /at least one line/],
    [['note', [line, line]], /named twice/],
    [['note', ['Title:line:9']], /begins with a lower-case letter/],
    [['note', ['title:line']], /needs its greatest length, from 1 to 1000/],
    [['note', ['title:line:0']], /from 1 to 1000/],
    [['note', ['body:text:999999']], /from 1 to 100000/],
    [
      ['note', ['at:hour']],
      /the kinds are line, text, choice, integer, flag, date, email, member, url/,
    ],
    [['note', ['at:toString']], /the kinds are/],
    [['note', ['state:choice:open']], /two or more different words/],
    [['note', [`state:choice:open/it's`]], /two or more different words/],
    [['note', [line, 'toId:member']], /a member is optional, and its name ends in Id/],
    [['note', [line, 'buddy:member:optional']], /a member is optional, and its name ends in Id/],
    [['note', ['count:integer:9']], /takes nothing further/],
    [['note', ['title:line:9:more:parts']], /too many parts/],
  ]
  for (const [args, message] of refused) t.match(faultOf(...args), message, args.join(' '))
})
