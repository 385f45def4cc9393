import { eraseNow } from '#src/auth/erasure/work.ts'
import { withQueue } from '#src/commands/kit/queue.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

/** Does the worker's part of every erasure at once. */
export async function eraseAll(database: TestDatabase): Promise<void> {
  await withQueue(database.workerUrl, ({ systemDb, queue }) => eraseNow(systemDb, queue))
}

/** Every table of the program and of the queue. */
export async function listTables({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)
     ORDER BY 1`,
  )
  return rows.map(({ name }) => name)
}

/** Tables with a row whose text contains one of the words; stored bytes count as text. */
export async function findTables(
  database: TestDatabase,
  words: readonly string[],
): Promise<string[]> {
  const found: string[] = []
  for (const name of await listTables(database)) {
    const { rows } = await database.admin.query<{ row: Record<string, unknown> }>(
      `SELECT to_jsonb(x) AS row FROM ${name} x`,
    )
    const text = rows.map(({ row }) => JSON.stringify(Object.values(row).map(decoded))).join('\n')
    if (words.some((word) => text.includes(word))) found.push(name)
  }
  return found
}

/** The text of stored bytes, which JSON has in hexadecimal. */
function decoded(value: unknown): unknown {
  const isBytes = typeof value === 'string' && value.startsWith('\\x')
  return isBytes ? Buffer.from(value.slice(2), 'hex').toString() : value
}
