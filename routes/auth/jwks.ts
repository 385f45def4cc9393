import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { type IdentityTokens, keySetSeconds } from '#src/auth/forward-auth/identity-token.ts'

const Key = Type.Object(
  {
    kty: Type.Literal('OKP'),
    crv: Type.Literal('Ed25519'),
    x: Type.String({ description: 'The public key, 32 bytes in base64url' }),
    kid: Type.String({ description: 'Thumbprint of the key (RFC 7638)' }),
    alg: Type.Literal('EdDSA'),
    use: Type.Literal('sig'),
  },
  { title: 'PublicKey' },
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
        response: { 200: Type.Object({ keys: Type.Array(Key) }, { title: 'KeySet' }) },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', `public, max-age=${keySetSeconds}`)
      return { keys: [...tokens.keySet.keys] }
    },
  )
}

export default jwks
