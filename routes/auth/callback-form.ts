import type { FastifyPluginAsync } from 'fastify'
import Type from 'typebox'
import { toCallbackQuery } from '#src/auth/sign-in/callback-form.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, problems } from '#src/http/schemas.ts'
import { unixSeconds } from '#src/runtime/clock.ts'

type Options = { encryptionKeys: EncryptionKeys }

// Node refuses requests whose line and headers are longer than 16 KiB.
const maxQueryLength = 8_192

const description = `For providers with \`response_mode=form_post\`. The browser sends no cookie with a \
form of another site, so it is redirected to \`GET /auth/callback\` with the known fields; all others \
are dropped. A form without exactly one \`state\` is answered as there.`

/** The callback of providers that post their response. It reads no session and judges nothing. */
const callbackForm: FastifyPluginAsync<Options> = async function callbackForm(
  app,
  { encryptionKeys },
) {
  app.post(
    '/auth/callback',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'passOnSignIn',
        tags: ['sign-in'],
        summary: 'The redirect URI for providers that post their response',
        description,
        consumes: ['application/x-www-form-urlencoded'],
        response: {
          303: NoContent('To the callback, with the fields as its query'),
          400: {
            description: 'No state, or several',
            content: { 'text/plain': { schema: Type.Literal('bad state') } },
          },
          ...problems('too-large', 'unsupported-media-type'),
        },
      },
    },
    async (request, reply) => {
      const query = toCallbackQuery(request.body, encryptionKeys, unixSeconds(app.clock))
      if (query === null) {
        const refused = { outcome: 'refused', reason: 'bad-state' } as const
        app.metrics.identity.countSignIn({ provider: 'unknown', purpose: 'unknown', ...refused })
        await app.refusals.record({ action: 'sign-in', ...refused }, request.clientInfo)
        return reply.code(400).type('text/plain').send('bad state')
      }
      if (query.size > 0 && String(query).length > maxQueryLength) throw new Problem('too-large')
      return reply.redirect(`/auth/callback?${query}`, 303)
    },
  )
}

export default callbackForm
