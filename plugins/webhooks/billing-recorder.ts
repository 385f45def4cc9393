import fp from 'fastify-plugin'
import { eventQueue } from '#src/billing/job.ts'
import {
  createRecorder,
  type Recorder,
  type RecorderLimits,
  recorderLimits,
} from '#src/billing/record.ts'
import { openRecordStore, type StoreLimits } from '#src/billing/record-store.ts'
import { announceJob } from '#src/queue/jobs.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Records verified billing events; concurrent requests share one commit. */
    recorder: Recorder
  }
}

type Options = { url: string; limits?: Partial<RecorderLimits & StoreLimits> | undefined }

/** Opens the recorder on its own connections. Waiting events are recorded before the server closes. */
export default fp<Options>(
  async function billingRecorder(app, { url, ...options }) {
    const limits = { ...recorderLimits, ...options.limits }
    const { batches, commits, inboxEvents, inboxAge } = app.metrics.billing
    const store = openRecordStore(url, limits, app.metrics.pools.watch('inbox'))
    const recorder = createRecorder(store, limits, {
      batch(events, seconds) {
        batches.observe(events)
        commits.observe(seconds)
        announceJob(app.systemDb, eventQueue)
      },
    })
    inboxEvents.readFrom(() => recorder.waiting().events)
    inboxAge.readFrom(() => recorder.waiting().seconds)
    app.decorate('recorder', recorder)
    app.addHook('onClose', async function closeRecorder() {
      await recorder.close()
      await store.close()
    })
  },
  { name: 'billing-recorder', fastify: '5.x', dependencies: ['metrics', 'database'] },
)
