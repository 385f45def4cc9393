import { sha256 } from '#src/crypto/hash.ts'
import type { Queryable } from '#src/db/system-database.ts'

/** Ends the session of a cookie. @returns false if it had already ended */
export async function endSession(connection: Queryable, cookieId: string): Promise<boolean> {
  const { rows } = await connection.query<{ ended: boolean }>({
    text: 'SELECT end_session($1) AS ended',
    values: [sha256(cookieId)],
  })
  return rows[0]?.ended === true
}
