import {
  type Binding,
  type EncryptionKeys,
  keyIdOf,
  seal,
  sealHeader,
  UnsealError,
  unseal,
} from '#src/crypto/encryption.ts'
import type { Queryable, SystemDatabase } from './system-database.ts'
import { statementTimeoutsMs } from './timeouts.ts'

type Row = Readonly<Record<string, unknown>>

/** A table with encrypted columns, and the context to which their values are bound. */
export type EncryptedColumns = {
  table: string
  /** True for a table under row-level security, which is processed tenant by tenant. */
  byTenant: boolean
  /** Columns of the primary key. */
  key: readonly [string, ...string[]]
  /** Encrypted columns; values may be null. */
  columns: readonly string[]
  /** Other columns that `binding` needs. */
  facts: readonly string[]
  binding(row: Row, column: string): Binding
}

export type KeyUse = { table: string; column: string; keyId: string; count: number }

export type RotationProgress = { table: string; done: number; total: number }
export type RotationReport = { reencrypted: number; unreadable: readonly string[] }

const batchSize = 100

/** Counts the encrypted values by key id; `?` for values in an unknown format. */
export async function findKeyUse(
  systemDb: SystemDatabase,
  tables: readonly EncryptedColumns[],
): Promise<KeyUse[]> {
  const uses = new Map<string, KeyUse>()
  for (const sealed of tables) {
    for await (const inPart of partsOf(systemDb, sealed)) {
      for (const use of await inPart((connection) => findUse(connection, sealed))) {
        const name = `${use.table}.${use.column} ${use.keyId}`
        uses.set(name, { ...use, count: use.count + (uses.get(name)?.count ?? 0) })
      }
    }
  }
  return [...uses.values()]
}

async function findUse(
  connection: Queryable,
  { table, columns }: EncryptedColumns,
): Promise<KeyUse[]> {
  const uses: KeyUse[] = []
  for (const column of columns) {
    // A value starts with the version, the length of the key id and the key id.
    const { rows } = await connection.query<{ head: Buffer; count: number }>({
      text: `SELECT substring(${column} FROM 1 FOR 2 + get_byte(${column} || '\\x0000'::bytea, 1)) AS head,
               count(*)::int AS count
             FROM ${table} WHERE ${column} IS NOT NULL GROUP BY head ORDER BY head`,
    })
    for (const { head, count } of rows) {
      // Padded to the minimum length; only the head is read.
      const keyId = keyIdOf(Buffer.concat([head, Buffer.alloc(28)])) ?? '?'
      uses.push({ table, column, keyId, count })
    }
  }
  return uses
}

/**
 * Re-encrypts every value with the first key. Each batch is a transaction that locks its rows, so
 * this can be interrupted, repeated, and run beside a server. Values that cannot be decrypted are
 * reported and left unchanged.
 */
export async function rotateKeys(
  systemDb: SystemDatabase,
  tables: readonly EncryptedColumns[],
  keys: EncryptionKeys,
  report: (progress: RotationProgress) => void,
): Promise<RotationReport> {
  let reencrypted = 0
  const unreadable: string[] = []
  for (const sealed of tables) {
    const total = await countStale(systemDb, sealed, keys)
    let done = 0
    report({ table: sealed.table, done, total })
    for await (const inPart of partsOf(systemDb, sealed)) {
      let after: readonly string[] | null = null
      for (;;) {
        const batch: Batch = await inPart((connection) =>
          rotateBatch(connection, sealed, keys, after),
        )
        if (batch.last === null) break
        after = batch.last
        done += batch.rows
        reencrypted += batch.rows - batch.unreadable.length
        unreadable.push(...batch.unreadable)
        report({ table: sealed.table, done, total: Math.max(total, done) })
      }
    }
  }
  return { reencrypted, unreadable }
}

type Batch = { rows: number; last: readonly string[] | null; unreadable: readonly string[] }

/** Runs work in a transaction that sees a part of a table. */
type InPart = <T>(work: (connection: Queryable) => Promise<T>) => Promise<T>

/** The whole table, or one part per tenant. */
async function* partsOf(
  systemDb: SystemDatabase,
  { byTenant }: EncryptedColumns,
): AsyncGenerator<InPart> {
  const limits = { statementTimeoutMs: statementTimeoutsMs.keyRotation }
  if (!byTenant) {
    yield (work) => systemDb.transaction(limits, work)
    return
  }
  for await (const tenantId of listTenantIds(systemDb)) {
    yield (work) =>
      systemDb.transaction(limits, async (connection) => {
        const text = `SELECT set_config('app.tenant_id', $1, true)`
        await connection.query({ text, values: [tenantId] })
        return work(connection)
      })
  }
}

async function countStale(
  systemDb: SystemDatabase,
  sealed: EncryptedColumns,
  keys: EncryptionKeys,
): Promise<number> {
  let total = 0
  for await (const inPart of partsOf(systemDb, sealed)) {
    const { rows } = await inPart((connection) =>
      connection.query<{ total: number }>({
        text: `SELECT count(*)::int AS total FROM ${sealed.table} WHERE ${stale(sealed)}`,
        values: [sealHeader(keys)],
      }),
    )
    total += rows[0]?.total ?? 0
  }
  return total
}

async function rotateBatch(
  connection: Queryable,
  sealed: EncryptedColumns,
  keys: EncryptionKeys,
  after: readonly string[] | null,
): Promise<Batch> {
  const { table, key, columns, facts } = sealed
  const position = key.map((_, index) => `$${index + 2}`).join(', ')
  const keyTexts = key.map((name) => `${name}::text`).join(', ')
  const { rows } = await connection.query<Record<string, unknown>>({
    text: `SELECT ${[...key.map((name) => `${name}::text`), ...columns, ...facts].join(', ')}
           FROM ${table} WHERE ${stale(sealed)}
             ${after === null ? '' : `AND (${keyTexts}) > (${position})`}
           ORDER BY ${keyTexts} LIMIT ${batchSize} FOR UPDATE`,
    values: [sealHeader(keys), ...(after ?? [])],
  })
  const unreadable: string[] = []
  for (const row of rows) {
    const id = key.map((name) => String(row[name]))
    const texts = reseal(sealed, keys, row)
    if (texts === null) unreadable.push(`${table} ${id.join(' ')}`)
    else await update(connection, sealed, id, texts)
  }
  const last = rows.at(-1)
  return {
    rows: rows.length,
    last: last === undefined ? null : key.map((name) => String(last[name])),
    unreadable,
  }
}

/** Re-encrypts the columns of a row. @returns null if one cannot be decrypted */
function reseal(
  sealed: EncryptedColumns,
  keys: EncryptionKeys,
  row: Row,
): (Buffer | null)[] | null {
  try {
    return sealed.columns.map((column) => {
      const envelope = row[column]
      if (!(envelope instanceof Uint8Array)) return null
      const binding = sealed.binding(row, column)
      return seal(keys, unseal(keys, envelope, binding), binding)
    })
  } catch (error) {
    if (error instanceof UnsealError) return null
    throw error
  }
}

async function update(
  connection: Queryable,
  { table, key, columns }: EncryptedColumns,
  id: readonly string[],
  texts: readonly (Buffer | null)[],
): Promise<void> {
  const changes = columns.map((name, index) => `${name} = $${index + 1}`).join(', ')
  const where = key.map((name, index) => `${name}::text = $${columns.length + index + 1}`)
  await connection.query({
    text: `UPDATE ${table} SET ${changes} WHERE ${where.join(' AND ')}`,
    values: [...texts, ...id],
  })
}

/** The condition for rows with a value that does not use the first key, whose header is $1. */
function stale({ columns }: EncryptedColumns): string {
  const parts = columns.map(
    (column) =>
      `(${column} IS NOT NULL AND substring(${column} FROM 1 FOR length($1::bytea)) <> $1::bytea)`,
  )
  return `(${parts.join(' OR ')})`
}

/** Every tenant with a member. The table of tenants cannot be read without a scope. */
export async function* listTenantIds(systemDb: Queryable): AsyncGenerator<string> {
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const { rows } = await systemDb.query<{ tenant_id: string }>({
      name: 'next-tenant',
      text: 'SELECT tenant_id FROM memberships WHERE tenant_id > $1 ORDER BY tenant_id LIMIT 1',
      values: [after],
    })
    const [row] = rows
    if (row === undefined) return
    after = row.tenant_id
    yield after
  }
}
