import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  createAppToken,
  deleteAppToken,
  listAppTokens,
  maxAppTokens,
  rotateAppToken,
} from '#src/auth/app-tokens/app-tokens.ts'
import { isRecordedOperator } from '#src/auth/operators/operators.ts'
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
  type AppTokensView,
  appTokenForm,
  appTokensPage,
} from '#src/pages/operations/app-tokens.ts'

const allTokens = { limit: maxAppTokens, after: null }

type Options = { keys: EncryptionKeys }

const hide = true
const path = '/app/app-tokens'
const access = (action: 'read' | 'create' | 'update' | 'delete') => ({
  access: { resource: 'app-token', action } as const,
})

/** The page of the app tokens, for operators. */
const appTokens: FastifyPluginAsyncTypebox<Options> = async function appTokens(app, { keys }) {
  app.get(
    path,
    { config: access('read'), schema: { hide, querystring: tokensQuery } },
    async (request, reply) => {
      const newToken = await takeSecret(app.db, request.sessionEntry, request, keys)
      return sendTokens(request, reply, { newToken, done: request.query.done })
    },
  )
  app.post(
    path,
    { config: access('create'), schema: { hide, body: appTokenForm.schema } },
    async (request, reply) => {
      const { sessionEntry, clientInfo, body } = request
      const now = app.clock.now()
      const facts = readProgramTokenForm(body, now)
      try {
        const location = await app.db.write(sessionEntry, (tx, caller) =>
          request.submitOnce(tx, caller, async () => {
            const { userId } = caller
            const made = await createAppToken(tx, { userId, clientInfo }, facts, now)
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
      const { sessionEntry, clientInfo, body } = request
      const location = await app.db.write(sessionEntry, (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          const { userId } = caller
          const made = await rotateAppToken(tx, { userId, clientInfo }, body.id)
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
      const { sessionEntry, clientInfo, body } = request
      const deleted = await app.db.write(sessionEntry, (tx, { userId }) =>
        deleteAppToken(tx, { userId, clientInfo }, body.id),
      )
      if (!deleted) throw new Problem('not-found')
      const notice: TokenNotice = 'removed'
      return reply.redirect(`${path}?done=${notice}`, 303)
    },
  )
}

async function sendTokens(
  request: FastifyRequest,
  reply: FastifyReply,
  { newToken = null, done }: Partial<AppTokensView>,
) {
  const { server, sessionEntry } = request
  const { tokens, isRecorded } = await server.db.read(sessionEntry, async (tx) => {
    const [{ data: tokens }, isRecorded] = await Promise.all([
      listAppTokens(tx, allTokens),
      isRecordedOperator(tx),
    ])
    return { tokens, isRecorded }
  })
  const { viewer } = request
  const now = server.clock.now()
  return reply.sendPage(appTokensPage({ viewer, tokens, isRecorded, now, newToken, done }))
}

export default appTokens
