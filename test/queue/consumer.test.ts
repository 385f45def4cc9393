import t from 'tap'
import { startConsumer } from '#src/queue/consumer.ts'
import { startDueJobs } from '#src/queue/due-jobs.ts'
import type { EndpointTurnJob } from '#src/queue/queue.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'

const inFlight = 64

t.test(
  'a fetch leaves room, so that a turn that ends soon does not wait for those that last',
  async (t) => {
    const database = await createDatabase(t)
    const queue = await startQueue(t, database, 'worker')
    const jobOf = (endpointId: string) => ({
      data: { tenantId: '', endpointId } satisfies EndpointTurnJob,
      group: { id: endpointId },
      singletonKey: endpointId,
    })
    const lasting = Array.from({ length: inFlight }, (_, n) => jobOf(`lasts ${n}`))
    await queue.insert(endpointTurnQueue, lasting)
    const end = Promise.withResolvers<void>()
    let running = 0
    const full = Promise.withResolvers<void>()
    const inserted = Promise.withResolvers<void>()
    const short = Promise.withResolvers<void>()
    const logger = {
      info() {},
      warn() {},
      error: (facts: object) => t.fail('an error was logged', facts),
    }
    const due = await startDueJobs({ queue, listens: false, logger })
    const consumer = await startConsumer({
      queue,
      due,
      name: endpointTurnQueue,
      limits: { inFlight, stopMs: 0 },
      async fetch(batchSize, room) {
        t.ok(batchSize < room, 'a fetch leaves room')
        // Each fetch takes half of what is left, so without waiting the room could be used up first.
        if (running > 0) await inserted.promise
        return queue.fetch<EndpointTurnJob>(endpointTurnQueue, { batchSize, groupConcurrency: 1 })
      },
      run: (jobs) =>
        jobs.map(async ({ id, data }) => {
          running += 1
          if (running === inFlight / 2) full.resolve()
          if (data.endpointId.startsWith('lasts')) return end.promise
          await queue.deleteJob(endpointTurnQueue, id)
          short.resolve()
        }),
      logger,
    })
    t.teardown(async () => {
      end.resolve()
      await Promise.all([due.stop(), consumer.stop()])
    })
    await full.promise
    await queue.insert(endpointTurnQueue, [{ ...jobOf('is short'), priority: 1 }])
    inserted.resolve()
    await short.promise
  },
)
