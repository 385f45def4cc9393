import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '#src/crypto/hash.ts'
import { referencePage } from '#src/pages/reference.ts'

// The same for everyone, until the next release.
const cached = 'public, max-age=300'
const open = { config: { access: 'public' }, schema: { hide: true } } as const

type Document = { type: string; body: Buffer; etag: string }

/**
 * The OpenAPI description, generated from the route schemas, as JSON and as a page. Each is rendered
 * at its first request, because all routes are known only then, and sent from memory afterwards.
 */
const openapi: FastifyPluginAsync = async function openapi(app) {
  const description = once(() =>
    toDocument('application/json; charset=utf-8', JSON.stringify(app.describeApi())),
  )
  const reference = once(() =>
    toDocument('text/html; charset=utf-8', referencePage(app.describeApi())),
  )
  app.get('/openapi.json', open, async (request, reply) => send(request, reply, description()))
  app.get('/docs', open, async (request, reply) => send(request, reply, reference()))
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

function toDocument(type: string, text: string): Document {
  const body = Buffer.from(text)
  return { type, body, etag: `"${sha256(body).toString('base64url').slice(0, 22)}"` }
}

/** 304 without a body where the client has it already (RFC 9110, 13.1.2). */
function send(request: FastifyRequest, reply: FastifyReply, { type, body, etag }: Document) {
  reply.header('cache-control', cached).header('etag', etag)
  const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim())
  const isKnown = known.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag)
  return isKnown ? reply.code(304).send() : reply.type(type).send(body)
}

export default openapi
