import { setTimeout as pause } from 'node:timers/promises'
import { ConfigError } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { readBody } from '#src/runtime/response-body.ts'

/** The HTTP API of a running instance, for commands that act for the holder of a token. */
export type ApiClient = {
  /** The origin of the instance. */
  baseUrl: string
  get<T>(path: string, query?: Query): Promise<T>
  /** @param options `once`: with an Idempotency-Key, so that it may be sent again */
  post<T>(path: string, body?: unknown, options?: { once?: true }): Promise<T>
  patch<T>(path: string, body: unknown): Promise<T>
}

export type Query = Readonly<Record<string, string | undefined>>

/** A page of a list or of the event feed. */
export type Page<Item> = { data: Item[]; nextCursor: string | null }

/** The API refused the request, for a reason that sending it again does not change. */
export class ApiError extends OperatorError {}

/** The instance did not respond, or asked to wait. */
export class ApiUnavailable extends OperatorError {
  readonly waitMs: number

  constructor(message: string, remedy: string, waitMs: number) {
    super(message, remedy)
    this.waitMs = waitMs
  }
}

const deadlineMs = 30_000
const maxBytes = 64 * 1024 * 1024 // a page of 100 events with the largest bodies
const tries = 3
const defaultWaitMs = 1_000
const maxWaitMs = 60_000

/**
 * Reads GATEHOUSE_TOKEN, and the address from GATEHOUSE_URL, BASE_URL or the demo that runs here.
 * @throws ConfigError if one of them is missing
 */
export async function openApiClient(env: Environment): Promise<ApiClient> {
  const faults: string[] = []
  const token = env.GATEHOUSE_TOKEN?.trim()
  if (!token) {
    faults.push(
      'GATEHOUSE_TOKEN: is missing. Create an API token on the account page, or a service token of the tenant.',
    )
  }
  const given = env.GATEHOUSE_URL ?? (await findBaseUrl(env))
  const origin = given === undefined ? null : URL.parse(given)
  if (given === undefined) {
    faults.push('GATEHOUSE_URL: is missing, and no demo runs in this folder.')
  } else if (origin === null || !/^https?:$/.test(origin.protocol)) {
    faults.push('GATEHOUSE_URL: must be an origin like https://app.example.com.')
  }
  if (faults.length > 0 || !token || origin === null) throw new ConfigError(faults)
  return clientOf(origin.origin, token)
}

async function findBaseUrl(env: Environment): Promise<string | undefined> {
  if (env.BASE_URL !== undefined || env.NODE_ENV === 'production') return env.BASE_URL
  const { findRunningDemo, withDemoSettings } = await import('#src/demo/running-demo.ts')
  const running = await findRunningDemo()
  return running === null ? undefined : withDemoSettings(env, running).BASE_URL
}

function clientOf(baseUrl: string, token: string): ApiClient {
  const authorization = `Bearer ${token}`

  async function send<T>(url: URL, init: RequestInit): Promise<T> {
    const response = await request(url, init)
    const body = await readBody(response.body, maxBytes)
    if (body === null) throw new ApiError(`${url.origin} sent too much.`, 'Ask for less at once.')
    if (response.ok) return JSON.parse(body.toString())
    throw toError(response, parseProblem(body.toString()))
  }

  return {
    baseUrl,
    get: (path, query = {}) => {
      const url = new URL(path, baseUrl)
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) url.searchParams.set(name, value)
      }
      return patiently(() => send(url, { headers: { authorization } }))
    },
    post: (path, body, { once } = {}) => {
      const headers = {
        authorization,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(once && { 'idempotency-key': crypto.randomUUID() }),
      }
      const text = body === undefined ? null : JSON.stringify(body)
      const post = () =>
        send<never>(new URL(path, baseUrl), { method: 'POST', headers, body: text })
      return once ? patiently(post) : post()
    },
    patch: (path, body) => {
      const headers = { authorization, 'content-type': 'application/json' }
      const change = { method: 'PATCH', headers, body: JSON.stringify(body) }
      return patiently(() => send(new URL(path, baseUrl), change))
    },
  }
}

/** Tries again while the instance does not respond or asks to wait. */
async function patiently<T>(send: () => Promise<T>): Promise<T> {
  for (let left = tries - 1; ; left--) {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof ApiUnavailable) || left === 0) throw error
      await pause(error.waitMs)
    }
  }
}

async function request(url: URL, init: RequestInit): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(deadlineMs)
    return await fetch(url, { ...init, redirect: 'manual', signal })
  } catch (error) {
    const message = `${url.origin} did not respond: ${reasonOf(error)}.`
    throw new ApiUnavailable(message, 'Is it running there?', defaultWaitMs)
  }
}

/** Why a call of `fetch` failed. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  return cause.message || code
}

type ProblemText = { title: string; detail: string }

function toError({ status, headers }: Response, { title, detail }: ProblemText): OperatorError {
  const message = `${status} ${title}.`
  if (status === 429 || status === 503) {
    const seconds = Number(headers.get('retry-after'))
    const waitMs = seconds > 0 ? Math.min(seconds * 1000, maxWaitMs) : defaultWaitMs
    return new ApiUnavailable(message, detail || 'Try again later.', waitMs)
  }
  const remedies: Readonly<Record<number, string>> = {
    401: 'Is GATEHOUSE_TOKEN a token of this instance that has not expired?',
    403: 'Use a token of a person or service that may do this.',
    404: 'Is the id right, and the token of the same tenant?',
  }
  return new ApiError(message, detail || (remedies[status] ?? ''))
}

function parseProblem(text: string): ProblemText {
  try {
    const { title, detail } = Object(JSON.parse(text))
    return { title: String(title ?? 'Unexpected response'), detail: String(detail ?? '') }
  } catch {
    return { title: 'Unexpected response', detail: '' }
  }
}
