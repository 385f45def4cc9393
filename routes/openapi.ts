import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { found } from '#src/http/params.ts'
import { errorCodes } from '#src/http/problems.ts'
import { type PublicDocument, publicDocument } from '#src/http/public-document.ts'
import { Line, OptionalLine } from '#src/http/schemas.ts'
import { changelogPage } from '#src/pages/docs/changelog.ts'
import { errorPage, errorsPage } from '#src/pages/docs/errors.ts'
import { eventsPage } from '#src/pages/docs/events.ts'
import { guidePage } from '#src/pages/docs/guide.ts'
import { type Group, groupsOf } from '#src/pages/docs/operations.ts'
import { groupPage } from '#src/pages/docs/reference.ts'
import { searchPage } from '#src/pages/docs/search.ts'
import { startPage } from '#src/pages/docs/start.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { onFirstUse } from '#src/runtime/lazy.ts'

const open = { config: { access: 'public' }, schema: { hide: true } } as const
const Search = Type.Object({ q: Type.Optional(OptionalLine(100)) })

/**
 * The OpenAPI description, generated from the route schemas, as JSON and as pages: a first call, the
 * operations by group with a form that sends them, a guide, the types of events, and each error. A page
 * is rendered at its first request, because all routes are known only then, and sent from memory
 * afterwards.
 */
const openapi: FastifyPluginAsyncTypebox<{ baseUrl: string }> = async function openapi(
  app,
  { baseUrl },
) {
  const groups = onFirstUse(() => groupsOf(app.describeApi()))
  const document = (make: (groups: readonly Group[]) => Page) =>
    publicDocument('text/html; charset=utf-8', () => app.renderPage(make(groups())))
  const documents: Readonly<Record<string, PublicDocument>> = {
    '/openapi.json': publicDocument('application/json; charset=utf-8', () =>
      JSON.stringify(app.describeApi()),
    ),
    '/docs': document((all) => startPage(all, baseUrl)),
    '/docs/guide': document((all) => guidePage(all, baseUrl)),
    '/docs/events': document(eventsPage),
    '/docs/changelog': document(changelogPage),
    '/docs/errors': document(errorsPage),
  }
  for (const [path, document] of Object.entries(documents)) {
    app.get(path, open, async (_request, reply) => reply.sendDocument(document))
  }

  const operations = onFirstUse(
    () =>
      new Map(
        groups().map((group) => [group.href, document((all) => groupPage(all, group, baseUrl))]),
      ),
  )
  app.get(
    '/docs/api/:group',
    { ...open, schema: { hide: true, params: Type.Object({ group: Line(100) }) } },
    async ({ params }, reply) => {
      const document = found(operations().get(`/docs/api/${params.group}`) ?? null)
      // The script of the page sends requests to us.
      const policy = String(reply.getHeader('content-security-policy'))
      reply.header('content-security-policy', `${policy};connect-src 'self'`)
      return reply.sendDocument(document)
    },
  )
  app.get(
    '/docs/search',
    { ...open, schema: { hide: true, querystring: Search } },
    async ({ query }, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .send(app.renderPage(searchPage(groups(), query.q ?? ''))),
  )

  const errors = new Map<string, PublicDocument>(
    errorCodes.map((code) => [code, document((all) => errorPage(all, code))]),
  )
  app.get(
    '/docs/errors/:code',
    { ...open, schema: { hide: true, params: Type.Object({ code: Line(100) }) } },
    async ({ params }, reply) => reply.sendDocument(found(errors.get(params.code) ?? null)),
  )
}

export default openapi
