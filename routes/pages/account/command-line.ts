import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { apiTokens } from '#src/auth/tokens/api-tokens.ts'
import { createToken } from '#src/auth/tokens/store.ts'
import { isReceiver, sealMessage } from '#src/crypto/sealed-message.ts'
import { Problem } from '#src/http/problems.ts'
import {
  commandLineDonePage,
  commandLineForm,
  commandLinePage,
  requestFields,
} from '#src/pages/account/command-line.ts'

// All or none: without them the page says how to begin, or shows a form that was refused.
const Query = Type.Union([
  Type.Object(
    { ...requestFields, name: commandLineForm.schema.properties.name },
    { additionalProperties: false },
  ),
  Type.Object({}, { additionalProperties: false }),
])

const dayMs = 86_400_000

/**
 * The page of `gatehouse login`. It creates a token and leads the browser to the command line, which
 * listens on loopback. The token is sealed for the key of the command line, so it is in no history.
 */
const commandLine: FastifyPluginAsyncTypebox = async function commandLine(app) {
  app.get(
    '/app/command-line',
    {
      config: { access: { resource: 'token', action: 'read' } },
      schema: { hide: true, querystring: Query },
    },
    async (request, reply) => {
      await request.enter()
      const { viewer, query } = request
      return reply.sendPage(commandLinePage(viewer, 'port' in query ? query : null))
    },
  )
  app.post(
    '/app/command-line',
    {
      config: { access: { resource: 'token', action: 'create' } },
      schema: { hide: true, body: commandLineForm.schema },
    },
    async (request, reply) => {
      const { sessionEntry, body, clientInfo, viewer } = request
      const { name, days, port, key, state } = body
      if (!isReceiver(key)) throw new Problem('malformed')
      const now = app.clock.now()
      const expiresAt = new Date(now.getTime() + Number(days) * dayMs)
      const made = await app.db.write(sessionEntry, (tx, caller) =>
        createToken(
          apiTokens,
          tx,
          { ...caller, clientInfo },
          { name, expiresAt, permissions: null },
          now,
        ),
      )
      const answer = new URLSearchParams({ state, token: sealMessage(key, made.token) })
      const url = `http://127.0.0.1:${port}/?${answer}`
      reply.header('refresh', `0;url=${url}`)
      return reply.sendPage(commandLineDonePage(viewer, name, url))
    },
  )
}

export default commandLine
