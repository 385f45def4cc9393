import pg from 'pg'
import type { Test } from 'tap'
import type { TestDatabase } from '#test/support/database/database.ts'
import { allowScopes } from '#test/support/database/scope.ts'

export type Context = { tenantId?: string; userId?: number }

/** Runs a statement in a scope and rolls it back. @returns the number of rows or the error */
export type Attempt = (context: Context, sql: string, values?: unknown[]) => Promise<Outcome>
export type Outcome =
  | { rows: number; data: Record<string, unknown>[] }
  | { refused: string; message: string }

/** Attempts as the role of the URL, over one connection that is closed with the test. */
export async function attemptsAs(
  t: Test,
  database: Pick<TestDatabase, 'admin'>,
  url: string,
): Promise<Attempt> {
  const entryOf = await allowScopes<Context>(database)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  return async (context, sql, values = []) => {
    await client.query('BEGIN')
    try {
      const isScoped = context.tenantId !== undefined || context.userId !== undefined
      if (isScoped) {
        const { text, values } = entryOf(context).statement(true)
        await client.query(text, [...(values ?? [])])
      }
      const { rowCount, rows } = await client.query(sql, values)
      return { rows: rowCount ?? 0, data: rows }
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error
      return { refused: error.code ?? '', message: error.message }
    } finally {
      await client.query('ROLLBACK')
    }
  }
}

/** PostgreSQL's code for a missing privilege and for a row that a policy rejects. */
export const denied = { refused: '42501' }
