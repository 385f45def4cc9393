import type { Urls } from '#dev/testing/logins.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { checkLedger, wholeRanges } from '#src/ledger/ledger.ts'
import { patient } from '#test/support/database/open.ts'

const soonMs = 3_600_000

/** What is not accounted for, as if everything up to now had settled. */
export async function unaccounted({ workerUrl }: Urls): Promise<string[]> {
  const systemDb = openSystemDatabase(workerUrl, 1, patient)
  try {
    const before = new Date(Date.now() + soonMs)
    const { findings } = await checkLedger(systemDb, await wholeRanges(systemDb, before), before)
    return findings.map((finding) => `unaccounted: ${JSON.stringify(finding)}`)
  } finally {
    await systemDb.close()
  }
}
