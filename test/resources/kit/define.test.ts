import t from 'tap'
import Type from 'typebox'
import { defineResource } from '#src/resources/kit/define.ts'
import { rulesOf } from '#src/resources/kit/derived.ts'
import { distinctResources } from '#src/resources/kit/distinct.ts'
import { computed } from '#src/resources/kit/fields/computed.ts'
import { type Field, hidden, initially, optional } from '#src/resources/kit/fields/field.ts'
import { json } from '#src/resources/kit/fields/json.ts'
import { folder } from '#src/resources/kit/fields/keys/folder.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { member } from '#src/resources/kit/fields/keys/member.ts'
import { owner } from '#src/resources/kit/fields/keys/people.ts'
import { reference } from '#src/resources/kit/fields/keys/reference.ts'

import { decimal } from '#src/resources/kit/fields/numbers/decimal.ts'
import { integer } from '#src/resources/kit/fields/numbers/integer.ts'
import { money } from '#src/resources/kit/fields/numbers/money.ts'
import { choice } from '#src/resources/kit/fields/texts/choice.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { lines } from '#src/resources/kit/fields/texts/lines.ts'
import { created, timestamp, updated } from '#src/resources/kit/fields/times/timestamp.ts'
import {
  allOf,
  anyOf,
  askingOf,
  departmentOf,
  fieldIs,
  havePlan,
  haveRole,
  personOf,
  teamOf,
} from '#src/resources/kit/visible.ts'

const times = { createdAt: created(), updatedAt: updated() }
const lineItems = json(Type.Array(Type.Object({})), Type.Array(Type.Object({})))
const orderFields = { id: id(), userId: owner(), lineItems, ...times }
const documentFields = { id: id(), folderId: folder(), title: line(200), ...times }
const order = { plural: 'orders', scope: 'owner', fields: orderFields } as const
const document = {
  plural: 'documents',
  scope: 'chain',
  fields: documentFields,
} as const
const [readOrder, writeOrder] = [
  { permission: null, token: 'order:read' },
  { permission: null, token: 'order:write' },
] as const
const read = { permission: null, token: 'document:read' } as const
const write = { permission: 'post:write', token: 'document:write' } as const

t.test('a page needs an input for each field that an action accepts', async (t) => {
  const define = (hasPage: boolean) =>
    defineResource('order', {
      ...order,
      actions: { read: readOrder, update: { ...writeOrder, accepts: ['lineItems'] } },
      ...(hasPage && { page: { label: 'Orders', heading: 'id' } }),
    })
  t.throws(() => define(true), {
    message: 'The resource order has a page and no input for lineItems.',
  })
  t.doesNotThrow(() => define(false), 'the API takes JSON')
})

t.test('a plan is asked for by an action, and never of a service', async (t) => {
  const define = (forServices: boolean, plan?: string | readonly string[]) =>
    defineResource('order', {
      ...{ ...order, scope: 'tenant', forServices },
      actions: { read: { ...readOrder, ...(plan !== undefined && { plan }) } },
    })
  const plansOf = (plan?: string | readonly string[]) =>
    rulesOf([define(false, plan)]).map(({ plans }) => plans)
  t.strictSame(plansOf('pro'), [['pro']])
  t.strictSame(plansOf(['pro', 'team']), [['pro', 'team']])
  t.strictSame(plansOf(), [[]])
  t.throws(() => define(true, 'pro'), {
    message: 'The resource order needs a plan, and is for services, which have none.',
  })
})

t.test('a page shows no JSON', async (t) => {
  const define = (page: { heading: 'id' | 'lineItems'; columns?: readonly 'lineItems'[] }) => () =>
    defineResource('order', {
      ...{ ...order, actions: { read: readOrder } },
      page: { label: 'Orders', ...page },
    })
  const message = 'The resource order has a page with the JSON of lineItems.'
  t.throws(define({ heading: 'lineItems' }), { message })
  t.throws(define({ heading: 'id', columns: ['lineItems'] }), { message })
  t.doesNotThrow(define({ heading: 'id' }))
})

t.test('each mistake that the compiler cannot see is named at start', async (t) => {
  const actions = { read, create: { ...write, accepts: ['title', 'folderId'] } }
  const declare = (change: object) => () =>
    defineResource(nameIn(change), { ...document, actions, ...without(change, 'name') } as never)
  const { title, folderId, createdAt, updatedAt } = documentFields
  const ofOwner = {
    ...{ scope: 'owner', events: { updated: 'x' } },
    actions: { read, update: { ...read, accepts: ['title'] } },
  }
  const unfound =
    'has events and shows no userId before its last field, by which erasure and export find them'
  const page = { label: 'Documents', heading: 'title' }
  const none = 'fields of its kind have none. Remove it there'
  const shadowed = ': Gatehouse reads or fills it itself, so give yours another name'
  const mistakes: Record<string, object> = {
    'has a name that is not words with hyphens': { name: 'Document' },
    'has the plural Documents, which is not the name of a table': { plural: 'Documents' },
    'has the field due_at, which is not the name of a column': {
      fields: { ...documentFields, due_at: created() },
    },
    'needs the fields id and createdAt': { fields: { id: id(), folderId, title } },
    'has an update and no field updatedAt': {
      fields: { id: id(), folderId, title, createdAt },
      actions: { read, update: { ...write, accepts: ['title'] } },
    },
    'has the scope owner and no field userId': { scope: 'owner' },
    'needs a role, which belongs to one tenant, for rows that an owner has in several': {
      scope: 'owner',
      fields: { ...documentFields, userId: owner() },
    },
    [unfound]: { ...ofOwner, fields: { id: id(), title, ...times, userId: owner() } },
    'has no search in createdAt, which is no field of text': { search: ['createdAt'] },
    'names titel in search, which is no field: the nearest is title': { search: ['titel'] },
    'names titel in accepts of update, which is no field: the nearest is title': {
      actions: { read, update: { ...write, accepts: ['titel'] } },
    },
    'names state in page, which is no field: the nearest is title': {
      page: { ...page, columns: ['state'] },
    },
    'has the scope chain and a search: its lists read the rows of each team by their ids': {
      search: ['title'],
    },
    'has 3 filters and 6 sorts, which need 18 indexes together, 16 at most: leave some out': {
      ...{ scope: 'tenant', filters: ['a', 'b', 'c'], sort: ['n', 'm', 'o', 'p', 'q', 's'] },
      fields: {
        ...documentFields,
        ...Object.fromEntries(['a', 'b', 'c'].map((key) => [key, line(9)])),
        ...Object.fromEntries(['n', 'm', 'o', 'p', 'q', 's'].map((key) => [key, integer()])),
      },
      actions: { read },
    },
    'has the scope chain and no field folderId': {
      fields: { id: id(), title, createdAt, updatedAt },
    },
    'has the scope chain and creates rows without a folder': {
      actions: { read, create: { ...write, accepts: ['title'] } },
    },
    'is for services, which have no chain': { forServices: true },
    [`has no filter by createdAt: ${none}; docs/fields.md says which kinds have a filter`]: {
      filters: ['createdAt'],
    },
    [`has no order by title: ${none}, or list a field of text in search; docs/fields.md says which kinds have a sort`]:
      { scope: 'tenant', sort: ['title'] },
    "has the reference projectId with onDelete 'delete': it is one of restrict, cascade, clear": {
      fields: {
        ...documentFields,
        projectId: reference('project', { onDelete: 'delete' as never }),
      },
    },
    "has the member forId with onLeave 'delete': it is one of clear, keep": {
      scope: 'tenant',
      fields: { ...documentFields, forId: optional(member({ onLeave: 'delete' as never })) },
    },
    [`has a field id that is not id()${shadowed}`]: { fields: { ...documentFields, id: line(36) } },
    [`has a field tenantId that is not tenant()${shadowed}`]: {
      fields: { ...documentFields, tenantId: line(36) },
    },
    [`has a field createdAt that is not created()${shadowed}`]: {
      fields: { ...documentFields, createdAt: timestamp() },
    },
    [`has a field updatedAt that is not updated()${shadowed}`]: {
      fields: { ...documentFields, updatedAt: created() },
    },
    [`has a field userId that is not owner()${shadowed}`]: {
      ...ofOwner,
      fields: { ...documentFields, userId: member() },
    },
    [`has a field folderId that is not folder()${shadowed}`]: {
      fields: { ...documentFields, folderId: optional(folder()) },
    },
    'has the scope chain and a field teamId, which is the team of the folder: give yours another name':
      { fields: { ...documentFields, teamId: integer() } },
    'has a filter limit, which every list has for itself': {
      fields: { ...documentFields, limit: line(9) },
      filters: ['limit'],
    },
    'has the event Done, which is not lower-case words': { events: { Done: 'x' } },
    'has the event deleted and no action that publishes it': { events: { deleted: 'x' } },
    'has the privileges select for workers, which GRANT does not take': { worker: 'select' },
    'has the field title with at most 0 characters': {
      fields: { ...documentFields, title: line(0) },
    },
    'has the field state with a choice of no words or of equal ones': {
      fields: { ...documentFields, state: choice('open', 'open') },
    },
    'has the field seats with a range of no numbers': {
      fields: { ...documentFields, seats: integer('', { minimum: 2, maximum: 1 }) },
    },
    'has the field weight with decimal(2, 2), but needs 1 to 38 digits and fewer after the point': {
      fields: { ...documentFields, weight: decimal(2, 2) },
    },
    'has the field tags with at most 0 lines of 9 characters': {
      fields: { ...documentFields, tags: lines(0, 9) },
    },
    'has the reference project, whose name does not end in Id': {
      fields: { ...documentFields, project: reference('project', { onDelete: 'restrict' }) },
    },
    'has the reference projectId and a field project, which an expanded response has for its row': {
      fields: {
        ...documentFields,
        ...{ project: line(9), projectId: reference('project', { onDelete: 'restrict' }) },
      },
    },
    'has the reference projectId, which is cleared and not optional': {
      fields: { ...documentFields, projectId: reference('project', { onDelete: 'clear' }) },
    },
    'has a page and a field version, which every form has for itself': {
      fields: { ...documentFields, version: line(9) },
      actions: { read, create: { ...write, accepts: ['title', 'folderId', 'version'] } },
      page,
    },
    'has a page and no input for folderId': { scope: 'tenant', page },
    'has a payload of closed, which is not among the events': { payloads: { closed: data } },
    'has a payload of closed, which an action publishes with the row': {
      ...own('close', { event: 'closed' }),
      ...{ events: { closed: 'x' }, payloads: { closed: data } },
    },
    'has the action toDo, which has a name that is not words with hyphens': own('toDo', {}),
    'has the action delete, which has the name of an action that any resource can have': own(
      'delete',
      {},
    ),
    'has the action close, which accepts nothing and has no run, so it does nothing': own('close', {
      accepts: [],
    }),
    'has the action move, which accepts the folder, whose team the row keeps': own('move', {
      accepts: ['folderId'],
    }),
    'has the action close, which publishes closed, which is not among the events': own('close', {
      event: 'closed',
    }),
    'names status in sets of close, which is no field: the nearest is title': own('close', {
      sets: ['status'],
    }),
  }
  t.doesNotThrow(declare({ page }), 'without a mistake')
  t.doesNotThrow(declare({ ...ofOwner, fields: { id: id(), userId: owner(), title, ...times } }))
  t.throws(
    declare({ ...ofOwner, fields: { id: id(), userId: hidden(owner()), title, ...times } }),
    {
      message: `The resource document ${unfound}.`,
    },
  )
  for (const [words, change] of Object.entries(mistakes)) {
    t.throws(declare(change), { message: `The resource ${nameIn(change)} ${words}.` }, words)
  }
})

const data = Type.Object({})
const own = (name: string, change: object) => ({
  own: { [name]: { permission: 'post:write', accepts: ['title'], ...change } },
})

function without(change: object, key: string): object {
  return Object.fromEntries(Object.entries(change).filter(([one]) => one !== key))
}

function nameIn(change: { readonly name?: string }): string {
  return change.name ?? 'document'
}

t.test('an option that would be ignored is refused, with the nearest one', async (t) => {
  const actions = { read, update: { ...write, accepts: ['title'] } }
  const page = { label: 'Documents', heading: 'title' }
  const mistakes: [change: object, words: string][] = [
    [{ uniqe: [['title']] }, 'has the unknown option uniqe. Did you mean unique?'],
    [
      { actions: { ...actions, updat: write } },
      'has the unknown option actions.updat. Did you mean update?',
    ],
    [
      { actions: { ...actions, update: { ...write, acepts: ['title'] } } },
      'has the unknown option actions.update.acepts. Did you mean accepts?',
    ],
    [
      { actions: { read, create: { ...write, accepts: ['title', 'folderId'], unless: [] } } },
      'has the unknown option actions.create.unless. Did you mean sets?',
    ],
    [{ page: { ...page, titel: 'x' } }, 'has the unknown option page.titel. Did you mean label?'],
    [
      { page: { ...page, create: { heading: 'New', buton: 'Add' } } },
      'has the unknown option page.create.buton. Did you mean button?',
    ],
    [
      own('close', { events: 'closed' }),
      'has the action close, which has the unknown option events. Did you mean event?',
    ],
    [
      {
        actions: {
          ...actions,
          update: { ...actions.update, unless: [{ name: 'done', word: '' }] },
        },
      },
      'has for update the condition done, which has the unknown option word. Did you mean words?',
    ],
  ]
  for (const [change, words] of mistakes) {
    const define = () => defineResource('document', { ...document, actions, ...change } as never)
    t.throws(define, { message: `The resource document ${words}` }, words)
  }
})

t.test('two resources do not share a name or a table', async (t) => {
  const one = { name: 'task', plural: 'tasks', fields: {}, search: [], unique: [] }
  const other = { name: 'chore', plural: 'chores', fields: {}, search: [], unique: [] }
  const both = (change: object) => () => distinctResources([one, { ...other, ...change }] as never)
  t.doesNotThrow(both({}))
  t.throws(both({ name: 'task' }), { message: 'Two resources have the name task.' })
  t.throws(both({ plural: 'tasks' }), { message: 'Two resources have the plural tasks.' })
  const searched = { ...one, search: ['title'] }
  t.throws(() => distinctResources([searched, { ...other, plural: 'tasks_words' }] as never), {
    message: 'Two resources have the table tasks_words.',
  })
})

t.test('a reference leads to a row that its reader may know of', async (t) => {
  const one = (name: string, scope: string, fields: object = {}) =>
    ({ name, plural: `${name}s`, scope, fields, search: [], unique: [] }) as never
  const to = (name: string) => reference(name, { onDelete: 'cascade' })
  const mistakes: [resources: never[], message: string][] = [
    [
      [one('task', 'tenant', { projectId: to('project') })],
      'The resource task has the field projectId, which refers to project: there is no such resource.',
    ],
    [
      [one('task', 'tenant', { pageId: to('page') }), one('page', 'chain')],
      'The resource task has the field pageId, which refers to pages: that one exists is known to its team alone.',
    ],
    [
      [one('note', 'chain', { pageId: to('page') }), one('page', 'chain')],
      'The resource note has the field pageId, which refers to pages: that one exists is known to its team alone.',
    ],
    [
      [one('memo', 'owner', { taskId: to('task') }), one('task', 'tenant')],
      'The resource memo has the field taskId, which refers to tasks of the scope tenant: both need the scope owner or tenant.',
    ],
    [
      [
        one('task', 'tenant', { noteId: to('note') }),
        { ...Object(one('note', 'tenant')), visible: haveRole('admin') } as never,
      ],
      'The resource task has the field noteId, which refers to notes: that one exists is known to those who see it alone.',
    ],
    [
      [one('task', 'tenant', { taskId: to('task') })],
      'The resource task has the field taskId, which refers to itself: the first row needs it to be optional.',
    ],
    [
      [one('a', 'tenant', { bId: to('b') }), one('b', 'tenant', { aId: to('a') })],
      'The resource a needs a row that needs one of its own: make a reference between them optional.',
    ],
  ]
  for (const [resources, message] of mistakes) {
    t.throws(() => distinctResources(resources), { message }, message)
  }
  t.doesNotThrow(() =>
    distinctResources([
      one('a', 'tenant', { bId: to('b'), aId: optional(to('a')) }),
      one('b', 'tenant', { aId: optional(to('a')) }),
    ]),
  )
})

t.test('a row in a folder keeps its team, so an update cannot move it', async (t) => {
  const define = () =>
    defineResource('document', {
      ...document,
      actions: { read, update: { ...write, accepts: ['title', 'folderId'] } },
    })
  t.throws(define, { message: /an update of the folder, whose team the row keeps/ })
})

t.test('nothing else tells what is in a field that needs a permission', async (t) => {
  const rate = optional(line(200), { permission: 'task:rate' })
  const define = (further: object, scope: 'owner' | 'tenant' = 'tenant') =>
    defineResource('task', {
      ...{ plural: 'tasks', scope },
      fields: { id: id(), userId: owner(), title: line(9), rate, ...times },
      actions: { read: { permission: null, token: 'task:read' } },
      ...further,
    })
  t.doesNotThrow(() => define({}))
  for (const further of [
    { filters: ['rate'] },
    { search: ['rate'] },
    { unique: [['title', 'rate']] },
    { page: { label: 'Tasks', heading: 'rate' } },
  ]) {
    const message =
      'The resource task has the field rate with the permission task:rate, and a filter, sort, search, unique key, heading or visible that tells it: leave it out there.'
    t.throws(() => define(further), { message })
  }
  t.throws(() => define({}, 'owner'), { message: /permission task:rate of a role/ })
  t.notOk('rate' in define({}).eventShape.properties, 'no event has it')
})

t.test(
  'who sees a row is said by its people, texts and flags, and nothing else tells of it',
  (t) => {
    const define = (further: object) => () =>
      defineResource('task', {
        ...{ plural: 'tasks', scope: 'tenant' },
        fields: {
          id: id(),
          userId: owner(),
          forId: optional(member()),
          title: line(9),
          n: integer(),
          ...times,
        },
        visible: anyOf(personOf('forId'), departmentOf('title'), haveRole('admin')),
        actions: { read: { permission: null, token: 'task:read' } },
        ...further,
      } as never)
    t.doesNotThrow(define({}))
    const refused: [further: object, words: string][] = [
      [{ visible: personOf('n') }, 'by n, which is not an author or a member'],
      [{ visible: allOf(departmentOf('n')) }, 'by n, which is not a text'],
      [{ visible: fieldIs('n', 'x') }, 'by n, which is not a text or a flag'],
      [{ visible: teamOf('title') }, 'by title, which is not an integer'],
      [{ visible: teamOf('forId') }, 'by forId, which is not an integer'],
      [{ visible: personOf('byId') }, 'by byId, which is not an author or a member'],
      [{ unique: [['title']] }, 'and its unique key tells of rows to everybody'],
      [{ forServices: true }, 'says which members see a row, and is for services, which are none'],
      [{ scope: 'owner' }, 'says who sees a row, which is only for the scope tenant'],
    ]
    for (const [further, words] of refused) {
      t.throws(define(further), { message: new RegExp(words) }, words)
    }
    const asking = askingOf({ tenant: '$1', user: '$2', kind: '$3', manages: '$4' })
    const sql = allOf(anyOf(), fieldIs('title', "o'clock"), havePlan("a'", 'b')).sql(asking, String)
    t.match(
      sql,
      /^\(\(false\) AND title = 'o''clock' AND \(SELECT .* u\.id = \$2\) IN \('a''', 'b'\)\)$/,
    )
    t.end()
  },
)

t.test('a member is optional unless the field is kept, and belongs to a tenant', async (t) => {
  const define = (fields: Record<string, Field>, scope: 'owner' | 'tenant' = 'tenant') =>
    defineResource('task', {
      ...{ plural: 'tasks', scope },
      fields: { id: id(), userId: owner(), ...fields, ...times },
      actions: { read: { permission: null, token: 'task:read' } },
    })
  t.doesNotThrow(() => define({ toId: optional(member()), byId: member({ onLeave: 'keep' }) }))
  t.throws(() => define({ toId: member() }), { message: /is cleared when the person leaves/ })
  t.throws(() => define({ to: optional(member()) }), { message: /does not end in Id/ })
  t.throws(() => define({ toId: optional(member()), to: line(9) }), { message: /a field to/ })
  t.throws(() => define({ toId: optional(member()) }, 'owner'), { message: /no tenant alone/ })
  const long = `a${'b'.repeat(50)}Id`
  t.throws(() => define({ [long]: optional(member()) }), { message: /more than 63 characters/ })
})

t.test('a computed field is of other fields of the row, and nobody writes it', (t) => {
  const define =
    (fields: Record<string, Field>, actions: object = {}) =>
    () =>
      defineResource('order', {
        ...order,
        fields: { ...orderFields, count: integer(), note: line(9), ...fields },
        actions: { read: readOrder, ...actions },
      })
  const double = computed(integer(), ({ count }) => `${count} * 2`)
  t.doesNotThrow(define({ double }))
  const its = 'The resource order has the computed field double'
  for (const [wrong, message] of [
    [
      { double: computed(integer(), () => 'count * 2') },
      `${its}, whose expression takes no column from its argument.`,
    ],
    [
      { double: computed(integer(), ({ counts }) => `${counts}`) },
      `${its}, which reads counts, which is no field.`,
    ],
    [
      { single: double, double: computed(integer(), ({ single }) => `${single}`) },
      `${its}, which reads single, which is computed too.`,
    ],
    [{ double: initially(double, () => 1) }, `${its}, which an action or an initial value writes.`],
    [
      { double: computed(money(), ({ note }) => `${note}`) },
      'The resource order has the field double that is computed, and is no text, number, flag, date or time.',
    ],
    [
      { double: computed(lines(2, 9), ({ count }) => `${count}`) },
      'The resource order has the field double that is computed, and is no text, number, flag, date or time.',
    ],
  ] as const) {
    t.throws(define({ ...wrong }), { message })
  }
  const update = { ...writeOrder, accepts: ['double'] }
  t.throws(define({ double }, { update }), {
    message: `${its}, which an action or an initial value writes.`,
  })
  t.end()
})

t.test('a computed field tells of no field with a permission to those who lack it', (t) => {
  const define = (share: Field) => () =>
    defineResource('document', {
      ...document,
      fields: {
        ...documentFields,
        ...{ rate: optional(integer(), { permission: 'document:rate' }), share },
      },
      actions: { read },
    })
  const half = computed(integer(), ({ rate }) => `${rate} / 2`)
  t.throws(define(optional(half)), {
    message:
      'The resource document has the computed field share, which tells of rate: it needs the permission document:rate too.',
  })
  t.throws(define(optional(half, { permission: 'document:other' })), /tells of rate/)
  t.doesNotThrow(define(optional(half, { permission: 'document:rate' })))
  t.end()
})
