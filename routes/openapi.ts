import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { found } from '#src/http/params.ts'
import { errorCodes } from '#src/http/problems.ts'
import { publicDocument } from '#src/http/public-document.ts'
import { errorPage, errorsPage } from '#src/pages/errors.ts'
import { referencePage } from '#src/pages/reference.ts'

const open = { config: { access: 'public' }, schema: { hide: true } } as const
const page = 'text/html; charset=utf-8'

/**
 * The OpenAPI description, generated from the route schemas, as JSON and as a page, and a page for
 * each error. Each is rendered at its first request, because all routes are known only then, and sent
 * from memory afterwards.
 */
const openapi: FastifyPluginAsync = async function openapi(app) {
  const documents = {
    '/openapi.json': publicDocument('application/json; charset=utf-8', () =>
      JSON.stringify(app.describeApi()),
    ),
    '/docs': publicDocument(page, () => referencePage(app.describeApi())),
    '/docs/errors': publicDocument(page, errorsPage),
  }
  for (const [path, document] of Object.entries(documents)) {
    app.get(path, open, async (_request, reply) => reply.sendDocument(document))
  }
  const pages = new Map<string, ReturnType<typeof publicDocument>>(
    errorCodes.map((code) => [code, publicDocument(page, () => errorPage(code))]),
  )
  app.get(
    '/docs/errors/:code',
    open,
    async (request: FastifyRequest<{ Params: { code: string } }>, reply: FastifyReply) =>
      reply.sendDocument(found(pages.get(request.params.code) ?? null)),
  )
}

export default openapi
