import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { findLinkEntry, openLinkEntry, recordOpening } from '#src/auth/portal/portal.ts'
import { randomToken } from '#src/crypto/hash.ts'
import { themes } from '#src/http/headers/portal-cookie.ts'
import { Problem } from '#src/http/problems.ts'
import { openPortalPage, usedPortalPage } from '#src/pages/webhooks/open-portal.ts'

const Link = Type.Object(
  {
    link: Type.String({ pattern: '^[\\w-]{43}$' }),
    theme: Type.Optional(Type.Enum([...themes])),
  },
  { additionalProperties: false },
)

const path = '/portal/open'

/**
 * A link of the app is exchanged for a session. A frame of a listed page opens it at once:
 * browsers say that a request is for a frame, and scanners of links and previews have none. Elsewhere a
 * page with a button comes first. The answer redirects, so the link does not stay in the history, and it
 * is in the query, so no log has it.
 */
const openPortal: FastifyPluginAsyncTypebox<{ frameOrigins: readonly string[] }> =
  async function openPortal(app, { frameOrigins }) {
    const config = { access: 'public' } as const
    app.get(
      path,
      { config, schema: { hide: true, querystring: Link }, exposeHeadRoute: false },
      async (request, reply) => {
        const { query, credential } = request
        if (isForFrame(request, frameOrigins)) return open(request, reply, query)
        const { link, theme } = query
        const frame = { theme: theme ?? null, formToken: '', tenantName: null }
        const viewer = { mayBeSignedIn: false, portal: frame } as const
        if (await isOpenable(app, link))
          return reply.sendPage(openPortalPage({ viewer, link, theme }))
        const hasSession = credential?.kind === 'portal'
        return reply.code(401).sendPage(usedPortalPage(viewer, hasSession, frameOrigins))
      },
    )
    app.post(path, { config, schema: { hide: true, body: Link } }, async (request, reply) =>
      open(request, reply, request.body),
    )
  }

async function isOpenable({ db }: FastifyInstance, link: string): Promise<boolean> {
  try {
    await db.read(findLinkEntry(link))
    return true
  } catch (error) {
    if (error instanceof Problem && error.code === 'portal-session-ended') return false
    throw error
  }
}

/** `Referer` names the page around the frame: another one could plant a link of its own there. */
function isForFrame({ headers }: FastifyRequest, frameOrigins: readonly string[]): boolean {
  const page = URL.parse(headers.referer ?? '')?.origin
  const isListed = page !== undefined && frameOrigins.includes(page)
  return isListed && headers['sec-fetch-dest'] === 'iframe' && headers['sec-purpose'] === undefined
}

async function open(
  { server, clientInfo, credential }: FastifyRequest,
  reply: FastifyReply,
  { link, theme }: Static<typeof Link>,
) {
  const secret = randomToken()
  const previous = credential?.kind === 'portal' ? credential.hash : null
  await server.db.read(findLinkEntry(link))
  await server.db.write(openLinkEntry(link, secret, previous), async (tx, portal) => {
    if (portal === null) throw new Problem('portal-session-ended')
    await recordOpening(tx, portal, clientInfo)
  })
  return reply.setPortalCookie({ secret, theme: theme ?? null }).redirect('/portal/webhooks', 303)
}

export default openPortal
