import type { Dispatcher } from 'undici'
import { AttemptError, attemptError, lateError } from './errors.ts'

export type Answer = {
  statusCode: number | null
  /** The first of the answer as text that PostgreSQL takes; null when there was no answer. */
  excerpt: string | null
  /** Null when the answer is whole, or as much of it as is ever read. */
  failure: AttemptError | null
}

type Post = { path: string; headers: Readonly<Record<string, string>>; body: string }

const maxReadBytes = 65_536
const keptBytes = 2_048
const maxInformational = 8

/** Posts and reads the answer until it ends, has shown enough of itself or is late. */
export function exchange(
  dispatcher: Dispatcher,
  { path, headers, body }: Post,
  timeoutMs: number,
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const kept: Buffer[] = []
  let statusCode: number | null = null
  let bytes = 0
  let informational = 0
  let controller: Dispatcher.DispatchController | null = null
  let isOver = false

  function end(failure: AttemptError | null): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    resolve({ statusCode, excerpt: statusCode === null ? null : textOf(kept), failure })
  }

  /** Ends before the answer does; whatever else it brings goes with the connection. */
  function cutOff(failure: AttemptError | null): void {
    end(failure)
    controller?.abort(failure ?? new Error('enough'))
  }

  function stage(): string {
    if (controller === null) return 'while connecting'
    return statusCode === null ? 'waiting for the answer' : 'reading the answer'
  }

  const timer = setTimeout(() => {
    cutOff(lateError(timeoutMs, stage()))
  }, timeoutMs)

  dispatcher.dispatch(
    { method: 'POST', path, headers, body },
    {
      onRequestStart(started) {
        controller = started
        if (isOver) started.abort(new Error('late'))
      },
      onResponseStart(_controller, status) {
        if (status >= 200) statusCode = status
        else informational += 1
        if (informational > maxInformational) {
          cutOff(new AttemptError('broken-answer', 'too many informational answers'))
        }
      },
      onResponseData(_controller, chunk) {
        if (bytes < keptBytes) kept.push(chunk.subarray(0, keptBytes - bytes))
        bytes += chunk.length
        if (bytes > maxReadBytes) cutOff(null)
      },
      onResponseEnd() {
        end(null)
      },
      onResponseError(_controller, error) {
        end(attemptError(error))
      },
    },
  )
  return promise
}

/** What is no UTF-8 shows as U+FFFD, and so does NUL; a character cut at the end is left out. */
function textOf(chunks: readonly Buffer[]): string {
  const text = new TextDecoder().decode(Buffer.concat(chunks), { stream: true })
  return text.replaceAll('\0', '\uFFFD')
}
