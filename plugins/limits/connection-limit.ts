import type { Socket } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { proxyList } from '#src/config/proxies.ts'
import { normalizeAddress } from '#src/http/headers/client-address.ts'
import { errorTable, problemType } from '#src/http/problems.ts'

type Options = {
  /** Open connections of this process. */
  max: number
  /** Those from one address, for IPv6 from one /64 prefix. */
  maxPerAddress: number
  /** TRUST_PROXY: these hold the connections of many clients. */
  trustProxy: readonly string[]
}

const retryAfterSeconds = 5

/**
 * Limits open connections, because each costs memory before it has sent anything. Those beyond the
 * limit of an address are answered with 429, those beyond the limit of the process are closed.
 */
export default fp<Options>(
  async function connectionLimit(app, { max, maxPerAddress, trustProxy }) {
    const { connectionsRefused } = app.metrics.http
    const isProxy = proxyList(trustProxy)
    const open = new Map<string, number>()

    app.server.maxConnections = max
    app.server.on('drop', () => connectionsRefused.inc({ limit: 'process' }))
    app.server.on('connection', (socket: Socket) => {
      const peer = normalizeAddress(socket.remoteAddress)
      if (peer === null || isProxy(peer)) return
      const address = normalizeIP(peer)
      const count = (open.get(address) ?? 0) + 1
      open.set(address, count)
      socket.once('close', () => {
        const left = (open.get(address) ?? 0) - 1
        if (left > 0) open.set(address, left)
        else open.delete(address)
      })
      if (count <= maxPerAddress) return
      connectionsRefused.inc({ limit: 'address' })
      refuse(app, socket, maxPerAddress)
    })
  },
  { name: 'connection-limit', fastify: '5.x', dependencies: ['metrics', 'parser-answers'] },
)

function refuse(app: FastifyInstance, socket: Socket, maxPerAddress: number): void {
  const code = 'too-many-requests'
  const { status, title } = errorTable[code]
  app.answerUnparsed(socket, {
    status,
    title,
    type: problemType(code),
    detail: `Your address has ${maxPerAddress} connections open, the most that one address may have.`,
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}
