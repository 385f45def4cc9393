import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { linkCookie, linkPattern } from '#src/auth/members/invitation-link.ts'
import { UuidParams } from '#src/http/schemas.ts'

const keptSeconds = 3_600 // a sign-in with a new account at the provider takes some time

const Query = Type.Object(
  { link: Type.String({ pattern: linkPattern }) },
  { additionalProperties: false },
)

/**
 * The link of an invitation. It answers nothing by itself, because programs that check mail open links
 * too. The secret goes into a cookie, and the address of the page that follows is without it, so it is
 * in no `Referer` and no history.
 */
const invitationLink: FastifyPluginAsyncTypebox<{ secureCookie: boolean }> =
  async function invitationLink(app, { secureCookie }) {
    app.get(
      '/app/invitations/:id/open',
      {
        exposeHeadRoute: false,
        config: { access: 'public' },
        schema: { hide: true, params: UuidParams, querystring: Query },
      },
      async (request, reply) => {
        const page = `/app/invitations/${request.params.id}`
        for (const path of [page, '/auth/callback']) {
          reply.setCookie(linkCookie, request.query.link, {
            path,
            httpOnly: true,
            secure: secureCookie,
            sameSite: 'lax',
            maxAge: keptSeconds,
          })
        }
        return reply.redirect(page, 303)
      },
    )
  }

export default invitationLink
