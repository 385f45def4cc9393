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

type Connection = {
  /** It has not sent its first request, so Node does not treat it as idle and close() waits for it. */
  isSilent: boolean
  /**
   * Responses in progress: one, or several to pipelined requests. They are not in a set of all connections:
   * a set that gains and loses entries all the time is copied often, and an old copy keeps its entries and the
   * next copy alive until a full garbage collection. That cost a fifth of a read's CPU time.
   */
  readonly unanswered: FastifyReply['raw'][]
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
    const connections = new Map<Socket, Connection>()
    app.server.on('connection', (socket: Socket) => {
      connections.set(socket, { isSilent: true, unanswered: [] })
      socket.once('close', () => connections.delete(socket))
    })
    app.server.prependListener('request', (request, response) => {
      if (isShuttingDown) response.setHeader('connection', 'close')
      const connection = connections.get(request.socket)
      if (connection === undefined) return
      connection.isSilent = false
      connection.unanswered.push(response)
      response.on('close', forget)
    })

    function forget(this: FastifyReply['raw']): void {
      const { unanswered = [] } = connections.get(this.req.socket) ?? {}
      unanswered.splice(unanswered.indexOf(this), 1)
    }

    function leave() {
      isShuttingDown = true
      for (const response of [...connections.values()].flatMap(({ unanswered }) => unanswered)) {
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
      for (const [socket, { isSilent }] of connections) if (isSilent) socket.destroy()
      if (await endsWithin(requestsMs, closed)) return true
      app.server.closeAllConnections()
      return false
    })
  },
  { name: 'graceful-shutdown', fastify: '5.x' },
)
