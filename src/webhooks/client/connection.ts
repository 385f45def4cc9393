import { once } from 'node:events'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'
import { type buildConnector, Pool } from 'undici'
import { AttemptError, attemptError, handshakeError, lateError } from './errors.ts'
import { hostOf } from './url.ts'

export type Peer = {
  /** A name or an address without brackets. */
  host: string
  /** Where the check of the host allows to connect to. */
  addresses: readonly string[]
  timeoutMs: number
  secureContext: SecureContext
}

// One address that does not answer must not use up the attempt.
const nextAddressMs = 1_000

/**
 * Connects to exactly the addresses that were checked: nothing is looked up again. Whom the socket
 * has reached is compared before the first byte, because for a literal no look-up is asked at all.
 */
export function createConnector(peer: Peer): buildConnector.connector {
  return function connectToPeer({ protocol, port }, callback) {
    const isSecure = protocol === 'https:'
    const signal = AbortSignal.timeout(peer.timeoutMs)
    openSocket(peer, Number(port) || (isSecure ? 443 : 80), signal)
      .then((socket) => (isSecure ? secure(socket, peer, signal) : socket))
      .then(
        (socket) => callback(null, socket),
        (error) => callback(attemptError(error), null),
      )
  }
}

async function openSocket(peer: Peer, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({
    host: peer.host,
    port,
    lookup: answering(peer.addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressMs,
    noDelay: true,
    keepAlive: true,
  })
  try {
    await once(socket, 'connect', { signal })
    const reached = socket.remoteAddress ?? 'nobody'
    if (peer.addresses.includes(reached)) return socket
    throw new AttemptError('blocked', `reached ${reached}, which was not checked`)
  } catch (error) {
    discard(socket)
    throw signal.aborted ? lateError(peer.timeoutMs, 'while connecting') : error
  }
}

async function secure(socket: Socket, peer: Peer, signal: AbortSignal): Promise<Socket> {
  const secured = connectTls({
    socket,
    host: peer.host,
    servername: isIP(peer.host) === 0 ? peer.host : '', // RFC 6066, 3: no literals
    secureContext: peer.secureContext,
    rejectUnauthorized: true, // whatever the environment says
    ALPNProtocols: ['http/1.1'],
  })
  try {
    await once(secured, 'secureConnect', { signal })
    return secured
  } catch (error) {
    discard(secured)
    throw signal.aborted ? lateError(peer.timeoutMs, 'while connecting') : handshakeError(error)
  }
}

/** What fails after it was given up is nobody's concern, but without a listener it would throw. */
function discard(socket: Socket): void {
  socket.on('error', () => {}).destroy()
}

function answering(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, callback) => {
    const [first] = all
    if (options.all) callback(null, all)
    else if (first) callback(null, first.address, first.family)
    else callback(new Error('no address'), [])
  }
}

/** Connections kept for the next attempt to the same addresses of the same origin. */
export type Pools = {
  /** Ask again for each attempt, with the addresses checked for it. */
  poolFor(url: URL, addresses: readonly string[]): Pool
  close(): Promise<void>
}

const maxPools = 500
const maxHeaderBytes = 16_384
// Shorter than servers commonly wait, so that none closes a connection while it is written to.
const idleMs = 1_000

/**
 * One pool for every origin and set of checked addresses: once a name answers otherwise, no attempt
 * finds its way back to an old connection. Pools close when idle; their number is bounded.
 */
export function createPools({ timeoutMs }: { timeoutMs: number }): Pools {
  const pools = new Map<string, Pool>()
  const secureContext = createSecureContext()

  function open(url: URL, addresses: readonly string[], key: string): Pool {
    const pool = new Pool(url.origin, {
      connect: createConnector({ host: hostOf(url), addresses, timeoutMs, secureContext }),
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      // The attempt has one deadline of its own, from connect to last byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
    })
    const dropIfIdle = () => {
      const { connected, size } = pool.stats
      if (connected === 0 && size === 0 && pools.get(key) === pool) drop(key, pool)
    }
    return pool.on('disconnect', dropIfIdle).on('connectionError', dropIfIdle)
  }

  function drop(key: string, pool: Pool): void {
    pools.delete(key)
    pool.close().catch(() => {}) // it is closed either way
  }

  return {
    poolFor(url, addresses) {
      const key = [url.origin, ...addresses.toSorted()].join(' ')
      const pool = pools.get(key) ?? open(url, addresses, key)
      pools.delete(key) // put last again, as the youngest
      pools.set(key, pool)
      const [oldest] = pools
      if (pools.size > maxPools && oldest) drop(...oldest)
      return pool
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
      pools.clear()
    },
  }
}
