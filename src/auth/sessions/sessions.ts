import { sha256 } from '#src/crypto/hash.ts'
import type { Queryable } from '#src/db/system-database.ts'

/** Ends the session of a cookie. @returns false if it had already ended */
export async function endSession(connection: Queryable, cookieId: string): Promise<boolean> {
  const [row] = await connection.sql<{ ended: boolean }>`
    SELECT end_session(${sha256(cookieId)}) AS ended`
  return row?.ended === true
}
