import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { type IdentityTokens, keySetSeconds } from '#src/auth/forward-auth/identity-token.ts'

const Key = Type.Object(
  {
    kty: Type.Literal('OKP', { description: 'The family of the key (RFC 8037)' }),
    crv: Type.Literal('Ed25519', { description: 'The curve of the key (RFC 8037)' }),
    x: Type.String({ description: 'The public key, 32 bytes in base64url' }),
    kid: Type.String({ description: 'Thumbprint of the key (RFC 7638)' }),
    alg: Type.Literal('EdDSA', { description: 'The algorithm of the signatures (RFC 7518)' }),
    use: Type.Literal('sig', { description: 'It verifies signatures (RFC 7517, section 4.2)' }),
  },
  { title: 'PublicKey' },
)

const KeySet = Type.Object(
  { keys: Type.Array(Key, { description: 'Each key that verifies a token which is still valid' }) },
  { title: 'KeySet' },
)

const description = `The keys that verify \`gatehouse-identity\` (RFC 7517). A key is published before it \
signs, and as long as its tokens are valid. Fetch the set again for a token with a \`kid\` that you do \
not know.`

/** The public keys of identity tokens. */
const jwks: FastifyPluginAsyncTypebox<{ tokens: IdentityTokens }> = async function jwks(
  app,
  { tokens },
) {
  app.get(
    '/.well-known/jwks.json',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getIdentityKeys',
        tags: ['sign-in'],
        summary: 'Get the keys that verify identity tokens',
        description,
        response: { 200: KeySet },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', `public, max-age=${keySetSeconds}`)
      return { keys: [...tokens.keySet.keys] }
    },
  )
}

export default jwks
