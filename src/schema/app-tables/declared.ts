import type { Resource } from '#src/resources/kit/define.ts'
import { columns as columnTypes } from '#src/resources/kit/fields/columns.ts'
import { computedOf } from '#src/resources/kit/fields/computed.ts'
import type { Field } from '#src/resources/kit/fields/field.ts'
import { referencesOf } from '#src/resources/kit/fields/keys/reference.ts'
import { type Link, linksOf, scopedColumnsOf, uniqueKeysOf } from '#src/resources/kit/links.ts'
import { orderedFiltersOf } from '#src/resources/kit/list-faults.ts'
import { columnOf, wordsTableOf } from '#src/resources/kit/names.ts'
import { wordKeysOf, wordOwnerOf } from '#src/resources/kit/search-sql.ts'
import type { Column, ForeignKey, Table } from './table.ts'

/** The table that a resource needs: the tenant in every key, an index for each order and filter of its lists. */
export function declaredTable(resource: Resource, resources: readonly Resource[]): Table {
  const { plural, scope } = resource
  const links = linksOf(resources)
  const isOwnersTarget = scope === 'owner' && links.some(({ to }) => to.name === resource.name)
  return {
    name: plural,
    columns: columnsOf(resource),
    primaryKey: ['tenant_id', 'id'],
    uniqueKeys: [
      ...uniqueKeysOf(resource),
      // What the key of a reference leads to.
      ...(isOwnersTarget ? [{ columns: [...scopedColumnsOf(resource), 'id'] }] : []),
    ],
    foreignKeys: [
      tenantKey,
      ...(scope === 'chain' ? [folderKey] : []),
      ...links.filter(({ from }) => from.name === resource.name).map(referenceKey),
    ],
    indexes: indexesOf(resource),
  }
}

/** The primary key of a table of words. */
export const wordKey: readonly string[] = ['tenant_id', 'id', 'word']

/**
 * The table with the words that lists of a resource are searched by; null without a search. Its triggers delete the
 * words of a row, so it needs no foreign key, whose check would cost half as much as the word.
 */
export function wordsTable(resource: Resource): Table | null {
  if (resource.search.length === 0) return null
  const keys = scopeColumns[resource.scope].filter(({ name }) =>
    wordKeysOf(resource).includes(name),
  )
  return {
    name: wordsTableOf(resource),
    columns: [...keys, { name: 'word', type: 'text', notNull: true }],
    primaryKey: wordKey,
    uniqueKeys: [],
    foreignKeys: [],
    // Beginnings of words are a range in the order of their bytes.
    indexes: [[wordOwnerOf(resource), 'word', 'id']],
  }
}

const tenantKey: ForeignKey = {
  ...{ columns: ['tenant_id'], table: 'tenants', references: ['id'], onDelete: 'CASCADE' },
}

/** A row has the team of its folder. */
const folderKey: ForeignKey = {
  columns: ['tenant_id', 'folder_id', 'team_id'],
  table: 'folders',
  references: ['tenant_id', 'id', 'team_id'],
  onDelete: 'NO ACTION',
}

/** The key of a reference. */
export function referenceKey({ key, to, onDelete, foreignKey }: Link): ForeignKey {
  const { name, columns, targetColumns } = foreignKey
  return {
    ...{ name, columns, table: to.plural, references: targetColumns },
    onDelete: deletions[onDelete],
    ...(onDelete === 'clear' && { cleared: [columnOf(key)] }),
  }
}

/** NO ACTION is checked after a whole statement, so a tenant with all of its rows can be deleted. */
const deletions = { restrict: 'NO ACTION', cascade: 'CASCADE', clear: 'SET NULL' } as const

function columnsOf({ scope, fields }: Resource): Column[] {
  const scoped = scopeColumns[scope]
  const computed = new Map(computedOf(fields).map(({ key, sql }) => [key, { computes: sql }]))
  const named = Object.entries(fields).map(([key, field]) => ({
    name: columnOf(key),
    type: typeOf(field),
    notNull: !field.isNullable,
    ...computed.get(key),
  }))
  return [...scoped, ...named.filter(({ name }) => !scoped.some((one) => one.name === name))]
}

function typeOf({ column, columnType }: Field): string {
  return columnType ?? columnTypes[column].spelled
}

const filled = (name: string, type: string): Column => ({ name, type, notNull: true })

/** Every table begins with the tenant and the id; then follow the columns that its policies compare. */
const scopeColumns: Readonly<Record<Resource['scope'], readonly Column[]>> = {
  owner: [filled('tenant_id', 'uuid'), filled('id', 'bigint'), filled('user_id', 'bigint')],
  tenant: [filled('tenant_id', 'uuid'), filled('id', 'bigint')],
  chain: [
    ...[filled('tenant_id', 'uuid'), filled('id', 'bigint')],
    ...[filled('folder_id', 'bigint'), filled('team_id', 'bigint')],
  ],
}

/** What every list compares first. */
const listed: Readonly<Record<Resource['scope'], readonly string[]>> = {
  owner: ['user_id'],
  tenant: ['tenant_id'],
  chain: ['tenant_id', 'team_id'],
}

function indexesOf(resource: Resource): string[][] {
  const { scope, fields, filters, sort } = resource
  const first = listed[scope]
  const people = Object.keys(fields).filter((key) => fields[key]?.isPerson)
  const all = [
    // The primary key gives the order by id within a tenant.
    ...(scope === 'tenant' ? [] : [[...first, 'id']]),
    [...first, 'created_at', 'id'],
    ...(scope === 'chain' ? [['tenant_id', 'folder_id', 'team_id', 'id']] : []),
    // Who leaves a tenant is taken out of its rows.
    ...(scope === 'owner' ? [] : people.map((key) => ['tenant_id', columnOf(key), 'id'])),
    // A deletion looks for the rows that refer to the deleted one, which have the same owner or tenant.
    ...[...filters, ...sort, ...referencesOf(fields).map(({ key }) => key)]
      .map(columnOf)
      .filter((column) => !first.includes(column) && !(scope === 'chain' && column === 'folder_id'))
      .map((column) => [...first, column, 'id']),
    ...orderedFiltersOf(resource).map((pair) => [...first, ...pair.map(columnOf), 'id']),
  ]
  return all.filter((one, place) => all.findIndex((other) => `${other}` === `${one}`) === place)
}
