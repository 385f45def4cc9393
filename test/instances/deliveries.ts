import type { Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { until } from '#test/support/database/until.ts'
import type { Instances } from './instances.ts'

const changes = 20
const shippingAddress = {
  name: 'Ada',
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}

type Answered = { id: string; data: unknown[] }

/** Any web process creates and shows deliveries; each attempt is made by one of the two workers. */
export async function deliverOnce(t: Test, instances: Instances): Promise<void> {
  const { ask, database, newSession, receiver } = instances
  const user = await createUser(database, { role: 'admin' })
  const session = await newSession(user)
  const send = async (web: 0 | 1, method: string, path: string, body?: object) => {
    const headers = { ...session, ...(body && { 'content-type': 'application/json' }) }
    const payload = body && { body: JSON.stringify(body) }
    const answer = await ask(web, path, { method, headers, ...payload })
    return { status: answer.status, body: (await answer.json()) as Answered }
  }
  const made = await send(0, 'POST', '/webhook-endpoints', { url: `${receiver.url}/hook` })
  t.equal(made.status, 201)
  const endpoint = `/webhook-endpoints/${made.body.id}`
  const orderId = await createOrder(database, user)

  // One request per process at a time: a busy machine would refuse more.
  for (let made = 0; made < changes; made += 2) {
    const both = ([0, 1] as const).map((web) =>
      send(web, 'PATCH', `/orders/${orderId}`, { shippingAddress }),
    )
    t.match(await Promise.all(both), [{ status: 200 }, { status: 200 }])
  }
  const first = await arrived()
  t.equal(new Set(first).size, changes, 'each event once')
  await settled()
  t.same(await attempts(), [{ series: 0, number: 1, made: changes }])
  const lists = await Promise.all([
    send(0, 'GET', `${endpoint}/deliveries?limit=100`),
    send(1, 'GET', `${endpoint}/deliveries?limit=100`),
  ])
  t.equal(lists[0].body.data.length, changes)
  t.same(lists[0].body, lists[1].body, 'both show the same')

  const from = new Date(Date.now() - 3_600_000).toISOString()
  const to = new Date(Date.now() + 60_000).toISOString()
  const asked = await send(1, 'POST', `${endpoint}/replay`, { from, to })
  t.equal(asked.status, 202)
  t.same((await arrived()).toSorted(), first.toSorted(), 'each event once again')
  await settled()
  t.same(await attempts(), [
    { series: 0, number: 1, made: changes },
    { series: 1, number: 1, made: changes },
  ])
  await until(database, 'SELECT FROM endpoint_replays HAVING every(finished_at IS NOT NULL)')
  for (const web of [0, 1] as const) {
    const { body } = await send(web, 'GET', `${endpoint}/replays/${asked.body.id}`)
    t.match(body, { total: changes, done: changes })
  }
  t.equal(receiver.requests.length, 2 * changes, 'and nothing else arrived')

  /** The ids of the next deliveries, one for each change. */
  async function arrived(): Promise<string[]> {
    const requests = await Promise.all(Array.from({ length: changes }, () => receiver.next()))
    return requests.map(({ headers }) => String(headers['webhook-id']))
  }

  function settled(): Promise<void> {
    return until(
      database,
      `SELECT FROM deliveries WHERE tenant_id = '${user.tenantId}'
       HAVING every(status = 'succeeded')`,
    )
  }

  async function attempts(): Promise<unknown[]> {
    const { rows } = await database.admin.query(
      `SELECT series, number, count(*)::int AS made FROM delivery_attempts
       WHERE tenant_id = $1 GROUP BY series, number ORDER BY series, number`,
      [user.tenantId],
    )
    return rows
  }
}
