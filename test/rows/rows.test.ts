import makeStringify from '@fastify/fast-json-stringify-compiler'
import pg from 'pg'
import t, { type Test } from 'tap'
import Type, { type TSchema } from 'typebox'
import { Prisma } from '#src/db/generated/client.ts'
import { tagOf } from '#src/http/headers/etag.ts'
import { Nullable } from '#src/http/schemas.ts'
import type { ColumnTypes } from '#src/resources/kit/fields/columns.ts'
import { type Field, field, optional } from '#src/resources/kit/fields/field.ts'
import { columnOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { entityTagOf } from '#src/rows/row-json.ts'
import { rowsOf } from '#src/rows/rows.ts'
import { seenInEvents } from '#src/rows/seen.ts'
import type { Declared } from '#src/rows/table.ts'
import { createDatabase } from '#test/support/database/database.ts'

/*
 * The program makes the object of a row in three ways: a response with `toItem`, an event of one packet with `json`,
 * and what is compared with If-Match with `entityTagOf`.
 */

/** Values that JSON or a driver could change, as PostgreSQL reads them. */
const values: Readonly<Record<keyof ColumnTypes, readonly string[]>> = {
  text: [
    '',
    'null',
    'A "quote", \\ and / and </script>',
    'Öß 漢字 👩‍🚀 \u202Eright\u202C e\u0301 \u2028\u2029\uFEFF',
    Array.from({ length: 160 }, (_, n) => String.fromCharCode(n + 1)).join(''),
  ],
  bigint: ['0', '-1', '9007199254740991', '-9007199254740991'],
  integer: ['0', '-2147483648', '2147483647'],
  boolean: ['true', 'false'],
  uuid: ['0B5F3C1E-52C4-4D6F-9C55-0A4C53D0A6F1'],
  timestamptz: [
    '2026-02-03T04:05:06Z',
    '2026-02-03T04:05:06.7+09:00',
    '2026-02-03T04:05:06.999999Z',
    '2026-02-03T04:05:06.0005Z',
    '1969-12-31T23:59:59.999999Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999Z',
  ],
  date: ['2026-11-29', '0001-01-01', '9999-12-31', '2024-02-29'],
  numeric: ['0', '-12.50', '12345678901234567890.123456789'],
  jsonb: [
    'true',
    '"text"',
    '[1, -0, 1.50, 1e-7, 1e21, 0.1, 9007199254740991]',
    '{"b": [{"": null}], "a": {"\\"\\\\\\u0001 Ö": "\\ud83d\\ude80"}, "constructor": []}',
  ],
}

const types = Object.keys(values) as (keyof ColumnTypes)[]
const fields = Object.fromEntries(
  types.flatMap((type) => {
    const one = field(type, {})
    return [
      [`${type}Given`, one],
      [`${type}Empty`, optional(one)],
      [`${type}Guarded`, optional(one, { permission: 'post:write' })],
      [`${type}Omitted`, { ...optional(one), isOmitted: true }],
      [`${type}Hidden`, { ...one, isHidden: true }],
    ]
  }),
)
const ofAllTypes = { ...resources[0], fields } as unknown as Declared

t.test('an event of one packet has the object of the response, for every field', async (t) => {
  const client = await connect(t)
  for (const resource of [...resources, ofAllTypes].flatMap((one) => [one, withoutJson(one)])) {
    const { columns, json, toItem } = rowsOf<Declared>(resource)
    for (let n = -1; n < most; n += 1) {
      const { text, values: parameters } = Prisma.sql`
        WITH changed AS (SELECT ${columns} FROM (${rowOf(resource, n)}) AS row)
        SELECT changed.*, ${json} AS json FROM changed`
      const { rows } = await client.query(text, parameters)
      const { json: body, ...row } = rows[0]
      const item = toItem(row)
      // As JSON, because it has no -0. No event has a field that needs a permission. The order of the members counts.
      const told = seenInEvents(resource, item)
      t.equal(JSON.stringify(JSON.parse(body)), JSON.stringify(told), resource.name)
      // Erasure and export look for `"userId":1,` in the body.
      if (!hasJson(resource)) t.equal(body, JSON.stringify(told), 'byte for byte')
    }
  }
})

t.test('the database computes the ETag of the response, for every field', async (t) => {
  const client = await connect(t)
  for (const resource of [...resources, ofAllTypes].map(withoutJson)) {
    const { columns, toItem } = rowsOf<Declared>(resource)
    const shown = Object.entries(resource.fields).filter(([, { isHidden }]) => !isHidden)
    const members = shown.map(([key, { isOmitted, permission }]) => {
      return [
        key,
        isOmitted || permission !== undefined ? Type.Optional(Type.Unknown()) : Type.Unknown(),
      ]
    })
    const serialize = serializerOf(Type.Object(Object.fromEntries(members)))
    const tags = new Set()
    for (let n = -1; n < most; n += 1) {
      const { text, values } = Prisma.sql`
        SELECT ${columns}, ${entityTagOf(shown)} AS tag FROM (${rowOf(resource, n)}) AS row`
      const { rows } = await client.query(text, values)
      const { tag, ...row } = rows[0]
      t.equal(tag, tagOf(serialize(toItem(row))), `${resource.name} ${n}`)
      tags.add(tag)
    }
    t.ok(tags.size > 1)
  }
})

t.test('the ETag of JSON with a schema is that of the response, or of no response', async (t) => {
  const client = await connect(t)
  const odd = `it's a "name" \\`
  const inner = Type.Object({ late: Type.Optional(Nullable(Type.String())), id: Type.Integer() })
  const schema = Type.Object({
    optional: Type.Optional(Type.String()),
    [odd]: Type.Number(),
    rows: Type.Array(Type.Array(inner)),
    isSet: Type.Boolean(),
    free: Type.Optional(Type.Unknown()),
    empty: Type.Optional(Type.Array(Type.Object({}))),
  })
  const serialize = serializerOf(Type.Object({ field: Nullable(schema) }))
  const tagsOf = async (value: string | null) => {
    const shown = [['field', optional(field('jsonb', schema))]] as const
    const { text, values } = Prisma.sql`
      SELECT field, ${entityTagOf(shown)} AS tag FROM (SELECT ${value}::jsonb AS field) AS row`
    const { rows } = await client.query(text, values)
    return rows[0]
  }
  const plain = { [odd]: -1.5, rows: [], isSet: true }
  const expected = [
    plain,
    { ...plain, optional: 'A "quote" \\ \u0001\u007F Öß 👩‍🚀 \u2028 </script>' },
    {
      ...plain,
      optional: '',
      isSet: false,
      rows: [[], [{ id: 1 }], [{ id: 2 }, { id: 3, late: 'x' }]],
    },
    { ...plain, rows: [[{ late: null, id: 9007199254740991 }]], free: 'text' },
    { ...plain, empty: [{}, {}] },
  ]
  const known = new Set<unknown>()
  for (const [index, value] of [null, ...expected].entries()) {
    const { field, tag } = await tagsOf(value && JSON.stringify(value))
    t.equal(tag, tagOf(serialize({ field })), `value ${index}`)
    known.add(tag)
  }
  t.equal(known.size, expected.length + 1)
  // The serializer would drop, convert or refuse each of these.
  for (const other of [
    { ...plain, unknown: 1 },
    { ...plain, empty: [{ unknown: 1 }] },
    { ...plain, optional: null },
    { ...plain, optional: 1 },
    { ...plain, rows: {} },
    { ...plain, rows: null },
    { ...plain, rows: [{}] },
    { ...plain, rows: [[{ id: 1, unknown: 1 }]] },
    { ...plain, isSet: 'true' },
    { ...plain, free: {} },
    { ...plain, free: { b: 1 } },
    { rows: [], isSet: true },
    {},
    [],
    [plain],
    'text',
    0,
  ]) {
    const { tag } = await tagsOf(JSON.stringify(other))
    t.notOk(known.has(tag), JSON.stringify(other))
    known.add(tag)
  }
})

async function connect(t: Test): Promise<pg.Client> {
  const { url } = await createDatabase(t)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  // The text of a time depends on it.
  await client.query(`SET timezone TO 'Asia/Kathmandu'`)
  return client
}

const most = Math.max(...Object.values(values).map(({ length }) => length))

/** A row with the nth value of each type; with -1 everything is NULL that can be. */
function rowOf({ fields }: Declared, n: number): Prisma.Sql {
  const given = Object.entries(fields).map(([key, { column, isNullable }]) => {
    const value =
      n < 0 && isNullable ? null : values[column].at(Math.max(0, n) % values[column].length)
    return Prisma.sql`${value}::${Prisma.raw(column)} AS ${Prisma.raw(columnOf(key))}`
  })
  return Prisma.sql`SELECT ${Prisma.join(given)}`
}

/** As responses are written. */
function serializerOf(schema: TSchema): (value: unknown) => string {
  const plain = JSON.parse(JSON.stringify(schema))
  return makeStringify()()({ schema: plain, method: 'GET', url: '/', httpStatus: '200' })
}

const isJson = ({ column }: Field) => column === 'jsonb'
const hasJson = ({ fields }: Declared) => Object.values(fields).some(isJson)

function withoutJson(resource: Declared): Declared {
  const rest = Object.entries(resource.fields).filter(([, one]) => !isJson(one))
  return { ...resource, fields: Object.fromEntries(rest) }
}
