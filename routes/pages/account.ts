import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { assignablePermissions, tokenPermissions } from '#src/access/roles.ts'
import { listOwnAudit, ownAuditList } from '#src/audit/list.ts'
import { createOwnToken, deleteToken, listTokens } from '#src/auth/api-tokens/api-tokens.ts'
import { listMemberships } from '#src/auth/members/tenants.ts'
import { endOtherSessions, endOwnSession, listSessions } from '#src/auth/sessions/list.ts'
import { listIdentities, unlinkIdentity } from '#src/auth/sign-in/identities.ts'
import { readPage } from '#src/http/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { Line, PageQuery, Uuid } from '#src/http/schemas.ts'
import { type Account, type AccountNotice, accountPage } from '#src/pages/account.ts'

const shown = { limit: 100, after: null }
const shownEntries = '10'

const Query = Type.Object(
  {
    done: Type.Optional(Type.String({ maxLength: 64 })),
    /** Where the trail goes on. */
    trail: PageQuery.properties.cursor,
  },
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
  const systemDb = app.systemDb
  const { sessionsEnded } = app.metrics.identity
  const hidden = { hide: true } as const

  app.get(
    '/app/account',
    { config: { access: 'session' }, schema: { ...hidden, querystring: Query } },
    async (request, reply) => show(request, reply, request.query),
  )

  app.post(
    '/app/account/identities/remove',
    { config: { access: 'recent-session' }, schema: { ...hidden, body: IdentityForm } },
    async (request, reply) => {
      const { sessionCaller, body } = request
      const outcome = await unlinkIdentity(
        systemDb,
        app.queue,
        sessionCaller,
        body,
        request.clientInfo,
      )
      if (outcome === 'missing') throw new Problem('not-found')
      if (outcome === 'last') throw new Problem('last-sign-in-method')
      return done(reply, 'identity-removed')
    },
  )

  app.post(
    '/app/account/sessions/end',
    { config: { access: 'session' }, schema: { ...hidden, body: IdForm } },
    async (request, reply) => {
      const { sessionCaller, body } = request
      const ended = await endOwnSession(systemDb, sessionCaller, body.id, request.clientInfo)
      if (!ended) throw new Problem('not-found')
      sessionsEnded.inc({ reason: 'own-request' })
      return done(reply, 'session-ended')
    },
  )

  app.post(
    '/app/account/sessions/end-others',
    { config: { access: 'session' }, schema: hidden },
    async (request, reply) => {
      const ended = await endOtherSessions(systemDb, request.sessionCaller, request.clientInfo)
      sessionsEnded.inc({ reason: 'others-ended' }, ended)
      return done(reply, 'others-ended')
    },
  )

  app.post(
    '/app/account/tokens',
    { config: { access: 'session' }, schema: { ...hidden, body: TokenForm } },
    async (request, reply) => {
      const { sessionCaller, body, clientInfo } = request
      const { name, days, permissions } = body
      const wanted = {
        name,
        expiresAt: new Date(app.clock.now().getTime() + Number(days) * dayMs),
        permissions: permissions === undefined ? null : [permissions].flat(),
      }
      const made = await createOwnToken(systemDb, sessionCaller, wanted, clientInfo)
      if (made === null) throw new Problem('malformed')
      return show(request, reply, { newToken: made })
    },
  )

  app.post(
    '/app/account/tokens/end',
    { config: { access: 'session' }, schema: { ...hidden, body: IdForm } },
    async (request, reply) => {
      const { sessionCaller, body } = request
      const deleted = await deleteToken(systemDb, sessionCaller, body.id, request.clientInfo)
      if (!deleted) throw new Problem('not-found')
      return done(reply, 'token-ended')
    },
  )

  /** A transaction for what is read in the active tenant, one for what is theirs in every one. */
  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      done,
      trail,
      newToken = null,
    }: Type.Static<typeof Query> & Partial<Pick<Account, 'newToken'>>,
  ) {
    const { userId, sessionId, tenantId, email, role } = request.sessionCaller
    const part = { limit: shownEntries, ...(trail !== undefined && { cursor: trail }) }
    const page = readPage(part, ownAuditList.name, ownAuditList.forms)
    const [here, { audit, memberships }] = await Promise.all([
      app.db.read(request.ownerScope, async (tx) => ({
        identities: (await listIdentities(tx, { userId }, shown)).data,
        sessions: (await listSessions(tx, { userId, sessionId, idleSeconds }, shown)).data,
        tokens: (await listTokens(tx, { userId }, shown)).data,
      })),
      app.db.read({ userId }, async (tx) => ({
        memberships: (await listMemberships(tx, { userId }, tenantId, shown)).data,
        audit: await listOwnAudit(tx, { userId }, page),
      })),
    ])
    return reply.sendPage(
      accountPage({
        viewer: request.viewer,
        email,
        providers: app.signInChoices(),
        grantable: assignablePermissions(role),
        done,
        newToken,
        memberships,
        audit: { ...audit, isLater: trail !== undefined },
        ...here,
      }),
    )
  }
}

/** The page again, by GET, so that reloading it does nothing twice. */
function done(reply: FastifyReply, notice: AccountNotice) {
  return reply.redirect(`/app/account?done=${notice}`, 303)
}

export default account
