import { startGatehouse } from '../contender.ts'
import { type Measured, medianOf } from '../measured.ts'
import { placeOrders } from '../orders.ts'
import { onDatabase, type Place } from '../place.ts'
import { measureServer } from '../processes.ts'
import type { Effort } from '../section.ts'

const connections = 64

/** Changes of orders by 64 clients at once, each in a tenant of its own, without and with an endpoint. */
export async function measureWriters(
  place: Place,
  effort: Effort,
): Promise<{ without: Measured; with: Measured }> {
  const changes = {
    without: await placeOrders(place, connections),
    with: await placeOrders(place, connections),
  }
  await onDatabase(place.superuserUrl, [
    `WITH endpoint AS (
       INSERT INTO webhook_endpoints (tenant_id, url, signature, secret)
       SELECT tenant_id, 'https://receiver.example', 'spec', ''
       FROM orders ORDER BY id DESC LIMIT ${connections} RETURNING tenant_id, id)
     INSERT INTO endpoint_states (tenant_id, id) SELECT tenant_id, id FROM endpoint`,
  ])
  const runs = { without: [] as Measured[], with: [] as Measured[] }
  for (let turn = 0; turn < effort.runs; turn += 1) {
    // In turns, because the tables grow.
    const order = turn % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)
    for (const kind of order) {
      const requests = { changes: changes[kind] }
      const server = await startGatehouse(place)
      const { seconds } = effort
      runs[kind].push(await measureServer(server, { requests, connections, seconds }))
    }
    const rates = [runs.without, runs.with].map((all) => all.at(-1)?.perSecond.toFixed(0))
    console.log(`64 writers: ${rates[0]}/s without endpoints, ${rates[1]}/s with one each`)
  }
  return { without: medianOf(runs.without), with: medianOf(runs.with) }
}
