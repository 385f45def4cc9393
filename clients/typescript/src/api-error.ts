import type { components } from './generated/api.ts'

/** A problem of the API (RFC 9457). Its `type` is the path of a page that explains it. */
export type Problem = components['schemas']['Problem']

/** A response that is an error. */
export class ApiError extends Error {
  readonly response: Response
  readonly status: number
  /** Null if the response is not from the API itself, such as that of a proxy. */
  readonly problem: Problem | null

  constructor(response: Response, body: unknown) {
    const problem = isProblem(body) ? body : null
    super(problem?.detail ?? problem?.title ?? `The server responded with ${response.status}`)
    this.name = 'ApiError'
    this.response = response
    this.status = response.status
    this.problem = problem
  }
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'type' in body && 'instance' in body
}
