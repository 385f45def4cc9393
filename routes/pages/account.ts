import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { grantableTo, tokenPermissions } from '#src/access/roles.ts'
import { deviceOf } from '#src/audit.ts'
import { Refusal } from '#src/errors.ts'
import { createToken, deleteToken } from '#src/identity/api-tokens.ts'
import { listOwnAudit } from '#src/identity/audit-list.ts'
import { endOtherSessions, endOwnSession } from '#src/identity/end-sessions.ts'
import { listIdentities, unlinkIdentity } from '#src/identity/identities.ts'
import { listSessions } from '#src/identity/session-list.ts'
import { listTokens } from '#src/identity/token-list.ts'
import { type Account, accountPage, isNotice, type Notice } from '#src/pages/account/account.ts'
import { Line, Uuid } from '#src/shapes.ts'

const shown = { limit: 100, after: null }
const shownEntries = { limit: 20, after: null }

const Query = Type.Object(
  { done: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
)
const IdForm = Type.Object({ id: Uuid }, { additionalProperties: false })
const IdentityForm = Type.Object(
  {
    provider: Type.String({ pattern: '^[a-z][a-z0-9_]*$', maxLength: 64 }),
    subject: Type.String({ pattern: '^[ -~]{1,255}$' }),
  },
  { additionalProperties: false },
)
const Permission = Type.String({ enum: [...tokenPermissions] })
const TokenForm = Type.Object(
  {
    name: Line(100),
    days: Type.String({ enum: ['7', '30', '90', '365'] }),
    // A form sends one checked box as a text, several as a list, none not at all.
    permissions: Type.Optional(
      Type.Union([Permission, Type.Array(Permission, { maxItems: tokenPermissions.length })]),
    ),
  },
  { additionalProperties: false },
)

const dayMs = 86_400_000

/** One's own account as a page, and what its buttons do. */
const account: FastifyPluginAsyncTypebox<{ idleSeconds: number }> = async function account(
  app,
  { idleSeconds },
) {
  const plane = app.identityPlane
  const { sessionsEnded } = app.metrics.identity
  const hidden = { hide: true } as const

  app.get(
    '/app/account',
    { config: { access: 'session' }, schema: { ...hidden, querystring: Query } },
    async (request, reply) => {
      const { done } = request.query
      return show(request, reply, { notice: isNotice(done) ? done : null })
    },
  )

  app.post(
    '/app/account/identities/remove',
    { config: { access: 'recent-session' }, schema: { ...hidden, body: IdentityForm } },
    async (request, reply) => {
      const { sessionCaller, body } = request
      const device = requestDevice(request)
      const outcome = await unlinkIdentity(plane, app.queue, sessionCaller, body, device)
      if (outcome === 'missing') throw new Refusal('not-found')
      if (outcome === 'last') throw new Refusal('last-sign-in-method')
      return done(reply, 'identity-removed')
    },
  )

  app.post(
    '/app/account/sessions/end',
    { config: { access: 'session' }, schema: { ...hidden, body: IdForm } },
    async (request, reply) => {
      const { sessionCaller, body } = request
      const ended = await endOwnSession(plane, sessionCaller, body.id, requestDevice(request))
      if (!ended) throw new Refusal('not-found')
      sessionsEnded.inc({ reason: 'own-request' })
      return done(reply, 'session-ended')
    },
  )

  app.post(
    '/app/account/sessions/end-others',
    { config: { access: 'session' }, schema: hidden },
    async (request, reply) => {
      const ended = await endOtherSessions(plane, request.sessionCaller, requestDevice(request))
      sessionsEnded.inc({ reason: 'others-ended' }, ended)
      return done(reply, 'others-ended')
    },
  )

  app.post(
    '/app/account/tokens',
    { config: { access: 'session' }, schema: { ...hidden, body: TokenForm } },
    async (request, reply) => {
      const { userId, tenantId, role } = request.sessionCaller
      const { name, days, permissions } = request.body
      if (tenantId === null) throw new Refusal('forbidden', { detail: 'You are in no tenant.' })
      const limit = permissions === undefined ? null : [permissions].flat()
      if (limit?.some((permission) => !grantableTo(role).includes(permission))) {
        throw new Refusal('forbidden', { detail: 'A token cannot have more than you have.' })
      }
      const expiresAt = new Date(app.clock.now().getTime() + Number(days) * dayMs)
      const made = await createToken(
        plane,
        { userId, tenantId },
        { name, expiresAt, permissions: limit },
        requestDevice(request),
      )
      if (made === null) throw new Refusal('malformed')
      return show(request, reply, { newToken: made })
    },
  )

  app.post(
    '/app/account/tokens/end',
    { config: { access: 'session' }, schema: { ...hidden, body: IdForm } },
    async (request, reply) => {
      const { sessionCaller, body } = request
      const deleted = await deleteToken(plane, sessionCaller, body.id, requestDevice(request))
      if (!deleted) throw new Refusal('not-found')
      return done(reply, 'token-ended')
    },
  )

  /** One transaction for all that the page shows. */
  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    { notice = null, newToken = null }: Partial<Pick<Account, 'notice' | 'newToken'>>,
  ) {
    const { userId, sessionId, email, role } = request.sessionCaller
    const sections = await app.db.read(request.ownerScope, async (tx) => ({
      identities: (await listIdentities(tx, { userId }, shown)).data,
      sessions: (await listSessions(tx, { userId, sessionId, idleSeconds }, shown)).data,
      tokens: (await listTokens(tx, { userId }, shown)).data,
      audit: (await listOwnAudit(tx, { userId }, shownEntries)).data,
    }))
    const providers = [...app.providers.values()].map(({ setup }) => setup)
    const page = {
      email,
      role,
      providers,
      grantable: grantableTo(role),
      notice,
      newToken,
      ...sections,
    }
    return reply
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(accountPage(page))
  }
}

function requestDevice(request: FastifyRequest) {
  return deviceOf(request.ip, request.headers['user-agent'])
}

/** The page again, by GET, so that reloading it does nothing twice. */
function done(reply: FastifyReply, notice: Notice) {
  return reply.redirect(`/app/account?done=${notice}`, 303)
}

export default account
