import t from 'tap'
import { defineApp } from '#src/resources/define-app.ts'
import { defineResource } from '#src/resources/kit/define.ts'
import { optional } from '#src/resources/kit/fields/field.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { created, updated } from '#src/resources/kit/fields/times/timestamp.ts'
import { columnOf } from '#src/resources/kit/names.ts'
import { sqlWords } from '#src/resources/kit/reserved-names.ts'
import { createDatabase } from '#test/support/database/database.ts'

type Named = { name?: string; plural?: string; field?: string; own?: string; event?: string }

/** The message that a declaration with these names is refused with; null if it is not. */
function refusalOf({ name = 'task', plural = 'tasks', field = 'title', own, event }: Named) {
  try {
    defineResource(name, {
      ...{ plural, scope: 'tenant' as const },
      fields: {
        ...{ id: id(), [field]: optional(line(10)), createdAt: created(), updatedAt: updated() },
      } as never,
      actions: { read: { permission: 'task:read' } },
      ...(own !== undefined && {
        own: { [own]: { permission: 'task:read', accepts: [field as never] } },
      }),
      ...(event !== undefined && { events: { [event]: 'Something happened' } }),
    })
    return null
  } catch (error) {
    return (error as Error).message
  }
}

t.test('a name that means something else is refused with the reason', (t) => {
  const ofSql = ['order', 'end', 'user', 'group', 'from', 'to', 'left', 'default', 'verbose']
  const ofObjects = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf']
  const cases: [Named, string][] = [
    ...ofSql.map((field): [Named, string] => [
      { field },
      `The resource task has the field ${field}, a key word of SQL: give it another name.`,
    ]),
    [
      { field: 'currentUser' },
      'The resource task has the field currentUser, a key word of SQL: give it another name.',
    ],
    ...['xmin', 'ctid', 'tableoid'].map((field): [Named, string] => [
      { field },
      `The resource task has the field ${field}, which every table of PostgreSQL has: give it another name.`,
    ]),
    ...ofObjects.map((field): [Named, string] => [
      { field },
      `The resource task has the name ${field}, which every object of JavaScript has: choose another one.`,
    ]),
    [
      { field: 'type' },
      'The resource task has the field type, which the program has for something else: give it another name, such as kind.',
    ],
    [
      { field: 'tenant' },
      'The resource task has the field tenant, which the program has for something else: give it another name, such as customer.',
    ],
    ...['order', 'table', 'references'].map((plural): [Named, string] => [
      { plural },
      `The resource task has the plural ${plural}, a key word of SQL: choose another one.`,
    ]),
    ...(['name', 'plural', 'own', 'event'] as const).map((of): [Named, string] => [
      { [of]: 'constructor' },
      `The resource ${of === 'name' ? 'constructor' : 'task'} has the name constructor, which every object of JavaScript has: choose another one.`,
    ]),
    ...['get', 'list'].map((own): [Named, string] => [
      { own },
      `The resource task has the action ${own}, which every resource has as an operation: give it another name.`,
    ]),
  ]
  for (const [named, message] of cases) t.equal(refusalOf(named), message, JSON.stringify(named))
  t.end()
})

t.test('other words are names', (t) => {
  const fields = [
    'kind',
    'value',
    'time',
    'date',
    'position',
    'role',
    'key',
    'me',
    'model',
    'label',
  ]
  for (const field of fields) t.equal(refusalOf({ field }), null, field)
  for (const own of ['close', 'new', 'edit', 'move']) t.equal(refusalOf({ own }), null, own)
  t.end()
})

t.test('a role has no name that stands for another caller', (t) => {
  for (const role of ['service', 'constructor']) {
    const roles = { [role]: [], admin: 'everything' } as const
    t.throws(() => defineApp({ name: 'acme', resources: [], roles }), {
      message: `The role ${role} has a name that the program has for something else. Give it another one.`,
    })
  }
  t.end()
})

t.test('the key words are those of PostgreSQL, and every other one names a column', async (t) => {
  const { admin } = await createDatabase(t)
  const { rows } = await admin.query<{ word: string; is_name: boolean }>(
    `SELECT word, catcode IN ('U', 'C') AS is_name FROM pg_get_keywords()`,
  )
  const reserved = rows.filter(({ is_name }) => !is_name).map(({ word }) => word)
  t.strictSame(
    reserved.filter((word) => !sqlWords.has(word)),
    [],
    'every reserved word is refused',
  )
  const words = rows.filter(({ is_name, word }) => is_name && columnOf(word) === word)
  for (const { word } of words) {
    const statements = `
      CREATE TEMPORARY TABLE one (${word} text);
      INSERT INTO one (${word}) VALUES ('a');
      UPDATE one SET ${word} = 'b' WHERE ${word} = 'a'::text AND one.${word} IS NOT NULL;
      SELECT ${word}, octet_length("${word}"::text) FROM one ORDER BY ${word} DESC;
      DROP TABLE one`
    await t.resolves(admin.query(statements), word)
  }
})
