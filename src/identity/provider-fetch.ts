import { ProviderUnavailable } from './refusal.ts'

export type ProviderRequest = {
  method: string
  headers: Record<string, string>
  body?: URLSearchParams | undefined
}
export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>

const defaultDeadlineMs = 5_000 // sign-in rules, Provider: connect to last byte
const maxBytes = 1024 * 1024 // sign-in rules, Provider: after decompression
const maxRetryAfterSeconds = 3_600
const withoutBody = [204, 205, 304]

/**
 * The one way to a provider: a whole answer within one deadline and one size, redirects not
 * followed. Make it once per provider: oauth4webapi merges key fetches only over the same function.
 * @throws ProviderUnavailable for network faults, late or large answers, 429 and 5xx
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
      return await buffered(response)
    } catch (error) {
      if (error instanceof ProviderUnavailable) throw error
      throw new ProviderUnavailable(deadline.aborted ? 'timeout' : 'network')
    }
  }
}

async function buffered(response: Response): Promise<Response> {
  if (response.status === 429 || response.status >= 500) {
    await response.body?.cancel()
    throw new ProviderUnavailable('server-error', retryAfter(response))
  }
  const { status, headers } = response
  if (withoutBody.includes(status) || response.body === null) {
    return new Response(null, { status, headers })
  }
  return new Response(await readLimited(response.body), { status, headers })
}

async function readLimited(body: ReadableStream<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) throw new ProviderUnavailable('too-large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Seconds of a Retry-After header; its date form is left to the default. */
function retryAfter(response: Response): number | undefined {
  const value = response.headers.get('retry-after') ?? ''
  if (!/^[0-9]{1,9}$/.test(value)) return undefined
  return Math.min(Math.max(Number(value), 1), maxRetryAfterSeconds)
}
