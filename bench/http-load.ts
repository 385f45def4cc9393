import { connect } from 'node:net'
import { type Measured, summarize } from './measured.ts'

export type Target = { url: string; connections: number; seconds: number }

/**
 * Sends requests over each connection, each as soon as the previous response has arrived. Because it
 * shares the machine with the server, it does as little as possible: requests are given as bytes, and
 * only status and length of responses are parsed.
 */
export async function sendLoad(target: Target, nextRequest: () => Buffer): Promise<Measured> {
  const begun = performance.now()
  const end = begun + target.seconds * 1_000
  const times: number[] = []
  let failed = 0
  const answered = (ms: number, status: string) => {
    times.push(ms)
    if (!status.startsWith('20')) failed += 1
    return performance.now() < end
  }
  await Promise.all(
    Array.from({ length: target.connections }, () =>
      converse(new URL(target.url), nextRequest, answered),
    ),
  )
  return summarize(times, (performance.now() - begun) / 1_000, failed)
}

/** One connection; it ends when `answered` returns false. */
function converse(
  { hostname, port }: Pick<URL, 'hostname' | 'port'>,
  nextRequest: () => Buffer,
  answered: (ms: number, status: string) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    let sentAt = 0
    let received = ''
    const send = () => {
      sentAt = performance.now()
      socket.write(nextRequest())
    }
    socket.on('connect', send)
    socket.on('error', reject)
    // A proxy closes a connection with some errors.
    socket.on('end', () => {
      socket.destroy()
      const goesOn = answered(performance.now() - sentAt, 'lost')
      resolve(goesOn ? converse({ hostname, port }, nextRequest, answered) : undefined)
    })
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (!isWhole(received)) return
      const goesOn = answered(performance.now() - sentAt, received.slice(9, 12))
      received = ''
      if (goesOn) send()
      else {
        socket.destroy()
        resolve()
      }
    })
  })
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  if (answer.startsWith('HTTP/1.1 204 ')) return true
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1]
  if (length === undefined) throw new Error(`a response without a length: ${answer.slice(0, 200)}`)
  return answer.length >= headEnd + 4 + Number(length)
}
