import { sha256 } from '#src/crypto/hash.ts'

/** A table as a declaration wants it, or as the catalogue has it. */
export type Table = {
  readonly name: string
  readonly columns: readonly Column[]
  readonly primaryKey: readonly string[]
  /** The columns of each further unique key, and its name where a program has to know it. */
  readonly uniqueKeys: readonly UniqueKey[]
  readonly foreignKeys: readonly ForeignKey[]
  readonly indexes: readonly (readonly string[])[]
}

export type UniqueKey = { readonly columns: readonly string[]; readonly name?: string }

export type Column = {
  readonly name: string
  /** As PostgreSQL spells it. */
  readonly type: string
  readonly notNull: boolean
  /** SQL by which the database computes it. */
  readonly computes?: string
}

export type ForeignKey = {
  /** By which the program knows which one was broken; without it PostgreSQL chooses one. */
  readonly name?: string
  readonly columns: readonly string[]
  readonly table: string
  readonly references: readonly string[]
  readonly onDelete: 'NO ACTION' | 'RESTRICT' | 'CASCADE' | 'SET NULL' | 'SET DEFAULT'
  /** With SET NULL: the columns that become NULL, if not all. */
  readonly cleared?: readonly string[]
}

const maxName = 63 // PostgreSQL cuts off the end of a longer one
const digestDigits = 8

/** The name of an index as PostgreSQL would choose it; a long one ends with a digest. */
export function indexNameOf(table: string, columns: readonly string[], suffix = 'idx'): string {
  const name = `${table}_${columns.join('_')}_${suffix}`
  if (name.length <= maxName) return name
  const digest = sha256(name).toString('hex').slice(0, digestDigits)
  return `${name.slice(0, maxName - digestDigits - suffix.length - 2)}_${digest}_${suffix}`
}

export function listOf(columns: readonly string[]): string {
  return `(${columns.join(', ')})`
}
