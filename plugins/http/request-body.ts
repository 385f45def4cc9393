import { finished } from 'node:stream'
import type {
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  RequestPayload,
  RouteOptions,
} from 'fastify'
import fp from 'fastify-plugin'
import { isForm } from '#src/http/headers/media-type.ts'
import { Problem } from '#src/http/problems.ts'
import { hasBody, isEncodedBody } from '#src/http/request-body.ts'

// Fastify does not read a body of theirs.
const withoutBody = ['GET', 'HEAD']

/**
 * What holds for the bodies of all requests. An empty body is no body: generated clients send a
 * `Content-Type` with every DELETE and POST. A compressed body is 415 before any of it is read,
 * because no parser here decompresses.
 */
export default fp(
  async function requestBody(app) {
    app.removeContentTypeParser('text/plain')
    const parseJson = app.getDefaultJsonParser('error', 'error')
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
      if (body === '') done(null, undefined)
      else {
        parseJson(request, String(body), (error, value) =>
          done(error === null ? null : (syntaxFault(String(body)) ?? error), value),
        )
      }
    })
    app.addContentTypeParser('*', refuseBytes)
    app.addHook('onRoute', function readBody(route: RouteOptions) {
      if ([route.method].flat().every((method) => withoutBody.includes(method))) return
      route.onRequest = [...[route.onRequest ?? []].flat(), ignoreTypeOfNothing]
      route.preParsing = [...[route.preParsing ?? []].flat(), refuseEncodedBody]
    })
  },
  { name: 'request-body', fastify: '5.x' },
)

/**
 * Why a text is not JSON, as far as V8 says it: the place, or else the character that is not expected. Its message
 * also has a part of the text, which is not repeated. Null if it is JSON.
 */
function syntaxFault(text: string): Problem | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(String(error)) ?? []
    const [, token] = /Unexpected token '(.)'/u.exec(String(error)) ?? []
    const place =
      line === undefined ? `“${token ?? ''}” is not expected` : `see line ${line}, column ${column}`
    const isKnown = line !== undefined || token !== undefined
    const detail = isKnown
      ? `The body is not JSON: ${place}.`
      : 'The body is not JSON: it ends early.'
    return new Problem('malformed', { detail })
  }
}

/** An empty form is still a form: its sender is answered with a page. */
function ignoreTypeOfNothing(
  { raw: { headers } }: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  if (!hasBody(headers) && !isForm(headers['content-type'])) delete headers['content-type']
  done()
}

/** A body of a type that no parser knows, or of none. Only a chunked one can still be empty. */
function refuseBytes(
  { headers }: FastifyRequest,
  payload: RequestPayload,
  done: (error: Error | null) => void,
): void {
  const refusal = new Problem('unsupported-media-type')
  if (headers['transfer-encoding'] === undefined) {
    done(refusal)
    return
  }
  let isEmpty = true
  payload.once('data', () => {
    isEmpty = false
    done(refusal)
  })
  finished(payload, (error) => {
    if (isEmpty) done(error ?? null)
  })
}

const refuseEncodedBody: Extract<RouteOptions['preParsing'], (...args: never[]) => void> =
  function refuseEncodedBody({ headers }, reply, payload, done) {
    if (!isEncodedBody(headers)) {
      done(null, payload)
      return
    }
    reply.header('accept-encoding', 'identity')
    const detail = 'Bodies are not decompressed: send it without Content-Encoding.'
    done(new Problem('unsupported-media-type', { detail }))
  }
