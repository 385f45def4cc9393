import { once } from 'node:events'
import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { endsWithin } from '#src/runtime/timeout.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * From now on every answer, those under way included, ends its connection. Told so, a client
     * opens its next connection elsewhere, and none is closed under a request it is about to send.
     */
    leave(): void
    /**
     * Closes the server and resolves once every request is answered.
     * @returns false when some took too long and were cut
     */
    endRequests(): Promise<boolean>
  }
}

type Limits = { silentMs?: number; requestsMs?: number }

/**
 * What lets clients and balancers go before the server stops.
 * @param options `silentMs`: how long a connection that was made just before may still take to
 *   bring its request; `requestsMs`: how long requests may then take, more than anything here may
 *   wait for the database
 */
export default fp<Limits>(
  async function gracefulShutdown(app, { silentMs = 1_000, requestsMs = 5_000 }) {
    let isShuttingDown = false
    // To Node a connection without a request yet is not idle, so closing the server waits for it.
    const silent = new Set<Socket>()
    app.server.on('connection', (socket: Socket) => {
      silent.add(socket)
      socket.once('close', () => silent.delete(socket))
    })
    app.server.on('request', ({ socket }) => silent.delete(socket))

    app.addHook('onSend', function tellToLeave(_request, reply, _payload, done) {
      if (isShuttingDown) reply.header('connection', 'close')
      done()
    })
    app.decorate('leave', function leave() {
      isShuttingDown = true
    })
    app.decorate('endRequests', async function endRequests() {
      isShuttingDown = true
      if (!app.server.listening) return true
      const closed = once(app.server, 'close')
      app.close().catch((error) => app.log.error({ err: error }, 'the server did not close well'))
      if (await endsWithin(silentMs, closed)) return true
      for (const socket of silent) socket.destroy()
      if (await endsWithin(requestsMs, closed)) return true
      app.server.closeAllConnections()
      return false
    })
  },
  { name: 'graceful-shutdown', fastify: '5.x' },
)
