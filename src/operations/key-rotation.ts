import {
  type Binding,
  type EncryptionKeys,
  keyIdOf,
  seal,
  sealHeader,
  UnsealError,
  unseal,
} from '#src/crypto/encryption.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'

type Row = Readonly<Record<string, unknown>>

/** A table with encrypted columns and what each of them is bound to. */
export type EncryptedColumns = {
  table: string
  /** Columns of the primary key, as text. */
  key: readonly [string, ...string[]]
  /** Encrypted columns; null means no value. */
  columns: readonly string[]
  /** Other columns that `binding` reads. */
  facts: readonly string[]
  binding(row: Row, column: string): Binding
}

export type KeyUse = { table: string; column: string; keyId: string; count: number }

export type RotationProgress = { table: string; done: number; total: number }
/** A key of the seal of scopes, without its secret. */
export type ScopeKey = { id: number; createdAt: Date }

export type RotationReport = { reencrypted: number; unreadable: readonly string[] }

const batchSize = 100
const statementTimeoutMs = 10_000

/** Counts the encrypted values by key; `?` is the key of a value that is not an envelope. */
export async function findKeyUse(
  systemDb: SystemDatabase,
  tables: readonly EncryptedColumns[],
): Promise<KeyUse[]> {
  const uses = new Map<string, KeyUse>()
  for (const { table } of tables) {
    for (const use of await findUse(systemDb, table)) {
      const name = `${use.table}.${use.column} ${use.keyId}`
      uses.set(name, { ...use, count: use.count + (uses.get(name)?.count ?? 0) })
    }
  }
  return [...uses.values()]
}

async function findUse(connection: Queryable, table: string): Promise<KeyUse[]> {
  const rows = await connection.sql<{ column: string; head: Buffer; count: string }>`
    SELECT column_name AS column, head, count FROM count_sealed(${table})`
  return rows.map(({ column, head, count }) => {
    // Padded to the length of an envelope; only its head is read.
    const keyId = keyIdOf(Buffer.concat([head, Buffer.alloc(28)])) ?? '?'
    return { table, column, keyId, count: Number(count) }
  })
}

/**
 * Encrypts everything again with the first key, in batches. Each batch is a transaction that locks its
 * rows, so the rotation can be interrupted, repeated, and run beside a server. What cannot be decrypted
 * stays as it is and is reported. The worker role reaches these columns through functions only.
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
    let after: readonly string[] | null = null
    for (;;) {
      const batch: Batch = await systemDb.transaction({ statementTimeoutMs }, (connection) =>
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
  return { reencrypted, unreadable }
}

type Batch = { rows: number; last: readonly string[] | null; unreadable: readonly string[] }

/** The rows to encrypt again: as many as their column with the most values of other keys has. */
async function countStale(
  systemDb: SystemDatabase,
  { table, columns }: EncryptedColumns,
  [{ id }]: EncryptionKeys,
): Promise<number> {
  const stale = (await findUse(systemDb, table)).filter(({ keyId }) => keyId !== id)
  const counts = columns.map((name) =>
    stale.reduce((sum, { column, count }) => (column === name ? sum + count : sum), 0),
  )
  return Math.max(...counts)
}

type SealedRow = { keys: string[]; texts: (Buffer | null)[]; facts: (string | null)[] }

async function rotateBatch(
  connection: Queryable,
  sealed: EncryptedColumns,
  keys: EncryptionKeys,
  after: readonly string[] | null,
): Promise<Batch> {
  const { table } = sealed
  const rows = await connection.sql<SealedRow>`
    SELECT keys, texts, facts FROM read_sealed(${table}, ${sealHeader(keys)}, ${after},
      ${batchSize})`
  const unreadable: string[] = []
  for (const row of rows) {
    const texts = reseal(sealed, keys, row)
    if (texts === null) unreadable.push(`${table} ${row.keys.join(' ')}`)
    else {
      await connection.sql`SELECT write_sealed(${table}, ${row.keys}, ${texts})`
    }
  }
  return { rows: rows.length, last: rows.at(-1)?.keys ?? null, unreadable }
}

/** Encrypts the columns of a row again; null if one of them cannot be decrypted. */
function reseal(
  { key, columns, facts, binding }: EncryptedColumns,
  keys: EncryptionKeys,
  row: SealedRow,
): (Buffer | null)[] | null {
  const known: Row = Object.fromEntries([
    ...key.map((name, index) => [name, row.keys[index]]),
    ...facts.map((name, index) => [name, row.facts[index]]),
  ])
  try {
    return columns.map((column, index) => {
      const envelope = row.texts[index]
      if (!(envelope instanceof Uint8Array)) return null
      const bound = binding(known, column)
      return seal(keys, unseal(keys, envelope, bound), bound)
    })
  } catch (error) {
    if (error instanceof UnsealError) return null
    throw error
  }
}

/** The keys of the seal of scopes, newest first. */
export async function listScopeKeys(connection: Queryable): Promise<ScopeKey[]> {
  return connection.sql<ScopeKey>`
    SELECT id, created_at AS "createdAt" FROM list_scope_keys()`
}

/**
 * Adds a key that seals scopes from now on. The previous one stays valid for transactions that are
 * open; older ones are deleted.
 * @returns the id of the new key
 */
export async function rotateScopeKey(connection: Queryable): Promise<number> {
  await connection.sql`SELECT rotate_scope_key()`
  const [newest] = await listScopeKeys(connection)
  if (newest === undefined) throw new Error('The database has no scope key.')
  return newest.id
}
