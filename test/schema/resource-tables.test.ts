import t from 'tap'
import type { Resource } from '#src/resources/kit/define.ts'
import { optional } from '#src/resources/kit/fields/field.ts'
import { folder } from '#src/resources/kit/fields/keys/folder.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { flag } from '#src/resources/kit/fields/numbers/flag.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { text } from '#src/resources/kit/fields/texts/text.ts'
import { created, updated } from '#src/resources/kit/fields/times/timestamp.ts'
import type { Finding } from '#src/schema/finding.ts'
import { migrate } from '#src/schema/migrate.ts'
import { verifyResources } from '#src/schema/resource-tables.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { createDatabase } from '#test/support/database/database.ts'

const read = { permission: 'post:read' } as const

/** A resource as it would be declared, without a model. */
function tasks(change: Partial<Resource> = {}): Resource {
  return {
    ...{ title: 'Task', name: 'task', plural: 'tasks', scope: 'tenant', forServices: false },
    fields: {
      ...{ id: id(), title: line(200), details: optional(text(500)), urgent: flag() },
      ...{ createdAt: created(), updatedAt: updated() },
    },
    ...{
      filters: [],
      sort: [],
      search: [],
      unique: [],
      own: {},
      payloads: {},
      events: {},
      example: {},
      erased: null,
      worker: '',
      page: null,
      shape: Object(null),
      eventShape: Object(null),
    },
    actions: { read, create: { permission: 'post:write', accepts: ['title', 'urgent'] } },
    ...change,
  }
}

const columns = {
  tenant_id: 'uuid NOT NULL',
  id: 'bigint GENERATED ALWAYS AS IDENTITY',
  title: 'text NOT NULL',
  details: 'text',
  urgent: 'boolean NOT NULL',
  created_at: 'timestamptz NOT NULL DEFAULT now()',
  updated_at: 'timestamptz NOT NULL DEFAULT now()',
}

t.test('each difference between a resource and its table is named, and nothing else', async (t) => {
  const { admin } = await createDatabase(t)
  const problems = async (
    table: Readonly<Record<string, string | null>>,
    resource: Resource = tasks(),
    wordsOf: (finding: Finding) => string = ({ problem }) => problem,
  ) => {
    const client = await admin.connect()
    try {
      const lines = Object.entries({ ...columns, ...table }).flatMap(([name, type]) =>
        type === null ? [] : [`${name} ${type}`],
      )
      await client.query(`BEGIN; CREATE TABLE tasks (${lines.join(', ')})`)
      return (await verifyResources(client, [resource])).map(wordsOf)
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  }
  t.strictSame(await problems({}), [])
  t.strictSame(await problems({ further: 'text', counted: 'integer NOT NULL DEFAULT 0' }), [])
  t.strictSame(await problems({ details: 'text NOT NULL' }), [
    'The column tasks.details is NOT NULL, but the field task.details is optional.',
  ])
  t.strictSame(await problems({ title: 'text' }), [
    'The column tasks.title can be NULL, but the field task.title is not optional.',
  ])
  t.strictSame(await problems({ urgent: 'text NOT NULL' }), [
    'The column tasks.urgent has the type text, the field task.urgent boolean.',
  ])
  t.strictSame(await problems({ urgent: null }), [
    'The column tasks.urgent of the field task.urgent is missing.',
  ])
  t.strictSame(await problems({ number: 'integer NOT NULL' }), [
    'The column tasks.number is NOT NULL, but nothing that creates a task fills it.',
  ])
  const unaccepted = tasks({ actions: { read, create: { ...read, accepts: [] } } })
  t.strictSame(await problems({}, unaccepted, ({ remedy }) => remedy.split(',')[0] ?? ''), [
    'Let create of task accept title',
    'Let create of task accept urgent',
  ])
  t.strictSame(
    await problems({ number: 'integer NOT NULL' }, tasks({ actions: { read } })),
    [],
    'what others insert is theirs to fill',
  )
  const { fields } = tasks()
  t.strictSame(
    await problems({}, tasks({ scope: 'chain', fields: { ...fields, folderId: folder() } })),
    [
      'The column tasks.folder_id of the field task.folderId is missing.',
      'The column tasks.folder_id of the scope chain is missing.',
      'The column tasks.team_id of the scope chain is missing.',
    ],
  )
})

t.test('a resource without its table is named, with what to write', async (t) => {
  const { admin } = await createDatabase(t)
  t.strictSame(await verifyResources(admin as never, [tasks()]), [
    {
      object: 'tasks',
      problem: 'The resource task has no table tasks.',
      remedy:
        'Run `gatehouse migrate dev` in the folder of the app, which writes the migration (docs/migrations.md), then `gatehouse migrate` with DATABASE_OWNER_URL.',
    },
  ])
})

t.test('neither serve nor migrate goes on without the table of a resource', async (t) => {
  const database = await createDatabase(t)
  await database.admin.query('DROP TABLE documents')
  const problem = 'The resource document has no table documents.'
  for (const [url, role] of [
    [database.url, 'web'],
    [database.workerUrl, 'worker'],
  ] as const) {
    t.match(await verifyDatabase(url, role, 'catalogue'), [{ problem }], role)
  }
  await t.rejects(migrate(database), { message: problem })
})
