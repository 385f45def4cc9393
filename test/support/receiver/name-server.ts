import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Answer, type DecodedPacket, decode, encode, streamEncode } from 'dns-packet'

type Question = { name: string; type: string }

/** Records, a response code, or no response. */
export type NameAnswer =
  | { records: readonly Answer[] }
  | { rcode: 'SERVFAIL' | 'NXDOMAIN' | 'REFUSED' }
  | { silent: true }
  | { overTcp: readonly Answer[] }

export type NameServer = {
  /** The `servers` option of `createResolve`. */
  address: string
  /** All queries so far, oldest first. */
  questions: readonly Question[]
  close(): Promise<void>
}

const rcodes = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 }
const truncated = 0x0200

/** Shorthand for records of one name. */
export function records(name: string, addresses: readonly string[]): readonly Answer[] {
  return addresses.map((data) => ({ name, type: data.includes(':') ? 'AAAA' : 'A', ttl: 60, data }))
}

/** A name server on loopback, UDP and TCP, that responds to each query with `answer`. */
export async function startNameServer(
  answer: (question: Question, count: number) => NameAnswer,
): Promise<NameServer> {
  const questions: Question[] = []
  const { tcp, udp, port } = await listenAtOnePort()

  function replyTo(packet: DecodedPacket, isTcp: boolean) {
    const [asked] = packet.questions ?? []
    if (!asked) return null
    const question = { name: asked.name, type: String(asked.type) }
    const reply = answer(question, questions.filter(({ name }) => name === asked.name).length)
    questions.push(question)
    if ('silent' in reply) return null
    const flags =
      'rcode' in reply ? rcodes[reply.rcode] : 'overTcp' in reply && !isTcp ? truncated : 0
    const all =
      'records' in reply ? reply.records : 'overTcp' in reply && isTcp ? reply.overTcp : []
    const fitting = all.filter(({ type }) => type === asked.type || type === 'CNAME')
    return {
      type: 'response' as const,
      id: packet.id ?? 0,
      flags,
      questions: [asked],
      answers: fitting,
    }
  }

  udp.on('message', (message, from) => {
    const reply = replyTo(decode(message), false)
    if (reply !== null) udp.send(encode(reply), from.port, from.address)
  })
  const open = new Set<Socket>()
  tcp.on('connection', (socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      const reply = replyTo(decode(data.subarray(2)), true)
      if (reply !== null) socket.write(streamEncode(reply))
    })
  })

  return {
    address: `127.0.0.1:${port}`,
    questions,
    async close() {
      for (const socket of open) socket.destroy()
      tcp.close()
      udp.close()
      await Promise.all([once(tcp, 'close'), once(udp, 'close')])
    },
  }
}

/** The system gives a port of TCP; another process may have the same port of UDP. */
async function listenAtOnePort() {
  for (let tries = 1; ; tries += 1) {
    const tcp = createServer()
    tcp.listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    try {
      udp.bind(port, '127.0.0.1')
      await once(udp, 'listening')
      return { tcp, udp, port }
    } catch (error) {
      tcp.close()
      if (tries === 10) throw error
    }
  }
}
