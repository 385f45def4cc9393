import t from 'tap'
import { columnOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { createDatabase } from '#test/support/database/database.ts'

const scopes = { owner: ['user_id'], tenant: ['tenant_id'], chain: ['tenant_id'] } as const

t.test(
  'the order and each filter of a declared resource have an index in their scope',
  async (t) => {
    const { admin } = await createDatabase(t)
    const { rows } = await admin.query<{ table: string; columns: string[] }>(
      `SELECT i.indrelid::regclass::text AS table,
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (number, place)
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
             ORDER BY k.place) AS columns
     FROM pg_index i`,
    )
    for (const { plural, scope, filters, sort, fields } of resources) {
      const indexes = rows.filter(({ table }) => table === plural).map(({ columns }) => columns)
      const [first] = scopes[scope]
      const references = Object.keys(fields).filter((key) => fields[key]?.refersTo)
      for (const key of ['createdAt', ...filters, ...sort, ...references]) {
        const column = columnOf(key)
        const isFound = indexes.some((columns) => columns[0] === first && columns.includes(column))
        t.ok(isFound, `${plural} by ${column}`)
      }
      const pairs = filters.flatMap((one) => sort.flatMap((by) => (by === one ? [] : [[one, by]])))
      for (const pair of pairs) {
        const wanted = `${[first, ...pair.map(columnOf), 'id']}`
        t.ok(
          indexes.some((columns) => `${columns}` === wanted),
          `${plural} by ${pair}`,
        )
      }
    }
  },
)
