import fp from 'fastify-plugin'
import type { PgBoss } from 'pg-boss'
import { openQueue } from '#src/queue/queue.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds jobs; they are worked on by src/worker.ts, wherever it runs. */
    queue: PgBoss
  }
}

/**
 * The sending half of the queue, on the same database as the data.
 * @param connect false for a server that only describes itself
 */
export default fp<{ url: string; connect: boolean }>(
  async function queue(app, { url, connect }) {
    const boss = openQueue(url, 'web', (error) => app.log.error({ err: error }, 'queue'))
    if (connect) await boss.start()
    app.decorate('queue', boss)
    app.addHook('onClose', async function closeQueue() {
      await boss.stop({ graceful: false })
    })
  },
  { name: 'queue', fastify: '5.x' },
)
