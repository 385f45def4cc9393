import pg from 'pg'
import t from 'tap'
import { Prisma } from '#src/db/generated/client.ts'
import { type Declared, rowsOf } from '#src/domain/rows.ts'
import { resources } from '#src/resources/index.ts'
import { columnOf } from '#src/resources/kit/define.ts'
import { type ColumnTypes, type Field, field, optional } from '#src/resources/kit/fields.ts'
import { createDatabase } from '#test/support/database/database.ts'

/* The program makes the object of a row in two ways: a response with `toItem`, an event of one packet with `json`. */

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
      [`${type}Omitted`, { ...optional(one), isOmitted: true }],
      [`${type}Hidden`, { ...one, isHidden: true }],
    ]
  }),
)
const ofAllTypes = { ...resources[0], fields } as unknown as Declared

t.test('an event of one packet has the object of the response, for every field', async (t) => {
  const { url } = await createDatabase(t)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  // The text of a time depends on it.
  await client.query(`SET timezone TO 'Asia/Kathmandu'`)
  for (const resource of [...resources, ofAllTypes].flatMap((one) => [one, withoutJson(one)])) {
    const { columns, json, toItem } = rowsOf<Declared>(resource)
    const most = Math.max(...Object.values(values).map(({ length }) => length))
    for (let n = -1; n < most; n += 1) {
      const given = Object.entries(resource.fields).map(([key, { column, isNullable }]) => {
        const value =
          n < 0 && isNullable ? null : values[column].at(Math.max(0, n) % values[column].length)
        return Prisma.sql`${value}::${Prisma.raw(column)} AS ${Prisma.raw(columnOf(key))}`
      })
      const { text, values: parameters } = Prisma.sql`
        WITH changed AS (SELECT ${columns} FROM (SELECT ${Prisma.join(given)}) AS row)
        SELECT changed.*, ${json} AS json FROM changed`
      const { rows } = await client.query(text, parameters)
      const { json: body, ...row } = rows[0]
      const item = toItem(row)
      // As JSON, because it has no -0. The order of the members counts.
      t.equal(JSON.stringify(JSON.parse(body)), JSON.stringify(item), resource.name)
      // Erasure and export look for `"userId":1,` in the body.
      if (!hasJson(resource)) t.equal(body, JSON.stringify(item), 'byte for byte')
    }
  }
})

const isJson = ({ column }: Field) => column === 'jsonb'
const hasJson = ({ fields }: Declared) => Object.values(fields).some(isJson)

function withoutJson(resource: Declared): Declared {
  const rest = Object.entries(resource.fields).filter(([, one]) => !isJson(one))
  return { ...resource, fields: Object.fromEntries(rest) }
}
