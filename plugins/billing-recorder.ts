import fp from 'fastify-plugin'
import { createInbox, type Inbox, inboxLimits } from '#src/billing/record.ts'
import { openInboxStore } from '#src/billing/record-store.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Records verified billing events; those that arrive together share a commit. */
    inbox: Inbox
  }
}

/** The inbox on connections of its own; what waits in it is recorded before the server ends. */
export default fp<{ url: string }>(
  async function inbox(app, { url }) {
    const { batches, commits, inboxEvents, inboxAge } = app.metrics.billing
    const store = openInboxStore(url, app.queue, inboxLimits, app.metrics.pools.watch('inbox'))
    const inbox = createInbox(store, inboxLimits, {
      batch(events, seconds) {
        batches.observe(events)
        commits.observe(seconds)
        const waiting = inbox.waiting()
        inboxEvents.set(waiting.events)
        inboxAge.set(waiting.seconds)
      },
    })
    app.decorate('inbox', inbox)
    app.addHook('onClose', async function closeInbox() {
      await inbox.close()
      await store.close()
    })
  },
  { name: 'inbox', fastify: '5.x', dependencies: ['queue', 'metrics'] },
)
