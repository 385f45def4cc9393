import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { linkPattern } from '#src/auth/members/invitation-link.ts'
import {
  acceptInvitation,
  declineInvitation,
  type OpenedInvitation,
} from '#src/auth/members/own-invitations.ts'
import { isForm } from '#src/http/headers/media-type.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, Nullable, UuidParams } from '#src/http/schemas.ts'

const Answer = Nullable(
  Type.Object(
    {
      link: Type.Optional(
        Type.String({
          pattern: linkPattern,
          examples: ['Zq3vN8xKf2LrW6tYbD1sHc9mPaE4gJ7uVnQ0iRoX5kM'],
          description: 'The secret of the invitation’s link, `link` in its query',
        }),
      ),
    },
    { title: 'InvitationAnswer', additionalProperties: false },
  ),
)

type InvitationRequest = FastifyRequest<{
  Params: Static<typeof UuidParams>
  Body: Static<typeof Answer>
}>

const tags = ['account']
const config = {
  access: { resource: 'invitation', action: 'update' },
  acceptsForm: true,
} as const
const who =
  'For the person who has the invited e-mail verified by a provider trusted for it, or signed in with it and has the secret of the invitation’s link; 404 for anyone else, and when it was withdrawn, answered or has expired. `GET /me` lists your invitations.'
const response = {
  204: NoContent('The invitation is answered'),
  303: NoContent('For a form: to the page that was wanted before, or the account page'),
}

/** Answers to an invitation, by the invited person. */
const ownInvitations: FastifyPluginAsyncTypebox = async function ownInvitations(app) {
  app.post(
    '/invitations/:id/accept',
    {
      config,
      schema: {
        operationId: 'acceptInvitation',
        tags,
        summary: 'Accept an invitation: 204, or 303 for a form',
        description: `You become a member of the tenant. The active tenant of your session stays; \`POST /session/tenant\` switches it. ${who}`,
        params: UuidParams,
        body: Answer,
        response,
      },
    },
    async (request, reply) => {
      const { sessionEntry, clientInfo } = request
      const accepted = await app.db.write(sessionEntry, (tx, caller) =>
        acceptInvitation(tx, caller, openedOf(request), clientInfo),
      )
      return answer(request, reply, accepted, 'joined')
    },
  )

  app.post(
    '/invitations/:id/decline',
    {
      config,
      schema: {
        operationId: 'declineInvitation',
        tags,
        summary: 'Decline an invitation: 204, or 303 for a form',
        description: `It is no longer shown to you. The tenant is not told. ${who}`,
        params: UuidParams,
        body: Answer,
        response,
      },
    },
    async (request, reply) => {
      const { sessionEntry, clientInfo } = request
      const declined = await app.db.write(sessionEntry, (tx, caller) =>
        declineInvitation(tx, caller, openedOf(request), clientInfo),
      )
      return answer(request, reply, declined, 'declined')
    },
  )
}

function openedOf({ params, body }: InvitationRequest): OpenedInvitation {
  return { id: params.id, link: body?.link }
}

function answer(
  request: InvitationRequest,
  reply: FastifyReply,
  done: boolean,
  notice: 'joined' | 'declined',
) {
  if (!done) throw new Problem('not-found')
  if (!isForm(request.headers['content-type'])) return reply.code(204).send(null)
  const wanted = notice === 'joined' ? reply.takeWanted() : null
  return reply.redirect(wanted ?? `/app/account?done=${notice}`, 303)
}

export default ownInvitations
