import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { linkOf } from '#src/auth/members/invitation-link.ts'
import { findOwnInvitation } from '#src/auth/members/own-invitations.ts'
import { Problem } from '#src/http/problems.ts'
import { UuidParams } from '#src/http/schemas.ts'
import { ownInvitationPage } from '#src/pages/account/invitations.ts'

const notYours =
  'There is no open invitation here for the email address that you signed in with. Open the link of the invitation, and sign in with the address that was invited.'

/** The page of an invitation, which its link leads to. */
const invitations: FastifyPluginAsyncTypebox = async function invitations(app) {
  app.get(
    '/app/invitations/:id',
    {
      config: { access: { resource: 'invitation', action: 'read' } },
      schema: { hide: true, params: UuidParams },
    },
    async (request, reply) => {
      const { sessionEntry, params, cookies } = request
      const link = linkOf(cookies)
      const invitation = await app.db.read(sessionEntry, (tx) =>
        findOwnInvitation(tx, { id: params.id, link }),
      )
      if (invitation === null) throw new Problem('not-found', { detail: notYours })
      return reply.sendPage(ownInvitationPage(request.viewer, invitation, link))
    },
  )
}

export default invitations
