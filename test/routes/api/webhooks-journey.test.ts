import t from 'tap'
import { startReceiver } from '#dev/testing/receiver.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { build } from '#test/support/app/app.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { untilInFeed } from '#test/support/receiver/until-in-feed.ts'

const shippingAddress = {
  name: 'Ada Okafor',
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}

t.test('a change is delivered, delivered again by a replay, and in the feed', async (t) => {
  const receiver = await startReceiver()
  const settings = { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` }
  const { test, one, send } = await twoAdmins(await build(t, settings))
  const worker = await startWorker(test.config, createLogger('silent'))
  t.teardown(async () => {
    await worker.stop()
    await receiver.close()
  })
  const from = new Date(Date.now() - 60_000).toISOString()
  const to = new Date(Date.now() + 60_000).toISOString()
  const orderId = await createOrder(test.database, one)
  const made = await send('POST', '/webhook-endpoints', { url: `${receiver.url}/hook` })
  const endpoint = `/webhook-endpoints/${made.json().id}`

  t.equal((await send('PATCH', `/orders/${orderId}`, { shippingAddress })).statusCode, 200)
  const first = await receiver.next()
  const eventId = first.headers['webhook-id']
  const delivery = await settled()
  t.match(delivery, { eventId, status: 'succeeded', attempts: [{ series: 0, number: 1 }] })

  t.equal((await send('POST', `/deliveries/${delivery.id}/replay`)).statusCode, 202)
  const again = await receiver.next()
  t.equal(again.headers['webhook-id'], eventId)
  t.equal(again.body.toString(), first.body.toString())
  t.match((await settled()).attempts[1], { series: 1, number: 1, statusCode: 204 })

  const asked = await send('POST', `${endpoint}/replay`, { from, to })
  t.equal((await receiver.next()).headers['webhook-id'], eventId)
  let replay = asked.json()
  await untilTrue(async () => {
    replay = (await send('GET', String(asked.headers.location))).json()
    return replay.finishedAt !== null
  })
  t.match(replay, { total: 1, done: 1 })
  t.match((await settled()).attempts[2], { series: 2, number: 1, statusCode: 204 })

  await untilInFeed(test.database)
  const feed = (await send('GET', '/events')).json()
  t.strictSame(feed.data, [JSON.parse(first.body.toString())])

  /** The only delivery, once it has ended. */
  async function settled() {
    for (;;) {
      const { data } = (await send('GET', `${endpoint}/deliveries`)).json()
      if (data[0].status !== 'pending') return data[0]
    }
  }
})
