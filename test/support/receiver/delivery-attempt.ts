import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { Test } from 'tap'
import { createSender } from '#src/webhooks/client/client.ts'
import type { SendResult } from '#src/webhooks/client/sender.ts'
import { type RawReceiver, startRawReceiver } from './raw-receiver.ts'

export const shortMs = 800
export const longMs = 20_000

/** Makes attempts, one after another, at a receiver with these responses. */
export async function sendTo(
  t: Test,
  answer: (socket: Socket, count: number) => void,
  { timeoutMs = longMs, times = 1 } = {},
): Promise<{ results: SendResult[]; receiver: RawReceiver }> {
  const receiver = await startRawReceiver(answer)
  const sender = createSender({ allow: [receiver.pair], timeoutMs })
  t.teardown(async () => {
    await sender.close()
    await receiver.close()
  })
  const results: SendResult[] = []
  for (let sent = 0; sent < times; sent += 1) {
    const headers = { 'webhook-id': `msg_${sent}` }
    await setImmediate() // so that the connection of the attempt before is free again
    results.push(
      await sender.send({ tenantId: null, url: receiver.url, headers, body: '{"a":"ü"}' }),
    )
  }
  return { results, receiver }
}

export const write = (text: string | Buffer) => (socket: Socket) => socket.write(text)
export const whole = (body: string | Buffer, head = 'HTTP/1.1 200 OK') =>
  Buffer.concat([
    Buffer.from(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`),
    Buffer.from(body),
  ])

/** Waits until the first connection is closed. */
export async function closed({ connections: [socket] }: RawReceiver): Promise<void> {
  if (!socket || socket.closed) return
  await new Promise((resolve) => socket.on('close', resolve))
}
