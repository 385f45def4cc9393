import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { startConsumer } from '#src/queue/consumer.ts'
import type { DeliverJob } from '#src/queue/queue.ts'
import { deliverQueue } from '#src/webhooks/delivery/job.ts'
import { deliverLimits, fetchDeliveries } from '#src/webhooks/delivery/worker.ts'
import { createDatabase } from '#test/support/helper.ts'
import { startQueue } from '#test/support/running-worker.ts'

const hangingEndpoints = 48

t.test('endpoints that hang, however many, always leave room for one that responds', async (t) => {
  const database = await createDatabase(t)
  const queue = await startQueue(t, database, 'worker')
  const jobOf = (endpointId: string) => ({
    data: { tenantId: '', deliveryId: endpointId, series: 0, number: 1 } satisfies DeliverJob,
    group: { id: endpointId },
  })
  for (let endpoint = 0; endpoint < hangingEndpoints; endpoint++) {
    const jobs = Array.from({ length: 40 }, () => jobOf(`hangs ${endpoint}`))
    await queue.insert(deliverQueue, jobs)
  }
  const hanging = Promise.withResolvers<void>()
  let running = 0
  const idle = Promise.withResolvers<void>()
  let healthy = Promise.withResolvers<void>()
  const consumer = await startConsumer({
    queue,
    name: deliverQueue,
    channel: null,
    limits: { ...deliverLimits, stopMs: 0 },
    async fetch(batchSize, room) {
      t.ok(batchSize < room, 'a fetch leaves room')
      const jobs = await fetchDeliveries(queue, batchSize, room)
      if (jobs.length === 0) idle.resolve()
      return jobs
    },
    run: (jobs) =>
      jobs.map(async ({ id, data }) => {
        running += 1
        if (data.deliveryId.startsWith('hangs')) return hanging.promise
        await queue.deleteJob(deliverQueue, id)
        healthy.resolve()
      }),
    logger: { info() {}, warn() {}, error: (facts) => t.fail('an error was logged', facts) },
  })
  t.teardown(async () => {
    hanging.resolve()
    await consumer.stop()
  })
  await idle.promise
  t.ok(running > deliverLimits.inFlight / 2, 'most of the room is used')
  t.ok(running < deliverLimits.inFlight)
  for (let n = 0; n < 3; n++) {
    healthy = Promise.withResolvers()
    await queue.insert(deliverQueue, [jobOf('responds')])
    consumer.wake()
    await healthy.promise
    await nextTurn()
  }
})
