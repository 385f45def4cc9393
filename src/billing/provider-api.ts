import { type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import { readBody } from '#src/runtime/response-body.ts'

/** An object as the provider has it now; or it is gone for good; or the provider knows of none. */
export type ProviderState = JsonObject | 'gone' | 'unknown'

export type ProviderApi = { findSubscription(id: string): Promise<ProviderState> }

type Options = {
  /** Without a trailing slash. */
  url: string
  key: string
  fetch?: typeof globalThis.fetch
  timeoutMs?: number
}

const deadlineMs = 5_000
const maxBytes = 262_144
// An id is put into a path, so nothing that means something there.
const plainId = /^[A-Za-z0-9_-]{1,255}$/

/**
 * The billing provider's API: `GET {url}/subscriptions/{id}` with `Authorization: Bearer {key}`
 * answers 200 with the object as JSON, its `id` included; 404 when it knows none (yet), 410 when
 * it is gone for good. Anything else is an error and worth another try. No redirect is followed.
 */
export function createProviderApi(options: Options): ProviderApi {
  const { url, key, fetch = globalThis.fetch, timeoutMs = deadlineMs } = options
  return {
    async findSubscription(id) {
      if (!plainId.test(id)) return 'unknown'
      const response = await fetch(`${url}/subscriptions/${id}`, {
        headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      }).catch((error) => {
        throw new Error(`the billing API did not answer (${reasonOf(error)})`, { cause: error })
      })
      if (response.status === 200) return readObject(response, id)
      await response.body?.cancel()
      if (response.status === 404) return 'unknown'
      if (response.status === 410) return 'gone'
      throw new Error(`the billing API answered ${response.status}`)
    },
  }
}

async function readObject(response: Response, id: string): Promise<JsonObject> {
  const object = parseJsonObject(await readText(response))
  if (object?.id !== id) throw new Error('the billing API answered with something else')
  return object
}

async function readText(response: Response): Promise<string> {
  try {
    const body = await readBody(response.body, maxBytes)
    if (body === null) throw new Error('its answer is too large')
    return body.toString('utf8')
  } catch (error) {
    throw new Error(`the billing API did not answer (${reasonOf(error)})`, { cause: error })
  }
}

/** Said to operators; the causes of fetch carry the code of the socket. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (error.name === 'TimeoutError') return 'timed out'
  const cause = error.cause
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return error.message
}
