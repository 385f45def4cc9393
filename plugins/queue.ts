import fp from 'fastify-plugin'
import type { PgBoss } from 'pg-boss'
import { openQueue } from '#src/queue/queue.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds jobs, which src/worker.ts processes. */
    queue: PgBoss
  }
}

/**
 * The producer side of the job queue, in the application's database.
 * @param connect false for a server that only generates its API description
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
