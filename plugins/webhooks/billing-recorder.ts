import fp from 'fastify-plugin'
import { eventQueue } from '#src/billing/job.ts'
import { createRecorder, type Recorder, recorderLimits } from '#src/billing/record.ts'
import { openRecordStore } from '#src/billing/record-store.ts'
import { announceJob } from '#src/queue/jobs.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Records verified billing events; concurrent requests share one commit. */
    recorder: Recorder
  }
}

/** Opens the recorder on its own connections. Waiting events are recorded before the server closes. */
export default fp<{ url: string }>(
  async function billingRecorder(app, { url }) {
    const { batches, commits, inboxEvents, inboxAge } = app.metrics.billing
    const store = openRecordStore(url, recorderLimits, app.metrics.pools.watch('inbox'))
    const recorder = createRecorder(store, recorderLimits, {
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
