import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { assignablePermissions } from '#src/access/roles.ts'
import { createApiToken, deleteApiToken } from '#src/auth/tokens/api-token-actions.ts'
import { apiTokens } from '#src/auth/tokens/api-tokens.ts'
import { listTokens, type TokenWithSecret } from '#src/auth/tokens/store.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { Uuid } from '#src/http/schemas.ts'
import {
  grantedBy,
  newTokenPage,
  type TokenNotice,
  tokenForm,
  tokensPage,
} from '#src/pages/account/tokens.ts'
import { confirmedField } from '#src/pages/kit/components.ts'
import { shownQuery, takeSecret } from '#src/pages/kit/form-submission.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'

const path = '/app/account/tokens'
const firstPage = { limit: 100, after: null }
const dayMs = 86_400_000
const hide = true

const Query = Type.Object({ ...doneQuery, ...shownQuery }, { additionalProperties: false })
const ConfirmedIdForm = Type.Object(
  { id: Uuid, ...confirmedField },
  { additionalProperties: false },
)

/** The API tokens of the person, and the page of a new one, with their forms. */
const tokens: FastifyPluginAsyncTypebox<{ keys: EncryptionKeys }> = async function tokens(
  app,
  { keys },
) {
  app.get(
    path,
    {
      config: { access: { resource: 'account', action: 'read' } },
      schema: { hide, querystring: Query },
    },
    async (request, reply) => {
      const { sessionEntry, query } = request
      const newToken = await takeSecret(app.db, sessionEntry, request, keys)
      const { data: tokens } = await app.db.read(sessionEntry, (tx, caller) =>
        listTokens(apiTokens, tx, caller, firstPage),
      )
      const { viewer } = request
      return reply.sendPage(tokensPage({ viewer, newToken, done: query.done, tokens }))
    },
  )
  app.formPage(`${path}/new`, createApiToken, {
    entryOf,
    to: path,
    fields: tokenForm.schema,
    read: ({ fields: { name, days, ...granted }, now }) => ({
      name,
      expiresAt: new Date(now.getTime() + Number(days) * dayMs).toISOString(),
      permissions: grantedBy(granted),
    }),
    secret: ({ token, name }: TokenWithSecret) => ({ secret: token, note: name }),
    async page(request) {
      const { role } = await request.enter()
      return newTokenPage(request.viewer, assignablePermissions(role))
    },
  })
  app.form(`${path}/end`, deleteApiToken, {
    entryOf,
    to: path,
    notice: 'token-ended' satisfies TokenNotice,
    fields: ConfirmedIdForm,
  })
}

function entryOf({ sessionEntry }: FastifyRequest) {
  return sessionEntry
}

export default tokens
