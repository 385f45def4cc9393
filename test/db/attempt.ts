import pg from 'pg'
import type { Test } from 'tap'

export type Context = { tenantId?: string; userId?: number }

/** Runs a statement in a scope and rolls it back. @returns the number of rows or the error */
export type Attempt = (context: Context, sql: string, values?: unknown[]) => Promise<Outcome>
export type Outcome =
  | { rows: number; data: Record<string, unknown>[] }
  | { refused: string; message: string }

/** Attempts as the role of the URL, on a connection that is closed with the test. */
export async function attemptsAs(t: Test, url: string): Promise<Attempt> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  return async ({ tenantId, userId }, sql, values = []) => {
    await client.query('BEGIN')
    try {
      if (tenantId) await client.query(`SELECT set_config('app.tenant_id', $1, true)`, [tenantId])
      if (userId) await client.query(`SELECT set_config('app.user_id', $1, true)`, [String(userId)])
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
