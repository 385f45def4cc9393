import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { defineResource, type Resource } from '#src/resources/kit/define.ts'
import { computed } from '#src/resources/kit/fields/computed.ts'
import { type Field, initially, optional, renamed } from '#src/resources/kit/fields/field.ts'
import { folder } from '#src/resources/kit/fields/keys/folder.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { author, owner } from '#src/resources/kit/fields/keys/people.ts'
import { reference } from '#src/resources/kit/fields/keys/reference.ts'
import { flag } from '#src/resources/kit/fields/numbers/flag.ts'
import { integer } from '#src/resources/kit/fields/numbers/integer.ts'
import { choice } from '#src/resources/kit/fields/texts/choice.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { created, updated } from '#src/resources/kit/fields/times/timestamp.ts'
import type { Decisions } from '#src/schema/app-tables/decisions.ts'
import { type Plan, planTables } from '#src/schema/app-tables/plan.ts'
import { markComputed, readTables } from '#src/schema/app-tables/present.ts'
import { createOwnedDatabase } from '#test/support/database/database.ts'

/*
 * Each change of a declaration is carried out on a table with rows, by the owner, and afterwards nothing is left to
 * change.
 */

type Given = {
  fill?: Record<string, string>
  drop?: readonly string[]
  keep?: readonly string[]
}

const decisionsOf = ({ fill = {}, drop = [], keep = [] }: Given): Decisions => ({
  fills: new Map(Object.entries(fill)),
  drops: new Set(drop),
  keeps: new Set(keep),
})

/** The tasks of a tenant with the given fields. */
function tasks(fields: Record<string, Field>, change: object = {}): Resource {
  return defineResource('task', {
    plural: 'tasks',
    scope: 'tenant',
    fields: { id: id(), authorId: author(), ...fields, createdAt: created(), updatedAt: updated() },
    actions: { read: { permission: 'post:read' } },
    ...change,
  })
}

/** A database whose tables follow declarations. */
async function openWorld(t: Test) {
  const database = await createOwnedDatabase(t)
  const client = new pg.Client({ connectionString: database.ownerUrl })
  await client.connect()
  t.teardown(() => client.end())
  const core = new Set((await readTables(client)).keys())
  const plan = async (resources: readonly Resource[], given: Given = {}): Promise<Plan> =>
    planTables(
      resources,
      await markComputed(client, resources, await readTables(client)),
      core,
      decisionsOf(given),
    )
  return {
    plan,
    run: (sql: string) => client.query(sql),
    /** Applies what changes; then nothing is left. @returns the statements and warnings */
    async evolve(resources: readonly Resource[], given: Given = {}) {
      const { steps, faults } = await plan(resources, given)
      t.strictSame(faults, [])
      await client.query(`BEGIN; ${steps.map(({ sql }) => sql).join('\n')} COMMIT`)
      const rest = await plan(resources, given.keep === undefined ? {} : { keep: given.keep })
      t.strictSame({ steps: rest.steps, faults: rest.faults }, { steps: [], faults: [] })
      return {
        sql: steps.map(({ sql }) => sql),
        warnings: steps.flatMap(({ warnings }) => warnings).join('\n'),
      }
    },
    async faults(resources: readonly Resource[], given: Given = {}) {
      const { faults } = await plan(resources, given)
      return faults.map(({ problem, remedy }) => `${problem} ${remedy}`).join('\n')
    },
    /** Adds a row, past row-level security. */
    async add(row: Record<string, unknown>) {
      const { tenantId } = await createUser(database, {})
      const columns = ['tenant_id', ...Object.keys(row)]
      const values = [tenantId, ...Object.values(row)]
      await database.admin.query(
        `INSERT INTO tasks (${columns}) VALUES (${values.map((_, n) => `$${n + 1}`)})`,
        values,
      )
    },
    async values(column: string): Promise<unknown[]> {
      const { rows } = await database.admin.query(
        `SELECT ${column} AS value FROM tasks ORDER BY tasks.id`,
      )
      return rows.map(({ value }) => value)
    },
  }
}

t.test(
  'a table of each scope has the tenant in its keys, and is under row-level security',
  async (t) => {
    const world = await openWorld(t)
    const plain = { read: { permission: null, token: 'memo:read' } } as const
    const ofTimes = { createdAt: created(), updatedAt: updated() }
    const memos = defineResource('memo', {
      plural: 'memos',
      scope: 'owner',
      fields: { id: id(), userId: owner(), title: line(200), ...ofTimes },
      actions: plain,
    })
    const pages = defineResource('page', {
      plural: 'pages',
      scope: 'chain',
      fields: { id: id(), folderId: folder(), words: optional(line(200)), ...ofTimes },
      filters: ['folderId'],
      actions: { read: { permission: null, token: 'page:read' } },
    })
    const { sql } = await world.evolve([tasks({ title: line(200) }), memos, pages])
    t.strictSame(sql.join('\n'), expected)
    const { rows } = await world.run(
      `SELECT relname FROM pg_class WHERE relname IN ('tasks', 'memos', 'pages') AND relrowsecurity AND relforcerowsecurity`,
    )
    t.equal(rows.length, 3)
  },
)

const expected = `CREATE TABLE tasks (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  author_id bigint,
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX tasks_tenant_id_created_at_id_idx ON tasks (tenant_id, created_at, id);
CREATE INDEX tasks_tenant_id_author_id_id_idx ON tasks (tenant_id, author_id, id);
ALTER TABLE tasks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE TABLE memos (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  user_id bigint NOT NULL,
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX memos_user_id_id_idx ON memos (user_id, id);
CREATE INDEX memos_user_id_created_at_id_idx ON memos (user_id, created_at, id);
ALTER TABLE memos ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE TABLE pages (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  folder_id bigint NOT NULL,
  team_id bigint NOT NULL,
  words text,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, folder_id, team_id) REFERENCES folders (tenant_id, id, team_id)
);
CREATE INDEX pages_tenant_id_team_id_id_idx ON pages (tenant_id, team_id, id);
CREATE INDEX pages_tenant_id_team_id_created_at_id_idx ON pages (tenant_id, team_id, created_at, id);
CREATE INDEX pages_tenant_id_folder_id_team_id_id_idx ON pages (tenant_id, folder_id, team_id, id);
ALTER TABLE pages ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;`

t.test('a table in which no row could be created is not made', async (t) => {
  const world = await openWorld(t)
  const read = { permission: 'post:read' }
  const declare = (create: object, size: Field = integer()) =>
    tasks({ title: line(200), size }, { actions: { read, create: { ...read, ...create } } })
  t.match(
    await world.faults([declare({ accepts: ['title'] })]),
    /^The field task\.size is required, and nothing that creates a task fills it\. Let create of task accept size, .* initially/,
  )
  const filled = [
    declare({ accepts: ['title', 'size'] }),
    declare({ accepts: ['title'], sets: ['size'] }),
    declare({ accepts: ['title'] }, optional(integer())),
    declare(
      { accepts: ['title'] },
      initially(integer(), () => 1),
    ),
  ]
  for (const resource of filled) t.equal(await world.faults([resource]), '')
  await world.evolve([declare({ accepts: ['title', 'size'] })])
  t.match(await world.faults([declare({ accepts: ['title'] })]), 'nothing that creates a task')
  await world.run('ALTER TABLE tasks ALTER COLUMN size SET DEFAULT 1')
  t.equal(await world.faults([declare({ accepts: ['title'] })]), '', 'the database fills it')
})

t.test('a field is added: optional as it is, required with a value for the rows', async (t) => {
  const world = await openWorld(t)
  const title = { title: line(200) }
  await world.evolve([tasks(title)])
  await world.add({ title: 'First' })
  const details = { ...title, details: optional(line(200)) }
  t.strictSame((await world.evolve([tasks(details)])).sql, [
    'ALTER TABLE tasks ADD COLUMN details text;',
  ])
  t.strictSame(await world.values('details'), [null])

  const more = { ...details, status: choice('open', 'done'), seats: integer(), urgent: flag() }
  t.match(
    await world.faults([tasks(more)]),
    'The field task.status is new and not optional, and existing rows have no value for it. Give them one with --fill task.status=VALUE, or declare it optional(…).',
  )
  for (const [name, value] of [
    ['status', 'closed'],
    ['seats', 'many'],
    ['seats', '1.5'],
    ['urgent', 'yes'],
  ]) {
    t.match(
      await world.faults([tasks(more)], { fill: { [`task.${name}`]: `${value}` } }),
      `--fill task.${name}=${value} is not a value that the field accepts.`,
    )
  }
  t.match(
    await world.faults([tasks(more)], { fill: { 'task.status': 'closed' } }),
    /accepts\. It accepts open, done\.$/m,
  )
  const fill = { 'task.status': 'open', 'task.seats': '4', 'task.urgent': 'false' }
  const { warnings } = await world.evolve([tasks(more)], { fill })
  t.match(warnings, "Existing rows get 'open'.")
  t.strictSame(await world.values(`concat_ws(' ', status, seats, urgent)`), ['open 4 f'])
  await t.rejects(
    world.add({ title: 'Second' }),
    /null value in column "status"/,
    'no default stays',
  )
})

t.test('a value for existing rows is a text, whatever is in it', async (t) => {
  const world = await openWorld(t)
  await world.evolve([tasks({ title: line(200) })])
  await world.add({ title: 'First' })
  const value = `O'Hara\\'; DROP TABLE tasks; --`
  await world.evolve([tasks({ title: line(200), room: line(200) })], {
    fill: { 'task.room': value },
  })
  t.strictSame(await world.values('room'), [value])
})

t.test(
  'a renamed field keeps its values and its index; without the word it is refused',
  async (t) => {
    const world = await openWorld(t)
    await world.evolve([tasks({ subject: line(200) }, { filters: [] })])
    await world.add({ subject: 'Keep me' })
    t.match(
      await world.faults([tasks({ title: line(200) })]),
      "If title is its new name, declare title: renamed(…, 'subject'). Otherwise --drop tasks.subject deletes its values",
    )
    const renamedTitle = tasks({ title: renamed(line(200), 'subject') })
    const { sql, warnings } = await world.evolve([renamedTitle])
    t.strictSame(sql, ['ALTER TABLE tasks RENAME COLUMN subject TO title;'])
    t.match(warnings, 'Processes that have not been replaced yet fail')
    t.strictSame(await world.values('title'), ['Keep me'])
    t.throws(
      () => tasks({ title: renamed(line(200), 'subject'), subject: line(200) }),
      /has the field title renamed from subject, which is a field too/,
    )
  },
)

t.test('an optional field that got a new name is not replaced silently either', async (t) => {
  const world = await openWorld(t)
  await world.evolve([tasks({ subject: optional(line(200)) })])
  const other = tasks({ title: optional(line(200)) })
  t.match(await world.faults([other]), "renamed(…, 'subject')")
  const kept = await world.evolve([other], { keep: ['tasks.subject'] })
  t.strictSame(kept.sql, ['ALTER TABLE tasks ADD COLUMN title text;'])
})

t.test('a resource is renamed with its rows, and with its references', async (t) => {
  const world = await openWorld(t)
  await world.evolve([tasks({ title: line(200) }, { plural: 'chores' })])
  const { sql } = await world.evolve([tasks({ title: line(200) }, { renamedFrom: 'chores' })])
  t.strictSame(sql, ['ALTER TABLE chores RENAME TO tasks;'])
  const again = tasks({ title: line(200) }, { plural: 'chores' })
  const both = await world.plan([again, tasks({ title: line(200) }, { renamedFrom: 'chores' })])
  t.ok(
    both.steps.some(({ sql }) => sql.startsWith('CREATE TABLE chores')),
    'the name can be used again',
  )
  const names = both.steps.flatMap(({ sql }) => /INDEX (\w+)/.exec(sql)?.[1] ?? [])
  t.strictSame(names, ['chores_tenant_id_created_at_id_idx1', 'chores_tenant_id_author_id_id_idx1'])
})

t.test('a search has a table of words, which is dropped only if asked', async (t) => {
  const world = await openWorld(t)
  const plain = tasks({ title: line(200) })
  const searched = tasks({ title: line(200) }, { search: ['title'] })
  await world.evolve([plain])
  const { sql, warnings } = await world.evolve([searched])
  t.match(
    sql[0],
    /^CREATE TABLE tasks_words \(.*word text COLLATE "C" NOT NULL.*DROP TRIGGER IF EXISTS/s,
  )
  t.match(sql[1], 'ON tasks_words (tenant_id, word, id)')
  t.match(sql[2], 'FORCE ROW LEVEL SECURITY')
  t.equal(sql.length, 3)
  t.match(warnings, 'migrate writes the words of every row of tasks, whose reads and writes wait')
  t.match(
    await world.faults([searched], { drop: ['tasks_words'] }),
    '--drop tasks_words is declared. Remove it from its declaration first.',
  )
  const renamed = tasks(
    { title: line(200) },
    { plural: 'chores', renamedFrom: 'tasks', search: ['title'] },
  )
  t.strictSame((await world.evolve([renamed])).sql, [
    'ALTER TABLE tasks RENAME TO chores;',
    'ALTER TABLE tasks_words RENAME TO chores_words;',
  ])
  const without = tasks({ title: line(200) }, { plural: 'chores' })
  const { steps, notes } = await world.plan([without])
  t.strictSame(steps, [], 'it stays')
  t.match(notes.join(), 'they stay when their rows are deleted: drop it with --drop chores_words')
  const dropped = await world.evolve([without], { drop: ['chores_words'] })
  t.strictSame(dropped.sql, ['DROP TABLE chores_words;'])
  await world.evolve([renamed])
  const all = await world.evolve([], { drop: ['chores'] })
  t.strictSame(
    all.sql.toSorted(),
    ['DROP TABLE chores;', 'DROP TABLE chores_words;'],
    'with its rows',
  )
})

t.test('a table that has the name of one of words is not taken for it', async (t) => {
  const world = await openWorld(t)
  await world.evolve([tasks({ title: line(200) }, { plural: 'tasks_words' })])
  const searched = tasks({ title: line(200) }, { search: ['title'] })
  t.match(await world.faults([searched]), 'The table tasks_words is not that of the words of tasks')
})

t.test('a field changes its type; words for texts change no column', async (t) => {
  const world = await openWorld(t)
  await world.evolve([tasks({ status: line(20), room: integer() })])
  await world.add({ status: 'open', room: 7 })
  const chosen = tasks({ status: choice('open', 'done'), room: integer() })
  t.strictSame((await world.evolve([chosen])).sql, [])
  const text = await world.evolve([tasks({ status: line(20), room: line(20) })])
  t.strictSame(text.sql, ['ALTER TABLE tasks ALTER COLUMN room TYPE text USING room::text;'])
  t.match(text.warnings, 'Rewrites tasks')
  t.notMatch(text.warnings, 'makes it fail')
  t.strictSame(await world.values('room'), ['7'])
  const back = await world.evolve([chosen])
  t.match(back.warnings, 'A value that is no bigint is rounded, or makes it fail')
  t.strictSame(await world.values('room'), ['7'])
})

t.test('an optional field becomes required, with a value for rows without one', async (t) => {
  const world = await openWorld(t)
  await world.evolve([tasks({ title: optional(line(200)) })])
  await world.add({ title: null })
  await world.add({ title: 'Named' })
  const required = tasks({ title: line(200) })
  const { steps } = await world.plan([required])
  t.match(
    steps[0]?.warnings,
    ['fails, changing nothing, if a row has no title'].map((one) => new RegExp(one)),
  )
  await t.rejects(world.run(String(steps[0]?.sql)), /contains null values/)
  await world.evolve([required], { fill: { 'task.title': 'Untitled' } })
  t.strictSame(await world.values('title'), ['Untitled', 'Named'])
  const { sql } = await world.evolve([tasks({ title: optional(line(200)) })])
  t.strictSame(sql, ['ALTER TABLE tasks ALTER COLUMN title DROP NOT NULL;'])
})

t.test('nothing is dropped unless the developer names it', async (t) => {
  const world = await openWorld(t)
  const whole = tasks({ title: line(200), room: line(20), details: optional(line(200)) })
  await world.evolve([whole])
  await world.add({ title: 'First', room: 'A', details: 'More' })
  const less = tasks({ title: line(200) })
  t.match(
    await world.faults([less]),
    [
      'The table has the column tasks.room, and there is no field task.room.',
      '--drop tasks.room deletes its values, and --keep tasks.room keeps them.',
    ].join(' '),
  )
  t.strictSame((await world.evolve([less], { keep: ['tasks.room'] })).sql, [
    'ALTER TABLE tasks ALTER COLUMN room DROP NOT NULL;',
  ])
  t.strictSame(await world.values('room'), ['A'])
  const dropped = await world.evolve([less], { drop: ['tasks.room', 'tasks.details'] })
  t.strictSame(dropped.sql, [
    'ALTER TABLE tasks DROP COLUMN room;',
    'ALTER TABLE tasks DROP COLUMN details;',
  ])
  t.match(dropped.warnings, 'Deletes the values of tasks.room.')

  const without = await world.plan([])
  t.strictSame(without.steps, [])
  t.match(without.notes, [/The table tasks belongs to no resource\..* --drop tasks/])
  const gone = await world.evolve([], { drop: ['tasks'] })
  t.strictSame(gone.sql, ['DROP TABLE tasks;'])
  t.match(gone.warnings, 'Deletes every row of tasks.')
})

t.test('a decision about nothing, or about what is declared, is refused', async (t) => {
  const world = await openWorld(t)
  const declared = [tasks({ title: line(200) })]
  await world.evolve(declared)
  const faults: [Given, string][] = [
    [{ drop: ['tasks'] }, '--drop tasks is declared. Remove it from its declaration first.'],
    [{ drop: ['tasks.title'] }, '--drop tasks.title is declared.'],
    [{ drop: ['tenants'] }, '--drop tenants names nothing.'],
    [{ drop: ['users.name'] }, '--drop users.name names nothing.'],
    [{ drop: ['posts'] }, '--drop posts names nothing.'],
    [{ keep: ['tasks.none'] }, '--keep tasks.none names nothing.'],
    [{ fill: { 'task.none': '1' } }, '--fill task.none names nothing.'],
  ]
  for (const [given, message] of faults) t.match(await world.faults(declared, given), message)
})

t.test('a declared filter brings its index, and what the developer added stays', async (t) => {
  const world = await openWorld(t)
  const fields = { title: line(200), status: choice('open', 'done') }
  await world.evolve([tasks(fields)])
  await world.run(`CREATE INDEX own ON tasks (tenant_id, title);
    ALTER TABLE tasks ADD CHECK (title <> ''), ADD COLUMN words tsvector
      GENERATED ALWAYS AS (to_tsvector('english', title)) STORED,
      ADD COLUMN counted bigint NOT NULL DEFAULT 0, ADD COLUMN noted timestamptz`)
  t.strictSame((await world.evolve([tasks(fields)])).sql, [], 'own columns, indexes and checks')
  const filtered = tasks(fields, { filters: ['status'] })
  const { sql, warnings } = await world.evolve([filtered])
  t.strictSame(sql, [
    'CREATE INDEX tasks_tenant_id_status_id_idx ON tasks (tenant_id, status, id);',
  ])
  t.match(warnings, 'Writes to tasks wait until the index is built.')
  await world.run(`DROP INDEX tasks_tenant_id_status_id_idx;
    CREATE INDEX partial ON tasks (tenant_id, status, id) WHERE title = 'x'`)
  t.equal((await world.evolve([filtered])).sql.length, 1, 'a partial index is none')
})

t.test('what a table of one’s own lacks is added', async (t) => {
  const world = await openWorld(t)
  await world.run(`CREATE TABLE tasks (tenant_id uuid NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY,
    author_id bigint, title varchar(50) NOT NULL, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id))`)
  const { sql } = await world.evolve([tasks({ title: line(200) })])
  t.strictSame(sql, [
    'ALTER TABLE tasks ALTER COLUMN title TYPE text USING title::text;',
    'ALTER TABLE tasks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;',
    'ALTER TABLE tasks ADD FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE;',
    'CREATE INDEX tasks_tenant_id_created_at_id_idx ON tasks (tenant_id, created_at, id);',
    'CREATE INDEX tasks_tenant_id_author_id_id_idx ON tasks (tenant_id, author_id, id);',
  ])
  await world.run('DROP TABLE tasks; CREATE TABLE tasks (id bigint PRIMARY KEY)')
  t.match(
    await world.faults([tasks({ title: line(200) })]),
    'The table tasks has the primary key (id) instead of (tenant_id, id).',
  )
})

t.test('a long name of an index is one that PostgreSQL keeps', async (t) => {
  const world = await openWorld(t)
  const long = 'nameOfARoomThatIsSomewhatLongerThanOthers'
  const { sql } = await world.evolve([
    tasks(
      { [long]: optional(line(20)), [`${long}Still`]: optional(line(20)) },
      { filters: [long, `${long}Still`] },
    ),
  ])
  const names = sql.flatMap((one) => /INDEX (\w+)/.exec(one)?.[1] ?? [])
  t.equal(new Set(names).size, 4)
  t.ok(names.every((name) => name.length <= 63))
})

t.test('a reference gets its key and its index, and a deletion rule changes with it', async (t) => {
  const { evolve, run } = await openWorld(t)
  const project = defineResource('project', {
    ...{ plural: 'projects', scope: 'tenant' },
    fields: { id: id(), title: line(9), createdAt: created() },
    actions: { read: { permission: 'post:read' } },
  })
  const refers = (onDelete: 'cascade' | 'restrict' | 'clear') => [
    tasks({ title: line(9), projectId: optional(reference('project', { onDelete })) }),
    project,
  ]
  const { sql } = await evolve(refers('cascade'))
  t.match(
    sql.join('\n'),
    'CONSTRAINT tasks_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id) ON DELETE CASCADE',
  )
  t.match(sql.join('\n'), 'ON tasks (tenant_id, project_id, id)')
  t.match((await evolve(refers('clear'))).sql.join('\n'), 'ON DELETE SET NULL (project_id)')
  await evolve(refers('restrict'))
  await run('ALTER TABLE tasks RENAME CONSTRAINT tasks_project_id_fkey TO another')
  t.strictSame((await evolve(refers('restrict'))).sql, [
    'ALTER TABLE tasks RENAME CONSTRAINT another TO tasks_project_id_fkey;',
  ])
})

t.test('an owner’s row refers to a key with the owner', async (t) => {
  const { evolve } = await openWorld(t)
  const memo = defineResource('memo', {
    ...{ plural: 'memos', scope: 'owner' },
    fields: {
      ...{ id: id(), userId: owner(), title: line(9), createdAt: created() },
      afterId: optional(reference('memo', { onDelete: 'clear' })),
    },
    actions: { read: { permission: null, token: 'memo:read' } },
  })
  const { sql } = await evolve([memo])
  t.match(sql.join('\n'), 'UNIQUE (tenant_id, user_id, id)')
  t.match(sql.join('\n'), 'REFERENCES memos (tenant_id, user_id, id)')
})

t.test('a unique key is added, and refused where two rows have it', async (t) => {
  const { evolve, plan, add } = await openWorld(t)
  const unique = { unique: [['title']] }
  await evolve([tasks({ title: line(9) })])
  await add({ title: 'x' })
  const { sql } = await evolve([tasks({ title: line(9) }, unique)])
  t.strictSame(sql, ['CREATE UNIQUE INDEX tasks_title_key ON tasks (tenant_id, title);'])
  t.strictSame((await plan([tasks({ title: line(9) }, unique)])).steps, [])
})

t.test('a key that a new reference leads to comes before it', async (t) => {
  const { evolve, run } = await openWorld(t)
  const plain = (name: string) => ({ read: { permission: null, token: `${name}:read` } }) as never
  const own = (name: string, fields: Record<string, Field>) =>
    defineResource(name, {
      plural: `${name}s`,
      scope: 'owner',
      fields: { id: id(), userId: owner(), ...fields, createdAt: created(), updatedAt: updated() },
      actions: plain(name),
    })
  await evolve([own('memo', {})])
  const pair = [
    own('memo', {}),
    own('note', { memoId: reference('memo', { onDelete: 'cascade' }) }),
  ]
  await evolve(pair)
  await evolve([
    own('memo', { parentId: optional(reference('memo', { onDelete: 'clear' })) }),
    ...pair.slice(1),
  ])
  const { rows } = await run(
    `SELECT conrelid::regclass::text AS table FROM pg_constraint
     WHERE confrelid = 'memos'::regclass AND contype = 'f' ORDER BY 1`,
  )
  t.strictSame(rows, [{ table: 'memos' }, { table: 'notes' }])
})

t.test(
  'a unique key has the name that the program knows, and goes with its declaration',
  async (t) => {
    const { evolve, add, run } = await openWorld(t)
    const named = (key: string, field: Field = line(9)) =>
      tasks({ [key]: field }, { unique: [[key]] })
    await evolve([named('subject')])
    const { sql } = await evolve([named('title', renamed(line(9), 'subject'))])
    t.strictSame(sql, [
      'ALTER TABLE tasks RENAME COLUMN subject TO title;',
      'ALTER INDEX tasks_subject_key RENAME TO tasks_title_key;',
    ])
    await run('ALTER TABLE tasks ADD CONSTRAINT own_key UNIQUE (tenant_id, title, author_id)')
    const dropped = await evolve([tasks({ title: line(9) })])
    t.match(dropped.warnings, 'Two rows can have the same title from then on.')
    t.equal(dropped.sql.length, 1, 'the key of one’s own stays')
    await add({ title: 'x' })
    await run('CREATE UNIQUE INDEX tasks_title_key ON tasks (tenant_id, title)')
    const again = await evolve([tasks({ title: line(9) })])
    t.match(again.sql, [/DROP INDEX/], 'an index as well')
  },
)

const sized = { seats: integer(), width: optional(integer()) }
const size = (expression: Parameters<typeof computed>[1], kind: Field = integer()) =>
  optional(computed(kind as Field<'bigint', false>, expression))

t.test('a computed field has its value in rows that exist, and follows renames', async (t) => {
  const { evolve, add, values } = await openWorld(t)
  await evolve([tasks(sized)])
  await add({ seats: 3, width: 5 })
  const area = { area: size(({ seats, width }) => `${seats} * ${width}`) }
  const first = await evolve([tasks({ ...sized, ...area }, { filters: ['area'] })])
  t.strictSame(first.sql, [
    'ALTER TABLE tasks ADD COLUMN area bigint GENERATED ALWAYS AS (seats * width) STORED;',
    'CREATE INDEX tasks_tenant_id_area_id_idx ON tasks (tenant_id, area, id);',
  ])
  t.match(
    first.warnings,
    'Computes it for every row of tasks: its reads and writes wait until then.',
  )
  t.strictSame(await values('area'), ['15'])
  const places = {
    places: renamed(integer(), 'seats'),
    ...{ width: sized.width, area: size(({ places, width }) => `${places} * ${width}`) },
  }
  const renaming = await evolve([tasks(places, { filters: ['area'] })])
  t.strictSame(renaming.sql, ['ALTER TABLE tasks RENAME COLUMN seats TO places;'])
  const { area: product, ...others } = places
  const extent = { ...others, extent: renamed(product, 'area') }
  const renamingIt = await evolve([tasks(extent, { filters: ['extent'] })])
  t.strictSame(renamingIt.sql, ['ALTER TABLE tasks RENAME COLUMN area TO extent;'])
})

t.test('another expression, kind or type of what it reads computes it again', async (t) => {
  const { evolve, add, values } = await openWorld(t)
  const product = ({ seats, width }: Record<string, string>) => `${seats} * ${width}`
  const withArea = (area: Field, more: object = {}) =>
    tasks({ ...sized, ...more, area }, { filters: ['area'], unique: [['area']] })
  await evolve([withArea(size(product))])
  await add({ seats: 3, width: 5 })
  const index = 'CREATE INDEX tasks_tenant_id_area_id_idx1 ON tasks (tenant_id, area, id);'
  const again = (expression: string) => [
    'ALTER TABLE tasks DROP COLUMN area;',
    `ALTER TABLE tasks ADD COLUMN area ${expression};`,
    'CREATE UNIQUE INDEX tasks_area_key ON tasks (tenant_id, area);',
    index,
  ]
  const sum = size(({ seats, width }) => `${seats} + ${width}`)
  t.strictSame(
    (await evolve([withArea(sum)])).sql,
    again('bigint GENERATED ALWAYS AS (seats + width) STORED'),
  )
  t.strictSame(await values('area'), ['8'])
  const asText = size(({ seats, width }) => `(${seats} + ${width})::text`, line(20))
  await evolve([withArea(asText)])
  t.strictSame(await values('area'), ['8'])
  const wide = withArea(
    size(({ seats, width }) => `length(${seats}) + ${width}`),
    { seats: line(20) },
  )
  t.strictSame((await evolve([wide])).sql, [
    'ALTER TABLE tasks DROP COLUMN area;',
    'ALTER TABLE tasks ALTER COLUMN seats TYPE text USING seats::text;',
    ...again('bigint GENERATED ALWAYS AS (length(seats) + width) STORED').slice(1),
  ])
  t.strictSame(await values('area'), ['6'])
})

t.test('a field is computed from now on, or written, without losing a value unasked', async (t) => {
  const { evolve, faults, add, values } = await openWorld(t)
  await evolve([tasks({ ...sized, area: optional(integer()) })])
  await add({ seats: 3, area: 7 })
  const one = tasks({ ...sized, area: size(({ seats }) => `${seats} * 2`) })
  t.equal(
    await faults([one]),
    'The column tasks.area has values of its own, and the field task.area is computed. Remove the field first, with --drop tasks.area, and declare it in the next migration; or give it another name.',
  )
  await evolve([tasks(sized)], { drop: ['tasks.area'] })
  await evolve([one])
  t.strictSame(await values('area'), ['6'])
  const written = await evolve([tasks({ ...sized, area: optional(integer()) })])
  t.strictSame(written.sql, ['ALTER TABLE tasks ALTER COLUMN area DROP EXPRESSION;'])
  t.strictSame(await values('area'), ['6'], 'it keeps what was computed')
  await evolve([tasks(sized)], { drop: ['tasks.area'] })
  await evolve([one])
  const dropped = await evolve([tasks(sized)], { drop: ['tasks.area'] })
  t.strictSame(dropped.sql, ['ALTER TABLE tasks DROP COLUMN area;'])
})
