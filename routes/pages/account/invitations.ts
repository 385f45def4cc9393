import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { findOwnInvitation } from '#src/auth/members/own-invitations.ts'
import { Problem } from '#src/http/problems.ts'
import { UuidParams } from '#src/http/schemas.ts'
import { ownInvitationPage } from '#src/pages/account/invitations.ts'

const notYours =
  'There is no open invitation here for your verified email addresses. Sign in with the address that was invited.'

/** The page that the mail of an invitation links to. */
const invitations: FastifyPluginAsyncTypebox = async function invitations(app) {
  app.get(
    '/app/invitations/:id',
    {
      config: { access: { resource: 'invitation', action: 'read' } },
      schema: { hide: true, params: UuidParams },
    },
    async (request, reply) => {
      const { sessionEntry, params } = request
      const invitation = await app.db.read(sessionEntry, (tx) => findOwnInvitation(tx, params.id))
      if (invitation === null) throw new Problem('not-found', { detail: notYours })
      return reply.sendPage(ownInvitationPage(request.viewer, invitation))
    },
  )
}

export default invitations
