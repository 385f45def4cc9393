import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'

/**
 * The 404 of a path that does not exist, to the letter the one of an object that does not. It
 * passes the hooks of the scope it is registered in: behind a limit, probing is bounded.
 */
export default fp(
  async function notFound(app) {
    app.setNotFoundHandler(function answerNotFound() {
      throw new Problem('not-found')
    })
  },
  { name: 'not-found', fastify: '5.x', dependencies: ['errors'] },
)
