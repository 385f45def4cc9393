import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { RecordedRequest } from '#dev/testing/receiver.ts'

/**
 * A response that replaces the honest one, whose body is sent if none is given; `hang` never ends
 * the response, `endless` sends without end, `reset` breaks the connection.
 */
export type Answer =
  | { status?: number; headers?: Record<string, string>; body?: string }
  | 'hang'
  | 'endless'
  | 'reset'

/** The client credentials in the form or the header. */
export function clientOf(
  request: RecordedRequest,
  form: URLSearchParams,
): { id: string; secret: string } {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  if (basic === undefined) {
    return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' }
  }
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':')
  const [name = '', password = ''] = [id, secret].map((text) =>
    decodeURIComponent(text.replaceAll('+', ' ')),
  )
  return { id: name, secret: password }
}

/** Sends the given response, or `honest` as JSON. */
export function send(
  response: ServerResponse,
  answer: Answer | undefined,
  honest: unknown,
): unknown {
  if (answer === 'hang') return undefined
  if (answer === 'reset') return response.destroy()
  const json = { 'content-type': 'application/json' }
  if (answer === 'endless') return Readable.from(spaces()).pipe(response.writeHead(200, json))
  return response
    .writeHead(answer?.status ?? 200, { ...json, ...answer?.headers })
    .end(answer?.body ?? JSON.stringify(honest))
}

function* spaces(): Generator<string> {
  for (;;) yield ' '.repeat(65_536)
}
