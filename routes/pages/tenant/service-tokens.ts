import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  createServiceToken,
  deleteServiceToken,
  findCreatorNames,
  listServiceTokens,
  maxServiceTokens,
  rotateServiceToken,
} from '#src/auth/service-tokens/service-tokens.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { Problem } from '#src/http/problems.ts'
import {
  readProgramTokenForm,
  revokeForm,
  rotateForm,
  type TokenNotice,
  tokensQuery,
} from '#src/pages/account/program-tokens.ts'
import { takeSecret } from '#src/pages/kit/form-submission.ts'
import {
  type ServiceTokensView,
  serviceTokenForm,
  serviceTokensPage,
} from '#src/pages/tenant/service-tokens.ts'

const allTokens = { limit: maxServiceTokens, after: null }

type Options = { keys: EncryptionKeys }

const hide = true
const path = '/app/service-tokens'
const access = (action: 'read' | 'create' | 'update' | 'delete') => ({
  access: { resource: 'service-token', action } as const,
})

/** The page of the tenant's service tokens. */
const serviceTokens: FastifyPluginAsyncTypebox<Options> = async function serviceTokens(
  app,
  { keys },
) {
  app.get(
    path,
    { config: access('read'), schema: { hide, querystring: tokensQuery } },
    async (request, reply) => {
      const newToken = await takeSecret(app.db, request.tenantEntry, request, keys)
      return sendTokens(request, reply, { newToken, done: request.query.done })
    },
  )
  app.post(
    path,
    { config: access('create'), schema: { hide, body: serviceTokenForm.schema } },
    async (request, reply) => {
      const { tenantEntry, clientInfo, body } = request
      const now = app.clock.now()
      const facts = readProgramTokenForm(body, now)
      try {
        const location = await app.db.write(tenantEntry, (tx, caller) =>
          request.submitOnce(tx, caller, async () => {
            const { userId, tenantId } = caller
            const made = await createServiceToken(tx, { userId, tenantId, clientInfo }, facts, now)
            return { path, secret: { secret: made.token, note: made.name } }
          }),
        )
        return reply.redirect(location, 303)
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'conflict') throw error
        request.showAgain(body, { reason: error.detail ?? error.message })
        return sendTokens(request, reply.code(409), {})
      }
    },
  )
  app.post(
    `${path}/rotate`,
    { config: access('update'), schema: { hide, body: rotateForm } },
    async (request, reply) => {
      const { tenantEntry, clientInfo, body } = request
      const location = await app.db.write(tenantEntry, (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          const { userId, tenantId } = caller
          const made = await rotateServiceToken(tx, { userId, tenantId, clientInfo }, body.id)
          return made && { path, secret: { secret: made.token, note: made.name } }
        }),
      )
      if (location === null) throw new Problem('not-found')
      return reply.redirect(location, 303)
    },
  )
  app.post(
    `${path}/remove`,
    { config: access('delete'), schema: { hide, body: revokeForm } },
    async (request, reply) => {
      const { tenantEntry, clientInfo, body } = request
      const deleted = await app.db.write(tenantEntry, (tx, { userId, tenantId }) =>
        deleteServiceToken(tx, { userId, tenantId, clientInfo }, body.id),
      )
      if (!deleted) throw new Problem('not-found')
      const notice: TokenNotice = 'removed'
      return reply.redirect(`${path}?done=${notice}`, 303)
    },
  )
}

/** Reads everything the page shows in one transaction. */
async function sendTokens(
  request: FastifyRequest,
  reply: FastifyReply,
  { newToken = null, done }: Partial<ServiceTokensView>,
) {
  const { server, tenantEntry } = request
  const { tokens, names } = await server.db.read(tenantEntry, async (tx, caller) => {
    const [{ data: tokens }, names] = await Promise.all([
      listServiceTokens(tx, caller, allTokens),
      findCreatorNames(tx, caller),
    ])
    return { tokens, names }
  })
  const { viewer } = request
  const now = server.clock.now()
  const nameOf = (id: number) => (names.has(id) ? (names.get(id) ?? `user ${id}`) : null)
  return reply.sendPage(serviceTokensPage({ viewer, tokens, nameOf, now, newToken, done }))
}

export default serviceTokens
