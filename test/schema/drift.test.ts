import { readFile } from 'node:fs/promises'
import { PrismaPg } from '@prisma/adapter-pg'
import { type ColumnType, ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import t from 'tap'
import { app } from '#src/resources/running-app.ts'
import { openSchemaEngine } from '#src/schema/migrations/schema-engine.ts'
import { createDatabase } from '#test/support/database/database.ts'

const schemaFile = new URL('../../prisma/schema.prisma', import.meta.url)

t.test('the migrations and schema.prisma describe the same database', async (t) => {
  const database = await createDatabase(t)
  const content = await readFile(schemaFile, 'utf8')
  t.strictSame(await difference(database.ownerUrl, content), '-- This is an empty migration.\n')
  t.match(
    await difference(
      database.ownerUrl,
      content.replace('currency       String', 'currency       Int'),
    ),
    /"currency"/,
    'a changed column is detected',
  )
})

/** The SQL that would migrate the database to the schema. */
async function difference(ownerUrl: string, content: string): Promise<string> {
  const files = [{ path: 'schema.prisma', content }]
  const { engine, close } = await openSchemaEngine(
    ownerUrl,
    [['schema.prisma', content]],
    (pool) => new DescribingAdapter(pool),
  )
  try {
    const result = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      // The migrations of the app create its tables, which schema.prisma does not have.
      filters: {
        externalTables: app.resources.map(({ plural }) => `public.${plural}`),
        externalEnums: [],
      },
    })
    return result.stdout ?? ''
  } finally {
    await close()
  }
}

/** Casts the catalogue's "char" columns, which the adapter rejects, to text for the engine. */
class DescribingAdapter extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect()
    const queryRaw = adapter.queryRaw.bind(adapter)
    adapter.queryRaw = async (query) => {
      const sql = query.sql
        .replace('constr.contype AS', 'constr.contype::text AS')
        .replace(/^\s*con\.(confdeltype|confupdtype),$/gm, 'con.$1::text AS $1,')
      const result = await queryRaw({ ...query, sql })
      const columnTypes = result.columnTypes.map(
        (type, index): ColumnType =>
          characterColumns.includes(result.columnNames[index] ?? '')
            ? ColumnTypeEnum.Character
            : type,
      )
      return { ...result, columnTypes }
    }
    return adapter
  }
}

const characterColumns = ['constraint_type', 'confdeltype', 'confupdtype']
