import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import {
  decideDemand,
  findIdentity,
  type Identity,
  knownPermissions,
} from '#src/auth/forward-auth/identity.ts'
import type { IdentityTokens } from '#src/auth/forward-auth/identity-token.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, problems, VisibleAscii } from '#src/http/schemas.ts'

const Demand = Type.Object(
  {
    permission: Type.Optional(
      Type.Enum([...knownPermissions], { description: 'A permission that the caller must have' }),
    ),
    plan: Type.Optional(
      Type.String({ ...VisibleAscii(64), description: 'The plan that the caller must have' }),
    ),
    audience: Type.Optional(
      Type.String({
        ...VisibleAscii(255),
        description:
          'The app that the token is for, one of `IDENTITY_AUDIENCE`; by default the first',
      }),
    ),
  },
  { additionalProperties: false },
)

const forwarded = (description: string) => Type.Optional(Type.String({ description }))

const Forwarded = Type.Object({
  'x-forwarded-method': forwarded('Method of the request to the app (Caddy, Traefik)'),
  'x-forwarded-uri': forwarded('Its path and query'),
  'x-original-method': forwarded('The same of nginx'),
  'x-original-url': forwarded(
    'Its URL. A proxy that sends it gets no redirect, but 401 with `Location`',
  ),
})

const fact = (description: string) => Type.String({ description })

const told = {
  'gatehouse-user': fact('Id of the user; empty for a service token'),
  'gatehouse-tenant': fact('Id of the active tenant'),
  'gatehouse-role': fact('Role in this tenant'),
  'gatehouse-email': fact('Address, if a provider trusted for it has verified it'),
  'gatehouse-permissions': fact('Permissions, comma-separated'),
  'gatehouse-plan': fact('Plan'),
  'gatehouse-identity': fact('The same facts as a JSON Web Token, valid for 60 seconds'),
}

const description = `For the forward authentication of a proxy (\`forward_auth\` of Caddy, ForwardAuth of \
Traefik, \`auth_request\` of nginx). Headers of the response tell who sent the \
request; each is empty if there is nothing to tell. An app should believe \`gatehouse-identity\` alone, which \
is signed. A service token has no user.

The same-origin rule applies to the request to the app: with a cookie, a method that is not safe must come \
from our own origin, and so must any method if the proxy does not name it.`

const toldAlso = {
  'x-auth-request-user': fact('As `gatehouse-user`'),
  'x-auth-request-email': fact('As `gatehouse-email`'),
  'x-auth-request-groups': fact('As `gatehouse-role`'),
}

/** Tells a proxy who sent a request. */
const verify: FastifyPluginAsyncTypebox<{ tokens: IdentityTokens }> = async function verify(
  app,
  { tokens },
) {
  app.get(
    '/auth/verify',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'verification', action: 'read' }, forwardsHeaders: true },
      schema: {
        operationId: 'verifyRequest',
        tags: ['sign-in'],
        summary: 'Ask who sent a request to the app behind the proxy',
        description,
        querystring: Demand,
        headers: Forwarded,
        response: {
          204: Type.Null({ description: 'The request may pass', headers: told }),
          302: NoContent(
            'Not signed in, and a browser opens a page: to sign-in, which returns to it',
          ),
          ...problems('cross-origin', 'forbidden'),
        },
      },
    },
    async (request, reply) => {
      const { identity, token } = await answerQuestion(request, tokens)
      return reply.code(204).headers(headersOf(identity, token)).send(null)
    },
  )
}

/** `/auth/verify` by the names of oauth2-proxy, for proxies that are configured for it. */
export const oauth2Proxy: FastifyPluginAsyncTypebox<{ tokens: IdentityTokens }> =
  async function oauth2Proxy(app, { tokens }) {
    app.get(
      '/oauth2/auth',
      {
        exposeHeadRoute: false,
        config: {
          access: { resource: 'verification', action: 'read' },
          forwardsHeaders: true,
          takesNoRedirect: true, // oauth2-proxy answers 401, whatever is opened
        },
        schema: {
          operationId: 'verifyLikeOauthProxy',
          tags: ['sign-in'],
          summary:
            'Ask as `/auth/verify`, by the path of oauth2-proxy; answers with its status and headers',
          produces: ['text/plain'],
          querystring: Demand,
          headers: Forwarded,
          response: {
            202: Type.String({
              description: 'The request may pass',
              headers: { ...told, ...toldAlso },
            }),
            ...problems('cross-origin', 'forbidden'),
          },
        },
      },
      async (request, reply) => {
        const { identity, token } = await answerQuestion(request, tokens)
        const { userId, email, role } = identity
        const also = textsOf({
          'x-auth-request-user': userId,
          'x-auth-request-email': email,
          'x-auth-request-groups': role,
        })
        return reply
          .code(202)
          .headers({ ...headersOf(identity, token), ...also })
          .type('text/plain')
          .send('')
      },
    )
  }

type Question = Pick<FastifyRequest, 'audience' | 'principalEntry' | 'log' | 'server'> & {
  readonly query: Type.Static<typeof Demand>
}

/** @throws Problem if the caller lacks what is asked for, or the audience is not configured */
async function answerQuestion(
  { audience, query, principalEntry, log, server }: Question,
  tokens: IdentityTokens,
): Promise<{ identity: Identity; token: string }> {
  if (audience === null) {
    const detail = 'IDENTITY_AUDIENCE does not list this audience for this origin.'
    throw new Problem('malformed', { detail })
  }
  const { caller, identity } = await server.db.read(principalEntry, findIdentity)
  const reason = decideDemand(caller, query)
  if (reason !== 'allowed') {
    const { userId, serviceId } = caller
    log.info({ reason, ...(serviceId === null ? { userId } : { serviceId }) }, 'refused')
    throw new Problem('forbidden', { reason })
  }
  return { identity, token: tokens.sign(identity, audience) }
}

/** What a header cannot hold is only in the token. */
const headerText = /^[!-~]*$/

/** The headers about an identity: always all of them, so that each replaces what a client has sent under its name. */
function headersOf(identity: Identity, token: string): Record<string, string> {
  const { userId, tenantId, role, email, permissions, plan } = identity
  return textsOf({
    'gatehouse-user': userId,
    'gatehouse-tenant': tenantId,
    'gatehouse-role': role,
    'gatehouse-email': email,
    'gatehouse-permissions': permissions.join(','),
    'gatehouse-plan': plan,
    'gatehouse-identity': token,
  })
}

function textsOf(facts: Readonly<Record<string, string | number | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => {
      const text = String(fact ?? '')
      return [name, headerText.test(text) ? text : '']
    }),
  )
}

export default verify
