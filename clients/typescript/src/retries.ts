export type RetryOptions = {
  /** Further attempts after the first; 3 by default, 0 for none. */
  max?: number
  /** The longest wait for `Retry-After`, in seconds; 60 by default. A longer one is not waited for. */
  maxWaitSeconds?: number
}

type Send = (request: Request) => Promise<Response>

const firstPauseSeconds = 0.5
const longestPauseSeconds = 8

/**
 * Sends a request again if that is safe and may help:
 * - 429: nothing was done, so any request is sent again, after `Retry-After`.
 * - 502, 503, 504, or no response: something may have been done. Only a request that has no second
 *   effect is sent again: GET, HEAD, PUT, DELETE, and any with an `Idempotency-Key`.
 *
 * Without `Retry-After` the pauses grow: at most 0.5 s, 1 s, 2 s and so on, each of a random length.
 */
export function withRetries(send: Send, { max = 3, maxWaitSeconds = 60 }: RetryOptions = {}): Send {
  return async function sendWithRetries(request) {
    for (let retried = 0; ; retried += 1) {
      const isLast = retried >= max
      // The body of a request can be read only once.
      const attempt = isLast ? request : request.clone()
      const response = await send(attempt).catch((error: unknown) => {
        if (isLast || request.signal.aborted || !isRepeatable(request)) throw error
        return null
      })
      const wait = response === null ? pause(retried) : waitAfter(request, response, retried)
      if (response !== null && (isLast || wait === null || wait > maxWaitSeconds)) return response
      await response?.body?.cancel()
      await sleep(wait ?? 0, request.signal)
    }
  }
}

/** Seconds until the next attempt; null for none. */
function waitAfter(request: Request, response: Response, retried: number): number | null {
  const { status, headers } = response
  const helps = status === 429 || ([502, 503, 504].includes(status) && isRepeatable(request))
  return helps ? (retryAfterSeconds(headers.get('retry-after')) ?? pause(retried)) : null
}

const safeMethods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']

/** Whether the request has no further effect if it is sent again. */
function isRepeatable({ method, headers }: Request): boolean {
  return safeMethods.includes(method) || headers.has('idempotency-key')
}

/** `Retry-After`: seconds or a date (RFC 9110, 10.2.3). */
function retryAfterSeconds(header: string | null): number | null {
  if (header === null) return null
  if (/^\d+$/.test(header)) return Number(header)
  const time = Date.parse(header)
  return Number.isNaN(time) ? null : Math.max(0, (time - Date.now()) / 1_000)
}

function pause(retried: number): number {
  return Math.random() * Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** retried)
}

/** @throws the reason of the signal if it is aborted */
function sleep(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, seconds * 1_000)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
