import { negotiate } from '@fastify/accept-negotiator'
import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { isBearer } from '#src/auth/sessions/enter.ts'
import { isKnown } from '#src/http/headers/etag.ts'
import { withVary } from '#src/http/headers/vary.ts'
import {
  compress,
  type Encoding,
  encodings,
  forOneResponse,
  type PublicDocument,
} from '#src/http/public-document.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Sends a document that is the same for everyone; 304 if the client has it already.
     * @param keep how long it may be reused: a `year` only if its address changes with its bytes
     */
    sendDocument(document: PublicDocument, keep?: Keep): Promise<FastifyReply>
  }
}

type Keep = 'minutes' | 'year'

const cacheControl: Readonly<Record<Keep, string>> = {
  minutes: 'public, max-age=300',
  year: 'public, max-age=31536000, immutable',
}
// Below it, the headers and the work cost more than the bytes that are saved.
const minCompressedLength = 1_024
const readMethods = ['GET', 'HEAD']

/**
 * Compresses what holds no secret that another site could guess from its compressed length (BREACH):
 * public documents, and JSON read with an API token, because no other site can make a browser send
 * one. Pages and responses to a session are never compressed, nor are event streams.
 */
export default fp(
  async function compression(app) {
    app.decorateReply('sendDocument', sendDocument)
    app.addHook('onRoute', compressReads)
  },
  { name: 'compression', fastify: '5.x' },
)

/** A response with a tag is left as it is, because its tag is that of these bytes. */
function compressReads(route: RouteOptions): void {
  const { config, method, schema } = route
  const takesToken = typeof config?.access === 'object' && schema?.hide !== true
  const isRead = [method].flat().some((one) => readMethods.includes(one))
  if (!takesToken || !isRead || config?.versioned) return
  route.onSend = [compressJson, ...[route.onSend ?? []].flat()]
}

async function sendDocument(
  this: FastifyReply,
  document: PublicDocument,
  keep: Keep = 'minutes',
): Promise<FastifyReply> {
  const encoding = encodingFor(this.request)
  const { body, etag } = await document.variant(encoding)
  this.header('vary', withVary(this.getHeader('vary'), 'accept-encoding'))
  this.header('cache-control', cacheControl[keep]).header('etag', etag)
  if (isKnown(this.request.headers['if-none-match'], etag)) return this.code(304).send()
  if (encoding !== null) this.header('content-encoding', encoding)
  return this.type(document.type).send(body)
}

function compressJson(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  if (!isCompressible(request, reply, payload)) {
    done(null, payload)
    return
  }
  reply.header('vary', withVary(reply.getHeader('vary'), 'accept-encoding'))
  const encoding = encodingFor(request)
  if (encoding === null || payload.length < minCompressedLength) {
    done(null, payload)
    return
  }
  compress(encoding, payload, forOneResponse).then(
    (compressed) => {
      reply.header('content-encoding', encoding)
      done(null, compressed)
    },
    (error) => done(error),
  )
}

function isCompressible(
  { credential }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): payload is string {
  if (!isBearer(credential)) return false
  const isJson = String(reply.getHeader('content-type')).startsWith('application/json')
  return isJson && typeof payload === 'string' && !reply.hasHeader('etag')
}

function encodingFor({ headers }: FastifyRequest): Encoding | null {
  const accepted = String(headers['accept-encoding'] ?? '').toLowerCase()
  const chosen = negotiate(accepted, [...encodings])
  return encodings.find((encoding) => encoding === chosen) ?? null
}
