import fp from 'fastify-plugin'
import type { PgBoss } from 'pg-boss'
import type { Limits } from '#src/db/connections/pool-options.ts'
import { type Answers, createAnswers } from '#src/queue/answers.ts'
import { openQueue } from '#src/queue/queue.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds jobs, which src/worker.ts processes. */
    queue: PgBoss
    /** The outputs of jobs that a request waits for. */
    answers: Answers
  }
}

/**
 * The producer side of the job queue, in the application's database.
 * @param connect false for a server that only generates its API description
 */
export default fp<{ url: string; limits?: Partial<Limits>; connect: boolean }>(
  async function queue(app, { url, limits, connect }) {
    const log = (error: Error) => app.log.error({ err: error }, 'queue')
    const boss = openQueue(url, 'web', log, limits)
    if (connect) await boss.start()
    const answers = createAnswers(app.systemDb)
    app.decorate('queue', boss)
    app.decorate('answers', answers)
    app.addHook('onClose', async function closeQueue() {
      answers.close()
      await boss.stop({ graceful: false })
    })
  },
  { name: 'queue', fastify: '5.x', dependencies: ['database'] },
)
