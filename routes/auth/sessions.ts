import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import {
  endOtherSessions,
  endOwnSession,
  findOwnSession,
  listSessions,
  sessionList,
} from '#src/auth/sessions/list.ts'
import { readPage } from '#src/http/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Nullable, PageOf, PageQuery, problems, Time, Uuid, UuidParams } from '#src/http/schemas.ts'

const Session = Type.Object({
  id: Type.String({ ...Uuid, description: 'Of the session, not what stands in the cookie' }),
  current: Type.Boolean({ description: 'The one that asks' }),
  createdAt: Time,
  lastSeenAt: Type.String({ ...Time, description: 'To the minute' }),
  userAgent: Nullable(Type.String()),
  ip: Nullable(Type.String({ description: 'The network part of the address' })),
})

const tags = ['account']

/** One's own sessions: see them, end one, end all others. An ended one is gone with its next request. */
const sessions: FastifyPluginAsyncTypebox<{ idleSeconds: number }> = async function sessions(
  app,
  { idleSeconds },
) {
  const systemDb = app.systemDb
  const { sessionsEnded } = app.metrics.identity
  const ownerOf = ({ sessionCaller: { userId, sessionId } }: FastifyRequest) => ({
    userId,
    sessionId,
    idleSeconds,
  })

  app.get(
    '/auth/sessions',
    {
      exposeHeadRoute: false,
      config: { access: 'session' },
      schema: {
        tags,
        summary: 'Your live sessions, newest first',
        querystring: PageQuery,
        response: { 200: PageOf(Session), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const page = readPage(request.query, sessionList.name, sessionList.forms)
      const owner = ownerOf(request)
      return app.db.read(request.ownerScope, (tx) => listSessions(tx, owner, page))
    },
  )

  app.get(
    '/auth/sessions/:id',
    {
      exposeHeadRoute: false,
      config: { access: 'session' },
      schema: {
        tags,
        summary: 'One of your live sessions',
        params: UuidParams,
        response: { 200: Session, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const { id } = request.params
      const owner = ownerOf(request)
      return found(await app.db.read(request.ownerScope, (tx) => findOwnSession(tx, owner, id)))
    },
  )

  app.delete(
    '/auth/sessions',
    {
      config: { access: 'session' },
      schema: {
        tags,
        summary: 'End all your sessions but this one',
        response: { 204: Type.Null(), ...problems(401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      const ended = await endOtherSessions(systemDb, request.sessionCaller, request.clientInfo)
      sessionsEnded.inc({ reason: 'others-ended' }, ended)
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/auth/sessions/:id',
    {
      config: { access: 'session' },
      schema: {
        tags,
        summary: 'End one of your sessions; ending this one clears the cookie',
        params: UuidParams,
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      const { sessionCaller, session } = request
      const id = request.params.id.toLowerCase()
      const ended = await endOwnSession(systemDb, sessionCaller, id, request.clientInfo)
      if (!ended) throw new Problem('not-found')
      sessionsEnded.inc({ reason: 'own-request' })
      if (id === sessionCaller.sessionId) {
        await session.destroy()
        reply.clearSessionCookie()
      }
      return reply.code(204).send(null)
    },
  )
}

export default sessions
