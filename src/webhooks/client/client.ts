import { type Clock, systemClock } from '#src/runtime/clock.ts'
import { customerError } from '#src/webhooks/delivery/explain.ts'
import { createPools } from './connection.ts'
import { createHostCheck, type HostCheckOptions } from './dns.ts'
import { AttemptError, attemptError } from './errors.ts'
import { type Answer, exchange } from './exchange.ts'
import { readEndpointUrl } from './url.ts'

export type SendRequest = {
  /** As kept; read and judged again at each attempt. */
  url: string
  headers: Readonly<Record<string, string>>
  /** The exact bytes, as text. */
  body: string
}

export type SendResult = {
  /** Of the final answer; null when there was none. */
  statusCode: number | null
  /** The first 2 KiB of the answer as text without NUL; null when there was no answer. */
  responseExcerpt: string | null
  startedAt: Date
  durationMs: number
  /** In words for the customer; null when an answer came to its end, whatever its status. */
  error: string | null
  /** A stable code, `: ` and detail, for the operator; null with `error`. */
  cause: string | null
}

export type Sender = {
  /** One attempt. Never rejects; success is a status of 200 to 299 and no error. */
  send(request: SendRequest): Promise<SendResult>
  /** Attempts under way end as failed; wait for them before. */
  close(): Promise<void>
}

/** `allow` are the exact `host:port` pairs of `OUTBOUND_ALLOW`. */
export type SenderOptions = HostCheckOptions & {
  /** From connect to last byte. The look-up of the name before it has its own limit, 3 s. */
  timeoutMs: number
  clock?: Clock
}

// The connection's own, and what says where a message ends: never from a caller.
const reservedHeaders = ['connection', 'content-length', 'expect', 'host', 'keep-alive'].concat([
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** What every attempt says of itself, beside id, time and signature. */
export const ownHeaders = {
  'content-type': 'application/json',
  'user-agent': 'Gatehouse-Webhooks',
  'accept-encoding': 'identity', // what comes compressed nevertheless is kept as it is
}

/**
 * The one client that calls customers' URLs. Each attempt passes the guard anew: the URL is read,
 * the host checked, and only checked addresses are connected to. Redirects are answers like any
 * other; the proxy settings of the environment are not read.
 */
export function createSender(options: SenderOptions): Sender {
  const { allow, timeoutMs, clock = systemClock } = options
  const checkHost = createHostCheck(options)
  const pools = createPools({ timeoutMs })

  async function attempt({ url: text, headers, body }: SendRequest): Promise<Answer> {
    const read = readEndpointUrl(text, allow)
    if ('refused' in read) throw new AttemptError('blocked', `the URL: ${read.refused}`)
    const { url } = read
    const pool = pools.poolFor(url, await checkHost(url))
    const post = { path: url.pathname + url.search, headers: headersOf(headers), body }
    return exchange(pool, post, timeoutMs)
  }

  return {
    async send(request) {
      const startedAt = clock.now()
      const begun = performance.now()
      const { statusCode, excerpt, failure } = await attempt(request).catch(noAnswer)
      return {
        statusCode,
        responseExcerpt: excerpt,
        startedAt,
        durationMs: Math.round(performance.now() - begun),
        error: failure && customerError(failure.code, failure.message),
        cause: failure && `${failure.code}: ${failure.message}`,
      }
    },
    close: pools.close,
  }
}

function headersOf(given: Readonly<Record<string, string>>): Record<string, string> {
  const named = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const)
  const allowed = named.filter(([name]) => !reservedHeaders.includes(name))
  return { ...Object.fromEntries(allowed), ...ownHeaders }
}

function noAnswer(error: unknown): Answer {
  return { statusCode: null, excerpt: null, failure: attemptError(error) }
}
