import { loopbackHosts } from '#src/config/parse.ts'
import { type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import { readBody } from '#src/runtime/response-body.ts'

export type HttpOptions = {
  /** Without a trailing slash. */
  url: string
  key: string
  headers?: Readonly<Record<string, string>>
  fetch?: typeof globalThis.fetch
  timeoutMs?: number
}

type Call = {
  /** Sent as a form. */
  form?: Readonly<Record<string, string>>
  json?: object
  headers?: Readonly<Record<string, string>>
  /** Bytes of the answer that are read. */
  maxBytes?: number
}

/** The answer to a call; `body` is null if it is not a JSON object. */
export type Answer = { status: number; body: JsonObject | null }

export type Http = (method: 'GET' | 'POST', path: string, call?: Call) => Promise<Answer>

const deadlineMs = 5_000
const objectBytes = 262_144

/**
 * Calls the API of a billing provider with its key as bearer token. Every call has a deadline, and
 * its answer a limit. Redirects are not followed.
 * @throws Error for operators if there is no answer
 */
export function createHttp(options: HttpOptions): Http {
  const { url, key, fetch = globalThis.fetch, timeoutMs = deadlineMs } = options
  return async function http(method, path, call = {}) {
    const { form, json, maxBytes = objectBytes } = call
    const body = form === undefined ? json && JSON.stringify(json) : new URLSearchParams(form)
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          accept: 'application/json',
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...options.headers,
          ...call.headers,
        },
        ...(body !== undefined && { body }),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      const bytes = await readBody(response.body, maxBytes)
      if (bytes === null) throw new Error('the answer is too large')
      return { status: response.status, body: parseJsonObject(bytes.toString('utf8')) }
    } catch (error) {
      throw new Error(`the billing API did not answer (${reasonOf(error)})`, { cause: error })
    }
  }
}

/** For operators. The `cause` of a fetch error carries the code of the socket. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (error.name === 'TimeoutError') return 'timed out'
  const cause = error.cause
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return error.message
}

/** The address of a page to which people are sent; null if it is none. */
export function pageUrl(value: unknown): string | null {
  const url = typeof value === 'string' ? URL.parse(value) : null
  const isLocal = url?.protocol === 'http:' && loopbackHosts.includes(url.hostname) // the demo
  return url?.protocol === 'https:' || isLocal ? String(value) : null
}

// An id becomes a path segment, so characters with a meaning in a URL are refused.
const plainId = /^[A-Za-z0-9_-]{1,255}$/

export function isPlainId(id: string): boolean {
  return plainId.test(id)
}
