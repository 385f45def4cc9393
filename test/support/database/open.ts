import type { Test } from 'tap'
import { unhurried } from '#src/db/connections/pool-options.ts'
import { type Database, openDatabase } from '#src/db/database.ts'

/** For every pool of a test: a busy machine can take seconds to open a connection. */
export const patient = { limits: unhurried }

/** `openDatabase` with patience; closed when the test ends. */
export function openPatiently(t: Test, url: string, size: number): Database {
  const db = openDatabase(url, size, patient)
  t.teardown(() => db.close())
  return db
}
