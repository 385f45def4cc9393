import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { endsWithin } from '#src/runtime/timeout.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * From now on every response, including those in progress, has `Connection: close`, so clients
     * reconnect elsewhere and no connection is closed while a client is about to send a request.
     */
    leave(): void
    /**
     * Closes the server and resolves once every request has been answered.
     * @returns false if some requests took too long and were aborted
     */
    endRequests(): Promise<boolean>
  }
}

type Limits = { silentMs?: number; requestsMs?: number }

/**
 * Ends connections and requests in an orderly way before the server stops.
 * @param options `silentMs`: how long a new connection may take to send its first request;
 *   `requestsMs`: how long running requests may take after that, longer than any database timeout
 */
export default fp<Limits>(
  async function gracefulShutdown(app, { silentMs = 1_000, requestsMs = 5_000 }) {
    let isShuttingDown = false
    // Node does not treat a connection without a first request as idle, so close() waits for it.
    const silent = new Set<Socket>()
    app.server.on('connection', (socket: Socket) => {
      silent.add(socket)
      socket.once('close', () => silent.delete(socket))
    })
    const unanswered = new Set<FastifyReply['raw']>()
    app.server.prependListener('request', ({ socket }, response) => {
      silent.delete(socket)
      if (isShuttingDown) response.setHeader('connection', 'close')
      unanswered.add(response)
      response.once('close', () => unanswered.delete(response))
    })

    function leave() {
      isShuttingDown = true
      for (const response of unanswered) {
        if (!response.headersSent) response.setHeader('connection', 'close')
      }
    }
    app.decorate('leave', leave)
    app.decorate('endRequests', async function endRequests() {
      leave()
      if (!app.server.listening) return true
      const closed = once(app.server, 'close')
      app.close().catch((error) => app.log.error({ err: error }, 'closing the server failed'))
      if (await endsWithin(silentMs, closed)) return true
      for (const socket of silent) socket.destroy()
      if (await endsWithin(requestsMs, closed)) return true
      app.server.closeAllConnections()
      return false
    })
  },
  { name: 'graceful-shutdown', fastify: '5.x' },
)
