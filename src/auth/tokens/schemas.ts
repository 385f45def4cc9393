import Type from 'typebox'
import { CreatedAt, LastUsedAt, OwnUuid } from '#src/http/fields.ts'
import { Id, Line, means, Nullable, Time } from '#src/http/schemas.ts'
import { defaultDays, maxDays } from './store.ts'

/** In responses about tokens of every kind. */
export const TokenHint = Type.String({
  description: 'Prefix and last four characters of the secret, to recognize it',
  examples: ['gth_…x9Ks'],
})

type Kind = {
  /** `ServiceToken`; also the start of the other titles. */
  title: string
  /** What the token may be given. */
  permissions: readonly string[]
  examples?: string[][]
  /** Descriptions of the fields. */
  permissionsText: string
  createdByText: string
  /** How the secret looks. */
  secret: string
}

const name = Line(100, 'For people, to tell tokens apart')

/** Of a token of any kind. */
export const ExpiresAt = means(Time, 'From then on requests with it are refused (401)')

const expiryText = `In the future, at most ${maxDays} days ahead`

/** The schemas of the requests and responses about service or app tokens. */
export function programTokenSchemas(kind: Kind) {
  const { title, permissions, permissionsText, createdByText, secret } = kind
  const examples = kind.examples && { examples: kind.examples }
  const Token = Type.Object(
    {
      id: OwnUuid,
      name: Type.String({ description: 'For people, to tell tokens apart' }),
      hint: TokenHint,
      permissions: Type.Array(Type.String(), {
        ...examples,
        description: '`resource:action`; it may do nothing else',
      }),
      createdBy: Nullable(means(Id, createdByText)),
      createdAt: CreatedAt,
      expiresAt: ExpiresAt,
      secretRotatedAt: Nullable(
        means(Time, 'When it got its present secret; null if that is its first'),
      ),
      lastUsedAt: Nullable(LastUsedAt),
    },
    { title },
  )
  const WithSecret = Type.Object(
    {
      ...Token.properties,
      token: Type.String({
        description: 'The secret. It is not shown again.',
        examples: [secret],
      }),
    },
    { title: `${title}WithSecret` },
  )
  const Permissions = Type.Array(Type.String({ enum: [...permissions] }), {
    minItems: 1,
    maxItems: permissions.length,
    uniqueItems: true,
    ...examples,
    description: permissionsText,
  })
  const expiry = (description: string) =>
    Type.Optional(Type.String({ format: 'date-time', description }))
  const New = Type.Object(
    {
      name,
      permissions: Permissions,
      expiresAt: expiry(`${expiryText}; ${defaultDays} days by default`),
    },
    { title: `New${title}`, additionalProperties: false },
  )
  const Change = Type.Object(
    {
      name: Type.Optional(name),
      permissions: Type.Optional(Permissions),
      expiresAt: expiry(expiryText),
    },
    { title: `${title}Change`, minProperties: 1, additionalProperties: false },
  )
  return { Token, WithSecret, New, Change }
}

/** For the descriptions of what needs a recent authentication. */
export const recently =
  'Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`.'
