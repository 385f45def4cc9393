import Type from 'typebox'

/** The settings of one provider; `OIDC_<NAME>_` stands before each name. */
export const ProviderSettings = Type.Object({
  ISSUER: Type.String({
    minLength: 1,
    description: 'Issuer, exactly as the provider’s metadata spells it.',
  }),
  CLIENT_ID: Type.String({ minLength: 1, description: 'Client id registered with the provider.' }),
  CLIENT_SECRET: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Client secret; several, comma-separated, for rotation without downtime. Not needed for private_key_jwt.',
    }),
  ),
  SCOPES: Type.String({
    default: 'openid email profile',
    description: 'Scopes asked for at sign-in; the least that does the job.',
  }),
  LABEL: Type.Optional(
    Type.String({ description: 'Text on the sign-in button; default the name.' }),
  ),
  CLIENT_AUTH: Type.Union(
    [
      Type.Literal('client_secret_post'),
      Type.Literal('client_secret_basic'),
      Type.Literal('private_key_jwt'),
    ],
    {
      default: 'client_secret_post',
      description:
        'How the client proves itself: client_secret_post, client_secret_basic or private_key_jwt.',
    },
  ),
  PRIVATE_KEY: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'For private_key_jwt: a private JWK as JSON with kid and alg inside, or the path of a file with it.',
    }),
  ),
  ID_TOKEN_ALG: Type.String({
    default: 'RS256',
    description: 'Comma-separated allow-list of id_token algorithms, asymmetric only.',
  }),
  TRUST_EMAIL: Type.String({
    default: 'false',
    description:
      '`true`, or the comma-separated domains this provider may vouch for. Danger: with it, whoever controls an address at the provider controls the account with that address here.',
  }),
  STORE_TOKENS: Type.Boolean({
    default: false,
    description:
      'Keep access and refresh tokens, encrypted, because the provider’s API is called later. With offline_access among the scopes the consent that it needs is asked for.',
  }),
  USERINFO: Type.Boolean({
    default: false,
    description:
      'Also call userinfo after the exchange, for an e-mail address or a name that the id_token lacks.',
  }),
})
