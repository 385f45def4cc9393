import Type from 'typebox'
import type { Caller } from '#src/access/caller.ts'
import { tokenPermissions } from '#src/access/roles.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { CreatedAt, LastUsedAt, OwnUuid } from '#src/http/fields.ts'
import { Line, NoContent, Nullable, PageOf, UuidParams } from '#src/http/schemas.ts'
import { apiTokens, maxTokens } from './api-tokens.ts'
import { ExpiresAt, TokenHint } from './schemas.ts'
import { createToken, deleteToken, findToken, listTokens } from './store.ts'

const ApiToken = Type.Object(
  {
    id: OwnUuid,
    name: Type.String({ description: 'For you, to tell your tokens apart' }),
    hint: TokenHint,
    permissions: Nullable(
      Type.Array(Type.String(), {
        description:
          '`resource:action`; it may do nothing else. null: all permissions that you have at the time of use',
      }),
    ),
    createdAt: CreatedAt,
    expiresAt: ExpiresAt,
    lastUsedAt: Nullable(LastUsedAt),
  },
  { title: 'ApiToken' },
)

const NewToken = Type.Object(
  {
    name: Line(100, 'For you, to tell your tokens apart'),
    expiresAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'In the future, at most 366 days ahead; 90 days by default',
      }),
    ),
    // Required, so that no token has all permissions because a caller has left a field out.
    permissions: Nullable(
      Type.Array(Type.String({ enum: [...tokenPermissions] }), {
        uniqueItems: true,
        maxItems: tokenPermissions.length,
        description:
          'The permissions of the token; GET /me is always allowed. `null`: all that you have at the time of use.',
      }),
    ),
  },
  { title: 'NewApiToken', additionalProperties: false },
)

const tag = 'API tokens'

export const createApiToken = defineAction({
  name: 'createApiToken',
  rule: { resource: 'token', action: 'create' },
  tag,
  summary: 'Create an API token for your active tenant; its secret is returned only here',
  description: `Sent as \`Authorization: Bearer gth_…\`, not together with a session cookie (400). It acts for you in the tenant that is active now, with your role at the time of use, and ends with your membership there. Creating one requires a sign-in or re-authentication (\`/auth/login?reauthenticate=true\`) within the last five minutes; otherwise 403 \`/docs/errors/reauthentication-required\`. 409 if you have ${maxTokens} tokens.`,
  body: NewToken,
  result: Type.Object(
    {
      ...ApiToken.properties,
      token: Type.String({ description: 'The secret. It is not shown again.' }),
    },
    { title: 'ApiTokenWithSecret' },
  ),
  status: 201,
  problems: ['conflict'],
  once: true,
  run({ tx, by, now }: Acting<Caller>, { body: { name, expiresAt, permissions } }) {
    const wanted = { name, expiresAt: expiresAt ? new Date(expiresAt) : null, permissions }
    return createToken(apiTokens, tx, by, wanted, now)
  },
})

export const listApiTokens = defineAction({
  name: 'listApiTokens',
  rule: { resource: 'token', action: 'read' },
  tag,
  summary: 'Your API tokens in all your tenants, newest first',
  description: 'Expired tokens are listed for another 30 days.',
  list: apiTokens.list,
  result: PageOf(ApiToken),
  run: ({ tx, by }: Acting<Caller>, { page }) => listTokens(apiTokens, tx, by, page),
})

export const getApiToken = defineAction({
  name: 'getApiToken',
  rule: { resource: 'token', action: 'read' },
  tag,
  summary: 'One of your API tokens',
  params: UuidParams,
  result: ApiToken,
  run: ({ tx, by }: Acting<Caller>, { params }) => findToken(apiTokens, tx, by, params.id),
})

export const deleteApiToken = defineAction({
  name: 'deleteApiToken',
  rule: { resource: 'token', action: 'delete' },
  tag,
  summary: 'Delete an API token; its next request is refused',
  params: UuidParams,
  result: NoContent('The token is deleted'),
  status: 204,
  run: ({ tx, by }: Acting<Caller>, { params }) => deleteToken(apiTokens, tx, by, params.id),
})
