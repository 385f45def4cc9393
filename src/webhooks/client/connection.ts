import { once } from 'node:events'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import { AttemptError, attemptError, handshakeError, lateError } from './errors.ts'

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
