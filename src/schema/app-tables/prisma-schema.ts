import type { Resource } from '#src/resources/kit/define.ts'
import { columns as columnTypes } from '#src/resources/kit/fields/columns.ts'
import { expansionOf } from '#src/resources/kit/fields/keys/reference.ts'
import { linksOf } from '#src/resources/kit/links.ts'
import { columnOf, titleOf } from '#src/resources/kit/names.ts'
import { keyOf } from './columns.ts'
import { declaredTable } from './declared.ts'
import type { Column, Table } from './table.ts'

const introduction = `// Written by \`gatehouse generate\` from the declarations, for the typed client of the app. \`gatehouse migrate\` makes
// the tables; this file changes none. It has the columns that a statement of the app may read.

generator client {
  provider               = "prisma-client"
  output                 = "./prisma"
  runtime                = "nodejs"
  moduleFormat           = "esm"
  generatedFileExtension = "ts"
  importFileExtension    = "ts"
  compilerBuild          = "small"
  previewFeatures        = ["strictUndefinedChecks"]
}

datasource db {
  provider = "postgresql"
}
`

/**
 * What an app may read of the tables of the program that its rows belong to: name, type and attributes of each column,
 * as in prisma/schema.prisma.
 */
const baseModels = [
  {
    ...{ name: 'Tenant', table: 'tenants', keys: [] },
    columns: `id String @id @db.Uuid
      name String
      createdAt DateTime @default(now()) @map("created_at") @db.Timestamptz(6)`,
  },
  {
    ...{ name: 'User', table: 'users', keys: [] },
    columns: `id BigInt @id @default(autoincrement())
      email String?
      name String?
      memberships Membership[]`,
  },
  {
    ...{ name: 'Membership', table: 'memberships', keys: ['@@id([tenantId, userId])'] },
    columns: `tenantId String @map("tenant_id") @db.Uuid
      userId BigInt @map("user_id")
      role String
      department String?
      createdAt DateTime @default(now()) @map("created_at") @db.Timestamptz(6)
      user User @relation(fields: [userId], references: [id], onDelete: Cascade)`,
  },
  {
    ...{ name: 'Folder', table: 'folders' },
    keys: ['@@id([tenantId, id])', '@@unique([tenantId, id, teamId])'],
    columns: `tenantId String @map("tenant_id") @db.Uuid
      id BigInt @default(autoincrement())
      teamId BigInt @map("team_id")
      parentId BigInt? @map("parent_id")
      name String`,
  },
] as const

type Model = {
  readonly name: string
  readonly table: string
  /** Type and attributes by the name of the field. */
  readonly fields: Map<string, string>
  readonly keys: readonly string[]
}

/**
 * The schema for Prisma's typed client of an app: a model for each resource, and those of the program that they refer
 * to. A row that a scope does not show is null in a relation, so relations to people are optional.
 */
export function prismaSchemaOf(resources: readonly Resource[]): string {
  const models = new Map(
    [
      ...baseModels.map(baseModel),
      ...resources.map((one) => modelOf(one, declaredTable(one, resources))),
    ].map((model) => [model.table, model]),
  )
  for (const resource of resources) {
    for (const one of relationsOf(resource, resources)) relate(resource, one, models)
  }
  const isUsed = ({ table }: Model) =>
    table !== 'folders' || resources.some(({ scope }) => scope === 'chain')
  return [introduction, ...[...models.values()].filter(isUsed).map(textOf)].join('\n')
}

function baseModel({ columns, ...rest }: (typeof baseModels)[number]): Model {
  const lines = columns.split('\n').map((line) => line.trim().split(/ (.*)/s))
  return { ...rest, fields: new Map(lines.map(([key = '', type = '']) => [key, type])) }
}

function modelOf(resource: Resource, { name, columns, primaryKey, uniqueKeys }: Table): Model {
  const field = fieldOf(resource)
  const list = (all: readonly string[]) => `[${all.map(field).join(', ')}]`
  const unique = uniqueKeys.map(({ columns, name }) => {
    const map = name === undefined ? '' : `, map: "${name}"`
    return `@@unique(${list(columns)}${map})`
  })
  return {
    ...{ name: titleOf(resource.name), table: name },
    fields: new Map(
      columns.map((column) => [field(column.name), typeOf(column, field(column.name))]),
    ),
    keys: [`@@id(${list(primaryKey)})`, ...unique],
  }
}

/** The name of the field of a column, also of one that the scope alone has. */
function fieldOf({ fields }: Resource): (column: string) => string {
  const declared = new Map(Object.keys(fields).map((key) => [columnOf(key), key]))
  return (column) => declared.get(column) ?? keyOf(column)
}

function typeOf({ name, type, notNull, computes }: Column, key: string): string {
  const [spelled, limits = ''] = type.split(/(?=\()/)
  const kind = Object.values(columnTypes).find((one) => one.spelled === spelled)
  if (kind === undefined)
    throw new Error(`The column ${name} has the type ${type}, which no field has.`)
  const [model = '', ...native] = kind.prisma.split(' ')
  return [
    `${model}${notNull ? '' : '?'}`,
    ...defaultOf(name, computes),
    ...(key === name ? [] : [`@map("${name}")`]),
    ...native.map((one) => one + limits),
  ].join(' ')
}

/** Without a default a client would have to give what the database makes. */
function defaultOf(name: string, computes: string | undefined): string[] {
  if (name === 'id') return ['@default(autoincrement())']
  if (name === 'created_at') return ['@default(now())']
  if (name === 'updated_at') return ['@default(now())', '@updatedAt']
  return computes === undefined ? [] : ['@default(dbgenerated())']
}

type Relation = {
  /** The field that has the other row. */
  readonly key: string
  /** The table of the other row. */
  readonly to: string
  /** The field of the other row that has these. */
  readonly back: string
  readonly columns: readonly string[]
  readonly targetColumns: readonly string[]
  readonly isOptional: boolean
}

function relationsOf(resource: Resource, resources: readonly Resource[]): Relation[] {
  const { plural, fields, scope } = resource
  const back = keyOf(plural)
  const backAs = (key: string) => `${back}As${titleOf(expansionOf(key))}`
  const links = linksOf(resources).filter(({ from }) => from === resource)
  const inFolder = ['tenant_id', 'folder_id', 'team_id']
  return [
    {
      ...{ key: 'tenant', to: 'tenants', back, isOptional: false },
      ...{ columns: ['tenant_id'], targetColumns: ['id'] },
    },
    ...(scope === 'chain'
      ? [
          {
            ...{ key: 'folder', to: 'folders', back, isOptional: false },
            ...{ columns: inFolder, targetColumns: ['tenant_id', 'id', 'team_id'] },
          },
        ]
      : []),
    ...links.map(({ key, name, to, isNullable, foreignKey }) => ({
      ...{ ...foreignKey, key: name, to: to.plural, isOptional: isNullable },
      back: links.some((other) => other.to === to && other.key !== key) ? backAs(key) : back,
    })),
    ...Object.keys(fields)
      .filter((key) => fields[key]?.isPerson)
      .map((key) => ({
        ...{ key: expansionOf(key), to: 'users', back: backAs(key), isOptional: true },
        ...{ columns: [columnOf(key)], targetColumns: ['id'] },
      })),
  ]
}

/** Adds a relation to both of its models. */
function relate(
  resource: Resource,
  { key, to, back, columns, targetColumns, isOptional }: Relation,
  models: ReadonlyMap<string, Model>,
): void {
  const from = models.get(resource.plural)
  const target = models.get(to)
  if (from === undefined || target === undefined) return
  const name = `"${resource.plural}_${key}"`
  const ends = `fields: [${columns.map(fieldOf(resource)).join(', ')}], references: [${targetColumns.map(keyOf).join(', ')}]`
  // Prisma refuses other actions where a column of the key cannot be null. The database does what migrations say.
  const relation = `@relation(${name}, ${ends}, onDelete: NoAction, onUpdate: NoAction)`
  put(from, key, `${target.name}${isOptional ? '?' : ''} ${relation}`)
  put(target, back, `${from.name}[] @relation(${name})`)
}

/** Adds a relation, under another name if a column has it. */
function put({ fields }: Model, name: string, relation: string): void {
  let free = name
  while (fields.has(free)) free += '_'
  fields.set(free, relation)
}

function textOf({ name, table, fields, keys }: Model): string {
  const lines = [...fields].map(([key, type]) => [key, ...type.split(/ (.*)/s)])
  const widthOf = (n: number) => Math.max(...lines.map((line) => line[n]?.length ?? 0))
  const [first, second] = [widthOf(0), widthOf(1)]
  const columns = lines.map(([key = '', type = '', attributes = '']) =>
    `  ${key.padEnd(first)} ${type.padEnd(second)} ${attributes}`.trimEnd(),
  )
  const last = [...keys, `@@map("${table}")`].map((line) => `  ${line}`)
  return `model ${name} {\n${columns.join('\n')}\n\n${last.join('\n')}\n}\n`
}
