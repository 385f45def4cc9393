import type { Contender } from './contest.ts'
import { openFarDatabase } from './far-database.ts'
import { measureServer } from './processes.ts'

export const delayMs = 40

/** Round trips to the database that a response waits for: how much later it comes if each takes longer. */
export async function countTrips(contender: Contender, seconds: number): Promise<string> {
  const { start, databaseUrl, requests } = contender
  const load = { connections: 1, seconds, requests }
  const near = await measureServer(await start(databaseUrl), load)
  const far = await openFarDatabase(databaseUrl, delayMs)
  const distant = await measureServer(await start(far.url), load)
  far.close()
  return ((distant.p50Ms - near.p50Ms) / delayMs).toFixed(2)
}
