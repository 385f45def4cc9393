import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'
import { type buildConnector, Pool } from 'undici'
import { AttemptError, attemptError, handshakeError, timeoutError } from './errors.ts'
import { hostOf } from './url.ts'

export type Peer = {
  /** A name or an address without brackets. */
  host: string
  /** The addresses that the host check allows. */
  addresses: readonly string[]
  timeoutMs: number
  secureContext: SecureContext
  /** Called with the expiry of the peer's certificate after each handshake. */
  onCertificate?: (expiresAt: Date) => void
}

// One address that does not respond must not use up the whole timeout.
const nextAddressMs = 1_000

/**
 * Connects only to the addresses that were checked, without another lookup. The remote address is
 * compared before the first byte is sent, because Node skips the lookup for an IP literal.
 */
export function createConnector(peer: Peer): buildConnector.connector {
  return function connectToPeer({ protocol, port }, callback) {
    const isSecure = protocol === 'https:'
    const signal = AbortSignal.timeout(peer.timeoutMs)
    openSocket(peer, Number(port) || (isSecure ? 443 : 80), signal)
      .then((socket) => (isSecure ? secure(socket, peer, signal) : socket))
      .then(limitReading)
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
    const reached = socket.remoteAddress ?? 'no address'
    if (peer.addresses.includes(reached)) return socket
    throw new AttemptError('blocked', `reached ${reached}, which was not checked`)
  } catch (error) {
    discard(socket)
    throw signal.aborted ? timeoutError(peer.timeoutMs, 'while connecting') : error
  }
}

async function secure(socket: Socket, peer: Peer, signal: AbortSignal): Promise<Socket> {
  const secured = connectTls({
    socket,
    host: peer.host,
    servername: isIP(peer.host) === 0 ? peer.host : '', // RFC 6066, 3: no literals
    secureContext: peer.secureContext,
    rejectUnauthorized: true, // even if NODE_TLS_REJECT_UNAUTHORIZED is 0
    ALPNProtocols: ['http/1.1'],
  })
  try {
    await once(secured, 'secureConnect', { signal })
    const expiresAt = new Date(secured.getPeerCertificate().valid_to)
    if (!Number.isNaN(expiresAt.getTime())) peer.onCertificate?.(expiresAt)
    return secured
  } catch (error) {
    discard(secured)
    throw signal.aborted ? timeoutError(peer.timeoutMs, 'while connecting') : handshakeError(error)
  }
}

/** Destroys a socket. Without a listener, a late `error` event would end the process. */
function discard(socket: Socket): void {
  socket.on('error', () => {}).destroy()
}

// The body (64 KiB) and headers (16 KiB) that are read at most, and framing between them.
const maxRawBytes = 98_304

/** How much of each connection had been parsed when its latest request was sent. */
const parsedBefore = new WeakMap<object, number>()

const socketOf = new WeakMap<object, Socket>()
const begunErrors = new WeakSet<object>()

subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: object; socket: Socket }
  if (!parsedBefore.has(socket)) return
  parsedBefore.set(socket, parsedBytes(socket))
  socketOf.set(request, socket)
})

subscribe('undici:request:error', (message) => {
  const { request, error } = message as { request: object; error: Error }
  const socket = socketOf.get(request)
  if (socket === undefined) return
  if (socket.bytesRead > (parsedBefore.get(socket) ?? 0)) begunErrors.add(error)
})

/** Whether a byte of the response had arrived before the error that a request ended with. */
export function hadBegun(error: Error): boolean {
  return begunErrors.has(error)
}

/**
 * Destroys the connection when the response to one request has more than `maxRawBytes`, whatever
 * they are: the parser reports neither chunk extensions nor the bytes of headers and trailers.
 */
function limitReading(socket: Socket): Socket {
  parsedBefore.set(socket, parsedBytes(socket))
  socket.on('readable', () => {
    const parsed = parsedBytes(socket) - (parsedBefore.get(socket) ?? 0)
    if (parsed <= maxRawBytes) return
    socket.destroy(new AttemptError('broken-answer', `more than ${maxRawBytes} bytes`))
  })
  return socket
}

/** What the parser has taken: the rest waits in the socket's buffer. */
function parsedBytes(socket: Socket): number {
  return socket.bytesRead - socket.readableLength
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

/** Connections that are reused for the same origin and the same addresses. */
export type Pools = {
  /** Call it for each attempt, with the addresses checked for that attempt. */
  poolFor(url: URL, addresses: readonly string[]): Pool
  /** For one request on a connection of its own; the caller destroys it. */
  openOnce(url: URL, addresses: readonly string[]): Pool
  /** The expiry of the certificate in the latest handshake of a pool; null without one. */
  certificateExpiry(pool: Pool): Date | null
  close(): Promise<void>
}

const maxPools = 500
const maxHeaderBytes = 16_384
// Shorter than the idle timeout of common servers, so that few close a connection during a write.
const idleMs = 4_000

/**
 * One pool per origin and set of checked addresses. When a name resolves to other addresses, no
 * attempt reuses a connection to the old ones. Pools close when idle; their number is bounded.
 */
export function createPools({ timeoutMs }: { timeoutMs: number }): Pools {
  const pools = new Map<string, Pool>()
  const secureContext = createSecureContext()
  const expiries = new WeakMap<Pool, Date>()

  function open(url: URL, addresses: readonly string[], key: string): Pool {
    const peer = { host: hostOf(url), addresses, timeoutMs, secureContext }
    const onCertificate = (expiresAt: Date) => expiries.set(pool, expiresAt)
    const pool: Pool = new Pool(url.origin, {
      connect: createConnector({ ...peer, onCertificate }),
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      // `exchange` applies one timeout to the whole attempt.
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
    pool.close().catch(() => {}) // Closed even if this fails.
  }

  return {
    certificateExpiry: (pool) => expiries.get(pool) ?? null,
    openOnce: (url, addresses) => open(url, addresses, ''),
    poolFor(url, addresses) {
      const key = [url.origin, ...addresses.toSorted()].join(' ')
      const pool = pools.get(key) ?? open(url, addresses, key)
      pools.delete(key) // Moves it to the end: a Map iterates in order of insertion.
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
