import { readRetryAfter } from '#src/http/headers/retry-after.ts'
import { isUntrustedCertificate } from '#src/runtime/certificate-errors.ts'
import { readBody } from '#src/runtime/response-body.ts'
import { ProviderUnavailable } from './errors.ts'

export type ProviderRequest = {
  method: string
  headers: Record<string, string>
  body?: URLSearchParams | undefined
}
export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>

const defaultDeadlineMs = 5_000 // sign-in rules, Provider: from connecting to the last byte
const maxBytes = 1024 * 1024 // sign-in rules, Provider: after decompression
const maxRetryAfterSeconds = 3_600
const withoutBody = [204, 205, 304]

/**
 * Every request to a provider goes through this function. It reads the whole response within a
 * deadline and a size limit and follows no redirects. Create one per provider: oauth4webapi merges
 * concurrent key fetches only if they use the same function.
 * @throws ProviderUnavailable for network errors, late or large responses, 429 and 5xx
 */
export function createProviderFetch(options: {
  fetch?: typeof fetch | undefined
  deadlineMs?: number | undefined
}): ProviderFetch {
  const send = options.fetch ?? fetch
  return async function providerFetch(url, { method, headers, body }) {
    const deadline = AbortSignal.timeout(options.deadlineMs ?? defaultDeadlineMs)
    try {
      const response = await send(url, {
        method,
        headers,
        body: body ?? null,
        redirect: 'manual',
        signal: deadline,
      })
      return await bufferResponse(response)
    } catch (error) {
      if (error instanceof ProviderUnavailable) throw error
      if (deadline.aborted) throw new ProviderUnavailable('timeout')
      if (isUntrustedCertificate(error)) {
        throw new ProviderUnavailable('certificate', undefined, true)
      }
      throw new ProviderUnavailable('network', undefined, isUnsent(error))
    }
  }
}

// Errors before the connection is established, so that nothing was sent.
const unsentCodes = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]

function isUnsent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null
  if (!(cause instanceof Error)) return false
  // One error per address that was tried.
  if (cause instanceof AggregateError) {
    return cause.errors.length > 0 && cause.errors.every(hasUnsentCode)
  }
  return hasUnsentCode(cause)
}

function hasUnsentCode(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return unsentCodes.some((code) => code === error.code)
}

async function bufferResponse(response: Response): Promise<Response> {
  if (response.status === 429 || response.status >= 500) {
    await response.body?.cancel()
    // 504 comes from a gateway: the provider may have received the request.
    if (response.status === 504) throw new ProviderUnavailable('timeout', retryAfter(response))
    throw new ProviderUnavailable('server-error', retryAfter(response))
  }
  const { status, headers } = response
  if (withoutBody.includes(status) || response.body === null) {
    return new Response(null, { status, headers })
  }
  const body = await readBody(response.body, maxBytes)
  if (body === null) throw new ProviderUnavailable('too-large')
  return new Response(body, { status, headers })
}

/** The media type of a response without parameters, in lower case; empty if there is none. */
export function mediaTypeOf(response: Response): string {
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
  return type.trim().toLowerCase()
}

/** Within 1 s and an hour; undefined without a valid header. */
function retryAfter({ headers }: Response): number | undefined {
  const seconds = readRetryAfter(headers.get('retry-after'), headers.get('date'))
  return seconds === null ? undefined : Math.min(Math.max(seconds, 1), maxRetryAfterSeconds)
}
