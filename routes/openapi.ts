import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { found } from '#src/http/params.ts'
import { errorCodes } from '#src/http/problems.ts'
import { type PublicDocument, publicDocument } from '#src/http/public-document.ts'
import { changelogPage } from '#src/pages/docs/changelog.ts'
import { errorPage, errorsPage } from '#src/pages/docs/errors.ts'
import { eventsPage } from '#src/pages/docs/events.ts'
import { guidePage } from '#src/pages/docs/guide.ts'
import { referencePage } from '#src/pages/docs/reference.ts'
import { viewerPage } from '#src/pages/docs/viewer.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { readTextAsset } from '#src/runtime/assets.ts'

const open = { config: { access: 'public' }, schema: { hide: true } } as const
const page = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'

const viewer = 'node_modules/@scalar/api-reference/dist'

/**
 * The OpenAPI description, generated from the route schemas, as JSON and as pages: in a viewer with
 * samples and requests to try, and plain. Beside it a guide, the types of events, and a page for each
 * error. Each is rendered at its first request, because all routes are known only then, and sent from
 * memory afterwards.
 */
const openapi: FastifyPluginAsync<{ baseUrl: string }> = async function openapi(app, { baseUrl }) {
  const document = (make: () => Page) => publicDocument(page, () => app.renderPage(make()))
  const documents: Readonly<Record<string, PublicDocument>> = {
    '/openapi.json': publicDocument('application/json; charset=utf-8', () =>
      JSON.stringify(app.describeApi()),
    ),
    '/docs/plain': document(() => referencePage(app.describeApi())),
    '/docs/guide': document(() => guidePage(baseUrl)),
    '/docs/events': document(eventsPage),
    '/docs/changelog': document(changelogPage),
    '/docs/errors': document(errorsPage),
    '/docs/assets/scalar.js': asset(script, `${viewer}/browser/standalone.js`),
    '/docs/assets/scalar.css': asset(style, `${viewer}/style.css`),
    '/docs/assets/viewer.js': asset(script, 'src/pages/docs/viewer.js'),
    '/docs/assets/viewer.css': asset(style, 'src/pages/docs/viewer.css'),
  }
  for (const [path, document] of Object.entries(documents)) {
    app.get(path, open, async (_request, reply) => reply.sendDocument(document))
  }

  const viewed = publicDocument(page, () => viewerPage(app.brand))
  app.get('/docs', open, async (_request, reply) => {
    allowViewer(reply)
    return reply.sendDocument(viewed)
  })

  const pages = new Map<string, PublicDocument>(
    errorCodes.map((code) => [code, document(() => errorPage(code))]),
  )
  app.get(
    '/docs/errors/:code',
    open,
    async (request: FastifyRequest<{ Params: { code: string } }>, reply: FastifyReply) =>
      reply.sendDocument(found(pages.get(request.params.code) ?? null)),
  )
}

function asset(type: string, path: string): PublicDocument {
  return publicDocument(type, () => readTextAsset(path))
}

/** The viewer needs scripts and requests of our own origin, and icons in its style sheet. */
function allowViewer(reply: FastifyReply): void {
  const policy = String(reply.getHeader('content-security-policy'))
  const own = policy.replace("img-src 'self'", "img-src 'self' data:")
  reply.header('content-security-policy', `${own};connect-src 'self'`)
}

export default openapi
