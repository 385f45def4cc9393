import type { Load } from './load.ts'
import { type Measured, measuredHead, measuredRow } from './measured.ts'
import { measureServer, type Server, startServer } from './processes.ts'
import type { Effort } from './section.ts'
import { countTrips } from './trips.ts'
import { nameOf, takeTurns } from './turns.ts'

/** A server and the requests for it. */
export type Contender = {
  start(databaseUrl: string): Promise<Server>
  databaseUrl: string
  requests: Load['requests']
}

type Outcome = {
  /** The median of a contender. */
  at(contender: string): Measured | undefined
  /** The round trips that its responses wait for. */
  tripsOf(contender: string): string
  table: string[][]
}

/** Measures contenders in turns, then counts their round trips. */
export async function measureContest(
  contenders: ReadonlyMap<string, Contender>,
  connections: number,
  { runs, seconds }: Effort,
): Promise<Outcome> {
  const contests = [...contenders].map(([contender, its]) => ({ contender, connections, its }))
  const medians = await takeTurns(
    contests,
    runs,
    async ({ its: { start, databaseUrl, requests } }) =>
      measureServer(await start(databaseUrl), { connections, seconds, requests }),
  )
  const trips = new Map<string, string>()
  for (const [name, contender] of contenders) {
    trips.set(name, await countTrips(contender, seconds))
  }
  const at = (contender: string) => medians.get(nameOf({ contender, connections }))
  const tripsOf = (contender: string) => trips.get(contender) ?? 'not measured'
  const rows = [...contenders.keys()].flatMap((contender) => {
    const measured = at(contender)
    const row = measured && measuredRow(nameOf({ contender, connections }), measured)
    return row ? [[...row, tripsOf(contender)]] : []
  })
  return { at, tripsOf, table: [[...measuredHead('Requests/s'), 'Round trips'], ...rows] }
}

/** Starts a program of bench/baselines. */
export function startBaseline(file: string): Contender['start'] {
  return (url) => startServer(`./baselines/${file}`, { DATABASE_URL: url })
}
