import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { readRetryAfter } from '#src/http/headers/retry-after.ts'
import { hadBegun } from './connection.ts'
import { AttemptError, attemptError, type PostponedError, timeoutError } from './errors.ts'

export type Answer = {
  statusCode: number | null
  /** The first 2 KiB of the body as text that PostgreSQL accepts; null without a response. */
  excerpt: string | null
  /** As the `Retry-After` of the response says; null without a valid one. */
  retryAfterSeconds: number | null
  /** A byte of a response has arrived. */
  hasBegun: boolean
  /** Null if the response is complete, or longer than is ever read. */
  failure: AttemptError | PostponedError | null
}

type Post = {
  path: string
  headers: Readonly<Record<string, string>>
  body: string
  pauseMs?: number | undefined
}

const maxReadBytes = 65_536
const keptBytes = 2_048
const maxInformational = 8

/** Posts, and reads the response until its end, `maxReadBytes` or the timeout. */
export function exchange(
  dispatcher: Dispatcher,
  { path, headers, body, pauseMs }: Post,
  timeoutMs: number,
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const kept: Buffer[] = []
  let statusCode: number | null = null
  let hasBegun = false
  let retryAfterSeconds: number | null = null
  let bytes = 0
  let informational = 0
  let controller: Dispatcher.DispatchController | null = null
  let hasEnded = false

  function end(failure: Answer['failure']): void {
    if (hasEnded) return
    hasEnded = true
    clearTimeout(timer)
    const excerpt = statusCode === null ? null : textOf(kept)
    resolve({ statusCode, excerpt, retryAfterSeconds, hasBegun, failure })
  }

  /** Ends before the response does, and closes the connection. */
  function cutOff(failure: AttemptError | null): void {
    end(failure)
    controller?.abort(failure ?? new Error('read enough'))
  }

  function stage(): string {
    if (controller === null) return 'while connecting'
    return statusCode === null ? 'waiting for the response' : 'reading the response'
  }

  const timer = setTimeout(() => {
    cutOff(timeoutError(timeoutMs, stage()))
  }, timeoutMs)

  dispatcher.dispatch(
    { method: 'POST', path, ...(pauseMs ? inHalves(headers, body, pauseMs) : { headers, body }) },
    {
      onRequestStart(started) {
        controller = started
        if (hasEnded) started.abort(new Error('timed out'))
      },
      onResponseStart(_controller, status, { date, 'retry-after': retryAfter }) {
        hasBegun = true
        if (status < 200) informational += 1
        else {
          statusCode = status
          retryAfterSeconds = readRetryAfter(retryAfter, date)
        }
        if (informational > maxInformational) {
          cutOff(new AttemptError('broken-answer', 'too many informational responses'))
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
        hasBegun = hadBegun(error)
        // Once connected, the response of the endpoint may cause any error.
        end(attemptError(error, controller === null ? undefined : 'broken-answer'))
      },
    },
  )
  return promise
}

function inHalves(headers: Post['headers'], body: string, pauseMs: number) {
  const bytes = Buffer.from(body)
  const half = Math.floor(bytes.length / 2)
  async function* halves() {
    yield bytes.subarray(0, half)
    await pause(pauseMs)
    yield bytes.subarray(half)
  }
  // With the length the body is not sent in chunks, so that only the pause differs.
  return {
    headers: { ...headers, 'content-length': String(bytes.length) },
    body: Readable.from(halves()),
  }
}

/** Invalid UTF-8 and NUL become U+FFFD. A character cut off at the end is left out. */
function textOf(chunks: readonly Buffer[]): string {
  const text = new TextDecoder().decode(Buffer.concat(chunks), { stream: true })
  return text.replaceAll('\0', '\uFFFD')
}
