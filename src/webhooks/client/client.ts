import { type Clock, systemClock } from '#src/runtime/clock.ts'
import { createAddressLimit } from './address-limit.ts'
import { createPools } from './connection.ts'
import { createHostCheck, type HostCheckOptions } from './dns.ts'
import { AttemptError, attemptError, PostponedError } from './errors.ts'
import { type Answer, exchange } from './exchange.ts'
import { customerError } from './explain.ts'
import { createHostBudget, type HostBudget } from './host-budget.ts'
import { ownHeaders, type Sender, type SendRequest, type SendResult } from './sender.ts'
import { isExempt, readEndpointUrl } from './url.ts'

/** `allow`: the exact `host:port` pairs of `OUTBOUND_ALLOW`. */
export type SenderOptions = HostCheckOptions & {
  /** From connect to the last byte. The DNS lookup before it has a limit of its own, 3 s. */
  timeoutMs: number
  /** Attempts in progress at one address (OUTBOUND_PER_ADDRESS). */
  perAddress?: number
  /** Of requests and bytes to each host. */
  budget?: HostBudget
  clock?: Clock
}

// Headers of the connection and of message framing. Callers cannot set them.
const reservedHeaders = ['connection', 'content-length', 'expect', 'host', 'keep-alive'].concat([
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
// A close that crosses the request on its way is known within a round trip. A receiver that closes later has had
// the request, and may have done its work.
const crossingMs = 1_000

/**
 * The only client that calls customers' URLs. Each attempt checks the URL and the host again, and
 * connects only to the addresses it has checked. Redirects are not followed. The proxy settings of
 * the environment are ignored.
 */
export function createSender(options: SenderOptions): Sender {
  const { allow, timeoutMs, perAddress = 100, clock = systemClock } = options
  const checkHost = createHostCheck(options)
  const pools = createPools({ timeoutMs })
  const limit = createAddressLimit(perAddress)
  const budget = options.budget ?? createHostBudget()

  async function attempt({ tenantId, url: text, ...request }: SendRequest): Promise<Sent> {
    const read = readEndpointUrl(text, allow)
    if ('refused' in read) throw new AttemptError('blocked', `the URL: ${read.refused}`)
    const { url } = read
    const { headers, body, pauseMs } = request
    // What the operator has listed is no stranger. A stranger's name servers are not asked either.
    const isStranger = !isExempt(url, allow)
    if (isStranger) budget.require(url.hostname, tenantId)
    const addresses = await checkHost(url)
    if (isStranger) budget.take(url.hostname, tenantId, Buffer.byteLength(body))
    const post = { path: url.pathname + url.search, headers: headersOf(headers), body, pauseMs }
    return limit(addresses, tenantId, async () => {
      const pool = pools.poolFor(url, addresses)
      const isKept = pool.stats.free > 0
      const begun = performance.now()
      const answer = await exchange(pool, post, timeoutMs)
      const tookMs = performance.now() - begun
      const leftMs = timeoutMs - tookMs
      if (!isKept || !isClosedUnanswered(answer) || tookMs > crossingMs || leftMs <= 0) {
        if (isAccepted(answer)) budget.prove(url.hostname)
        return { ...answer, certificateExpiresAt: pools.certificateExpiry(pool) }
      }
      // The receiver closed a kept connection while the request was on its way.
      const fresh = pools.openOnce(url, addresses)
      const again = await exchange(fresh, post, leftMs).finally(() => fresh.destroy())
      if (isAccepted(again)) budget.prove(url.hostname)
      return { ...again, certificateExpiresAt: pools.certificateExpiry(fresh) }
    })
  }

  return {
    async send(request) {
      const startedAt = clock.now()
      const begun = performance.now()
      const sent = await attempt(request).catch(noAnswer)
      const { statusCode, excerpt, retryAfterSeconds, failure, certificateExpiresAt } = sent
      if (failure instanceof PostponedError) throw failure
      return {
        statusCode,
        responseExcerpt: excerpt,
        retryAfterSeconds,
        startedAt,
        durationMs: Math.round(performance.now() - begun),
        error: failure && customerError(failure.code, failure.message),
        cause: failure && `${failure.code}: ${failure.message}`,
        certificateExpiresAt,
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

function isAccepted({ statusCode, failure }: Answer): boolean {
  return failure === null && statusCode !== null && statusCode >= 200 && statusCode < 300
}

function isClosedUnanswered({ hasBegun, failure }: Answer): boolean {
  return !hasBegun && failure instanceof AttemptError && failure.code === 'closed'
}

type Sent = Answer & Pick<SendResult, 'certificateExpiresAt'>

function noAnswer(error: unknown): Sent {
  const failure = attemptError(error)
  const nothing = { statusCode: null, excerpt: null, retryAfterSeconds: null, hasBegun: false }
  return { ...nothing, failure, certificateExpiresAt: null }
}
