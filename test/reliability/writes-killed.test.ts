import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { chosenSeed, randomOf } from '#test/support/models/seeded.ts'
import { type Ask, ask, startInstance } from './instance.ts'

const rounds = 5
const clients = 24
const seed = chosenSeed()

const order = { lineItems: [{ sku: 'GATE', quantity: 1, unitPrice: 900 }], cardLast4: '0042' }
const address = { name: 'Ada', city: 'Bath', postalCode: 'BA1', country: 'GB' }

t.test(
  'kill -9 between packets: what was answered exists once, and nothing else by halves',
  async (t) => {
    t.comment(`TEST_SEED=${seed}`)
    const random = randomOf(seed)
    const database = await createDatabase(t)
    const config = testConfig(database)
    const people = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const user = await createUser(database, { role: 'admin' })
        return { ...user, ...(await signIn({ config, database }, user)) }
      }),
    )
    const sent = new Map<string, number>()
    const created = new Set<string>()
    const changed = new Set<string>()
    for (let round = 0; round < rounds; round += 1) {
      const instance = await startInstance(t, database, { ROLE: 'web' })
      let isKilled = false
      let answers = 0
      const create = async (client: number) => {
        const { cookie, userId } = people[client % people.length] ?? { cookie: '', userId: 0 }
        for (let number = 0; !isKilled; number += 1) {
          const line1 = `${round} ${client} ${number}`
          sent.set(line1, userId)
          const answer = await ask(instance, newOrder(cookie, line1)).catch(() => null)
          if (answer?.status !== 201) continue
          answers += 1
          created.add(line1)
          const { id } = JSON.parse(answer.body)
          const answered = await ask(instance, changedOrder(cookie, id, line1)).catch(() => null)
          if (answered?.status !== 200) continue
          answers += 1
          changed.add(line1)
        }
      }
      const working = Promise.all(Array.from({ length: clients }, (_, client) => create(client)))
      const before = 4 * clients + random(8 * clients)
      try {
        await untilTrue(async () => {
          await wait(random(4))
          return answers >= before
        })
      } finally {
        isKilled = true
      }
      instance.child.kill('SIGKILL')
      await Promise.all([working, instance.ended])
      await until(database, noneConnected)
    }
    const { rows } = await database.admin.query<Kept>(
      `SELECT o.shipping_address ->> 'line1' AS line1, o.user_id, m.user_id IS NOT NULL AS own,
       (o.shipping_address ->> 'city') = 'York' AS changed, (
         SELECT count(*)::int FROM outbound_events e WHERE e.tenant_id = o.tenant_id
           AND e.type = 'order.updated' AND e.body::json -> 'data' ->> 'id' = o.id::text) AS events
     FROM orders o LEFT JOIN memberships m ON m.tenant_id = o.tenant_id AND m.user_id = o.user_id`,
    )
    const kept = new Map(rows.map(({ line1, user_id }) => [line1, Number(user_id)]))
    t.ok(created.size > rounds * clients, `${created.size} of ${sent.size} answered`)
    t.ok(created.size < sent.size, 'some were not answered')
    t.equal(kept.size, rows.length, 'each exists once')
    t.strictSame(
      [...created].filter((line1) => !kept.has(line1)),
      [],
      'what was answered exists',
    )
    t.strictSame(
      [...kept].filter(([line1, userId]) => sent.get(line1) !== userId),
      [],
      'of its person',
    )
    t.ok(
      rows.every(({ own }) => own),
      'in their tenant',
    )
    t.ok(changed.size > 0, `${changed.size} changes answered`)
    const kindOf = new Map(rows.map((row) => [row.line1, row]))
    t.strictSame(
      [...changed].filter((line1) => !kindOf.get(line1)?.changed),
      [],
      'what was answered is changed',
    )
    t.strictSame(
      rows.filter((row) => row.events !== (row.changed ? 1 : 0)),
      [],
      'each change has its event, and nothing else has one',
    )
    for (const { tenantId } of people) {
      await database.admin.query('SELECT add_waiting_usage($1)', [tenantId])
    }
    const { rows: counted } = await database.admin.query(
      `SELECT tenant_id FROM tenant_usage u
     WHERE resource_rows <> (SELECT count(*) FROM orders o WHERE o.tenant_id = u.tenant_id)`,
    )
    t.strictSame(counted, [], 'each is counted once')
  },
)

type Kept = { line1: string; user_id: string; own: boolean; changed: boolean; events: number }

function newOrder(cookie: string, line1: string): Ask {
  const body = JSON.stringify({ ...order, shippingAddress: { ...address, line1 } })
  const headers = { cookie, 'content-type': 'application/json' }
  return { method: 'POST', path: '/orders', headers, body }
}

function changedOrder(cookie: string, id: number, line1: string): Ask {
  const body = JSON.stringify({ shippingAddress: { ...address, line1, city: 'York' } })
  const headers = { cookie, 'content-type': 'application/json' }
  return { method: 'PATCH', path: `/orders/${id}`, headers, body }
}

const noneConnected = `SELECT WHERE NOT EXISTS (
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND usename = 'test_app')`
