import { PrismaPg } from '@prisma/adapter-pg'
import { type ColumnType, ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import { app } from '#src/resources/running-app.ts'
import { openSchemaEngine } from '#src/schema/migrations/schema-engine.ts'
import { tablePrivileges } from '#src/schema/tables.ts'

/**
 * The SQL that would migrate the database to the schema.
 * @param others tables that are not compared
 */
export async function differenceTo(
  ownerUrl: string,
  content: string,
  others: readonly string[],
): Promise<string> {
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
      filters: {
        externalTables: others.map((table) => `public.${table}`),
        externalEnums: [],
      },
    })
    return result.stdout ?? ''
  } finally {
    await close()
  }
}

/**
 * The lines of that SQL which change columns or keys of the app's tables. It has further ones: a schema for a client
 * needs no index, and has relations without a key. Migrations of an app may add defaults of their own.
 */
export async function differentColumns(ownerUrl: string, content: string): Promise<string[]> {
  const isOwn = (table: string) => app.resources.some(({ plural }) => plural === table)
  const others = Object.keys(tablePrivileges).filter((table) => !isOwn(table))
  const sql = await differenceTo(ownerUrl, content, others)
  return sql
    .split('\n')
    .filter((line) => /COLUMN|PRIMARY KEY|UNIQUE|(CREATE|DROP) TABLE/.test(line))
    .filter((line) => !/^ALTER TABLE "\w+" (ALTER COLUMN "\w+" DROP DEFAULT(, |;$))+/.test(line))
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
