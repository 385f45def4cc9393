import type { Queryable } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'

/**
 * Replaces the operators in the database, which checks for itself who may do what only operators may.
 * The worker that started last decides: one with old settings puts former operators back.
 * @param operators `provider:subject` pairs of the setting OPERATORS
 */
export async function recordOperators(
  systemDb: Queryable,
  operators: ReadonlySet<string>,
): Promise<void> {
  const pairs = [...operators].map((pair) => {
    const end = pair.indexOf(':')
    return { provider: pair.slice(0, end), subject: pair.slice(end + 1) }
  })
  await systemDb.sql`
    WITH named AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(pairs)}::text::json) AS n (provider text, subject text)
    ), gone AS (
      DELETE FROM operators o WHERE (o.provider, o.provider_user_id) NOT IN (SELECT provider, subject FROM named)
    )
    INSERT INTO operators (provider, provider_user_id) SELECT provider, subject FROM named
    ON CONFLICT DO NOTHING`
}

/** Whether the database knows the user of the session as an operator. */
export async function isRecordedOperator({ sql }: Queryable): Promise<boolean> {
  const [row] = await sql<{ recorded: boolean }>`SELECT is_operator() AS recorded`
  return row?.recorded === true
}

/** What an operator reads whom the settings name, but whom no worker has recorded yet. */
export const notRecordedYet =
  'No worker has started with your identity in OPERATORS yet. Restart the workers with the same OPERATORS as this server.'

export function operatorNotRecorded(): Problem {
  return new Problem('forbidden', { reason: 'operator-not-recorded', detail: notRecordedYet })
}
