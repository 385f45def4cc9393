import type { PgBoss } from 'pg-boss'
import Type from 'typebox'
import type { SessionCaller } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { means, NoContent, PageOf, Time } from '#src/http/schemas.ts'
import { identityList, listIdentities, unlinkIdentity } from './identities.ts'

const Identity = Type.Object(
  {
    provider: Type.String({ description: 'Its name in this installation, such as `google`' }),
    subject: Type.String({ description: 'Your id at the provider (`sub`)' }),
    issuer: Type.String({
      description: 'The URL by which the provider names itself (`iss` of OpenID Connect)',
    }),
    createdAt: means(Time, 'When it was linked to your account, in UTC'),
  },
  { title: 'Identity' },
)

export const ProviderParams = Type.Object(
  {
    provider: Type.String({
      ...{ pattern: '^[a-z][a-z0-9_]*$', maxLength: 64 },
      description: 'Name of a sign-in provider of this installation, such as `google`',
    }),
  },
  { additionalProperties: false },
)
export const IdentityParams = Type.Object(
  {
    ...ProviderParams.properties,
    subject: Type.String({
      pattern: '^[ -~]{1,255}$',
      description: 'Your id at the provider, as `GET /auth/identities` has it',
    }),
  },
  { additionalProperties: false },
)

export const recentDescription =
  'Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`.'

/** The operations on the identities of an account; linking one begins at its provider. */
export function identityActions(queue: PgBoss) {
  return {
    list: defineAction({
      name: 'listIdentities',
      rule: { resource: 'identity', action: 'read' },
      tag: 'account',
      summary: 'The identities that you can sign in with',
      list: identityList,
      result: PageOf(Identity),
      run: ({ tx, by }: Acting<SessionCaller>, { page }) => listIdentities(tx, by, page),
    }),
    unlink: defineAction({
      name: 'unlinkIdentity',
      rule: { resource: 'identity', action: 'delete' },
      tag: 'account',
      summary: 'Unlink an identity; ends your other sessions signed in through its provider',
      description: `${recentDescription} 409 for the last identity.`,
      params: IdentityParams,
      result: NoContent('The identity is unlinked'),
      status: 204,
      problems: ['last-sign-in-method'],
      refusals: { last: { code: 'last-sign-in-method' } },
      async run({ tx, by }: Acting<SessionCaller>, { params }) {
        const outcome = await unlinkIdentity(tx, queue, by, params, by.clientInfo)
        return outcome === 'last' ? outcome : outcome === 'unlinked'
      },
    }),
  }
}
