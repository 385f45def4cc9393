import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'

/**
 * The 404 for an unknown path, byte for byte the 404 for an object that does not exist. It runs the
 * hooks of its scope, so that a rate limit applies to probing.
 */
export default fp(
  async function notFound(app) {
    app.setNotFoundHandler(function answerNotFound() {
      throw new Problem('not-found')
    })
  },
  { name: 'not-found', fastify: '5.x', dependencies: ['errors'] },
)
