import fp from 'fastify-plugin'

/**
 * One line per request when it is answered, and its id in the answer. The query is left out: on
 * the callback it holds the code and the state.
 */
export default fp(
  async function requestLog(app) {
    app.addHook('onRequest', async function tellRequestId(request, reply) {
      reply.header('x-request-id', request.id)
    })
    app.addHook('onResponse', async function logRequest(request, reply) {
      request.log.info(
        {
          method: request.method,
          path: request.url.split('?', 1)[0],
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime * 10) / 10,
        },
        'request',
      )
    })
  },
  { name: 'request-log', fastify: '5.x' },
)
