import type { Socket } from 'node:net'
import { randomId } from '#src/crypto/hash.ts'
import type { JobLog } from './job-log.ts'

type Answer = { status: number; title: string }

const malformed: Answer = { status: 400, title: 'Bad Request' }
const answers: Readonly<Record<string, Answer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, title: 'Request Timeout' },
  HPE_HEADER_OVERFLOW: { status: 431, title: 'Request Header Fields Too Large' },
}

/**
 * The answer to bytes that never became a request: headers too long, not HTTP, or too slow. It
 * carries an id like every other, and has its line in the log.
 */
export function answerClientError(
  log: Pick<JobLog, 'info'>,
  error: Error & { code?: string },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const answer = answers[error.code ?? ''] ?? malformed
  const id = randomId()
  if (socket.writable) socket.write(writeAnswer(answer, id))
  socket.destroy()
  log.info({ reqId: id, route: 'unknown', status: answer.status, errorCode: error.code }, 'request')
}

function writeAnswer({ status, title }: Answer, id: string): string {
  const body = JSON.stringify({ type: 'about:blank', title, status, instance: id })
  return [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
