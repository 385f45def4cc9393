import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { sessionActions } from '#src/auth/sessions/actions.ts'
import { endOtherSessions, endOwnSession } from '#src/auth/sessions/list.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, UuidParams } from '#src/http/schemas.ts'

type Options = { idleSeconds: number }

const tags = ['account']

/** The caller's sessions: list, show, end. An ended session is refused from its next request on. */
const sessions: FastifyPluginAsyncTypebox<Options> = async function sessions(app, { idleSeconds }) {
  const { list, get } = sessionActions(idleSeconds)
  const at = { entryOf: ({ sessionEntry }: FastifyRequest) => sessionEntry, head: false }
  app.api('GET /auth/sessions', list, at)
  app.api('GET /auth/sessions/:id', get, at)

  app.delete(
    '/auth/sessions',
    {
      config: { access: { resource: 'session', action: 'delete' } },
      schema: {
        operationId: 'endOtherSessions',
        tags,
        summary: 'End all your sessions except this one',
        response: { 204: NoContent('All other sessions have ended') },
      },
    },
    async (request, reply) => {
      const ended = await app.db.write(request.sessionEntry, (tx, caller) =>
        endOtherSessions(tx, caller, request.clientInfo),
      )
      app.metrics.identity.sessionsEnded.inc({ reason: 'others-ended' }, ended)
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/auth/sessions/:id',
    {
      config: { access: { resource: 'session', action: 'delete' } },
      schema: {
        operationId: 'endSession',
        tags,
        summary: 'End one of your sessions; ending this one signs you out',
        params: UuidParams,
        response: { 204: NoContent('The session has ended') },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const ended = await app.db.write(request.sessionEntry, (tx, caller) =>
        endOwnSession(tx, app.queue, caller, id, request.clientInfo),
      )
      if (!ended) throw new Problem('not-found')
      app.metrics.identity.sessionsEnded.inc({ reason: 'own-request' })
      if (id === request.caller.sessionId) {
        await request.session.destroy()
        reply.clearSessionCookie()
      }
      return reply.code(204).send(null)
    },
  )
}

export default sessions
