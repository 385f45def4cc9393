import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
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

const firstPage = { limit: 100, after: null }
const auditPageSize = '10'
const dayMs = 86_400_000

const Query = Type.Object(
  {
    done: Type.Optional(Type.String({ maxLength: 64 })),
    /** Cursor of the audit entries. */
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
    // A form sends one checked box as a string, several as an array, and omits the field for none.
    permissions: Type.Optional(
      Type.Union([Permission, Type.Array(Permission, { maxItems: tokenPermissions.length })]),
    ),
  },
  { additionalProperties: false },
)

type Options = { idleSeconds: number }
type Shown = Static<typeof Query> & Partial<Pick<Account, 'newToken'>>
type IdRequest = FastifyRequest<{ Body: Static<typeof IdForm> }>

const hide = true
const config = { access: 'session' } as const

/** The account page and its forms. */
const account: FastifyPluginAsyncTypebox<Options> = async function account(app, options) {
  app.get('/app/account', { config, schema: { hide, querystring: Query } }, showAccount(options))
  app.post(
    '/app/account/identities/remove',
    { config: { access: 'recent-session' }, schema: { hide, body: IdentityForm } },
    removeIdentity,
  )
  app.post('/app/account/sessions/end', { config, schema: { hide, body: IdForm } }, signOutDevice)
  app.post('/app/account/sessions/end-others', { config, schema: { hide } }, signOutOtherDevices)
  app.post(
    '/app/account/tokens',
    { config, schema: { hide, body: TokenForm } },
    createToken(options),
  )
  app.post('/app/account/tokens/end', { config, schema: { hide, body: IdForm } }, revokeToken)
}

function showAccount(options: Options) {
  return async (
    request: FastifyRequest<{ Querystring: Static<typeof Query> }>,
    reply: FastifyReply,
  ) => sendAccount(request, reply, options, request.query)
}

async function removeIdentity(
  this: FastifyInstance,
  request: FastifyRequest<{ Body: Static<typeof IdentityForm> }>,
  reply: FastifyReply,
) {
  const { sessionCaller, body, clientInfo } = request
  const outcome = await unlinkIdentity(this.systemDb, this.queue, sessionCaller, body, clientInfo)
  if (outcome === 'missing') throw new Problem('not-found')
  if (outcome === 'last') throw new Problem('last-sign-in-method')
  return redirect(reply, 'identity-removed')
}

async function signOutDevice(this: FastifyInstance, request: IdRequest, reply: FastifyReply) {
  const { sessionCaller, body, clientInfo } = request
  const ended = await endOwnSession(this.systemDb, sessionCaller, body.id, clientInfo)
  if (!ended) throw new Problem('not-found')
  this.metrics.identity.sessionsEnded.inc({ reason: 'own-request' })
  return redirect(reply, 'session-ended')
}

async function signOutOtherDevices(
  this: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const ended = await endOtherSessions(this.systemDb, request.sessionCaller, request.clientInfo)
  this.metrics.identity.sessionsEnded.inc({ reason: 'others-ended' }, ended)
  return redirect(reply, 'others-ended')
}

function createToken(options: Options) {
  return async function createToken(
    this: FastifyInstance,
    request: FastifyRequest<{ Body: Static<typeof TokenForm> }>,
    reply: FastifyReply,
  ) {
    const { sessionCaller, body, clientInfo } = request
    const { name, days, permissions } = body
    const wanted = {
      name,
      expiresAt: new Date(this.clock.now().getTime() + Number(days) * dayMs),
      permissions: permissions === undefined ? null : [permissions].flat(),
    }
    const newToken = await createOwnToken(this.systemDb, sessionCaller, wanted, clientInfo)
    if (newToken === null) throw new Problem('malformed')
    return sendAccount(request, reply, options, { newToken })
  }
}

async function revokeToken(this: FastifyInstance, request: IdRequest, reply: FastifyReply) {
  const { sessionCaller, body, clientInfo } = request
  const deleted = await deleteToken(this.systemDb, sessionCaller, body.id, clientInfo)
  if (!deleted) throw new Problem('not-found')
  return redirect(reply, 'token-ended')
}

/** Two transactions: one for rows of the active tenant, one for the user's rows in all tenants. */
async function sendAccount(
  request: FastifyRequest,
  reply: FastifyReply,
  { idleSeconds }: Options,
  { done, trail, newToken = null }: Shown,
) {
  const { server: app, viewer, ownerScope } = request
  const { userId, sessionId, tenantId, email, role } = request.sessionCaller
  const part = { limit: auditPageSize, ...(trail !== undefined && { cursor: trail }) }
  const page = readPage(part, ownAuditList.name, ownAuditList.forms)
  const [inTenant, { audit, memberships }] = await Promise.all([
    app.db.read(ownerScope, async (tx) => ({
      identities: (await listIdentities(tx, { userId }, firstPage)).data,
      sessions: (await listSessions(tx, { userId, sessionId, idleSeconds }, firstPage)).data,
      tokens: (await listTokens(tx, { userId }, firstPage)).data,
    })),
    app.db.read({ userId }, async (tx) => ({
      memberships: (await listMemberships(tx, { userId }, tenantId, firstPage)).data,
      audit: await listOwnAudit(tx, { userId }, page),
    })),
  ])
  return reply.sendPage(
    accountPage({
      viewer,
      email,
      providers: app.signInChoices(),
      grantable: assignablePermissions(role),
      done,
      newToken,
      memberships,
      audit: { ...audit, isLater: trail !== undefined },
      ...inTenant,
    }),
  )
}

/** Post/Redirect/Get, so that a reload does not repeat the action. */
function redirect(reply: FastifyReply, notice: AccountNotice) {
  return reply.redirect(`/app/account?done=${notice}`, 303)
}

export default account
