import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  endOtherSessions,
  endOwnSession,
  findOwnSession,
  listSessions,
  sessionList,
} from '#src/auth/sessions/list.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import {
  NoContent,
  Nullable,
  PageOf,
  PageQuery,
  Time,
  Uuid,
  UuidParams,
} from '#src/http/schemas.ts'

type Options = { idleSeconds: number }

const Session = Type.Object(
  {
    id: Type.String({ ...Uuid, description: 'Id of the session, not the value of the cookie' }),
    current: Type.Boolean({ description: 'True for the session of this request' }),
    createdAt: Time,
    lastSeenAt: Type.String({ ...Time, description: 'To the minute' }),
    userAgent: Nullable(Type.String()),
    ip: Nullable(Type.String({ description: 'The network part of the address' })),
  },
  { title: 'Session' },
)

const tags = ['account']

/** The caller's sessions: list, show, end. An ended session is refused from its next request on. */
const sessions: FastifyPluginAsyncTypebox<Options> = async function sessions(app, { idleSeconds }) {
  app.get(
    '/auth/sessions',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'session', action: 'read' } },
      schema: {
        operationId: 'listSessions',
        tags,
        summary: 'Your live sessions, newest first',
        querystring: PageQuery,
        response: { 200: PageOf(Session) },
      },
    },
    async (request) => {
      const page = readPage(request.query, sessionList.name, sessionList.forms)
      return app.db.read(request.sessionEntry, (tx, caller) =>
        listSessions(tx, caller, idleSeconds, page),
      )
    },
  )

  app.get(
    '/auth/sessions/:id',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'session', action: 'read' } },
      schema: {
        operationId: 'getSession',
        tags,
        summary: 'One of your live sessions',
        params: UuidParams,
        response: { 200: Session },
      },
    },
    async (request) => {
      const { id } = request.params
      return found(
        await app.db.read(request.sessionEntry, (tx, caller) =>
          findOwnSession(tx, caller, idleSeconds, id),
        ),
      )
    },
  )

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
