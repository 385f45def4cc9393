import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
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
import { Uuid } from '#src/http/schemas.ts'
import { confirmedField } from '#src/pages/kit/components.ts'
import { chosen } from '#src/pages/kit/form.ts'
import { shownQuery, submissionFields, takeSecret } from '#src/pages/kit/form-submission.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import {
  type AppTokenNotice,
  type AppTokensView,
  appTokenForm,
  appTokensPage,
} from '#src/pages/operations/app-tokens.ts'

const allTokens = { limit: maxAppTokens, after: null }
const dayMs = 86_400_000

const Query = Type.Object({ ...doneQuery, ...shownQuery }, { additionalProperties: false })
const RotateForm = Type.Object(
  { ...submissionFields, id: Uuid, ...confirmedField },
  { additionalProperties: false },
)
const RemoveForm = Type.Object({ id: Uuid, ...confirmedField }, { additionalProperties: false })

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
    { config: access('read'), schema: { hide, querystring: Query } },
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
      const expiresAt = new Date(now.getTime() + Number(body.days) * dayMs)
      const facts = { name: body.name, permissions: chosen(body.permissions), expiresAt }
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
    { config: access('update'), schema: { hide, body: RotateForm } },
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
    { config: access('delete'), schema: { hide, body: RemoveForm } },
    async (request, reply) => {
      const { sessionEntry, clientInfo, body } = request
      const deleted = await app.db.write(sessionEntry, (tx, { userId }) =>
        deleteAppToken(tx, { userId, clientInfo }, body.id),
      )
      if (!deleted) throw new Problem('not-found')
      const notice: AppTokenNotice = 'removed'
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
