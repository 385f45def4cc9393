import type { Caller, Member } from '#src/access/caller.ts'
import { appPermissions, servicePermissions } from '#src/access/policy.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import type { ClientInfo } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { NoBody, NoContent, PageOf, UuidParams } from '#src/http/schemas.ts'
import { isRecordedOperator, operatorNotRecorded } from '../operators/operators.ts'
import { appTokens, maxAppTokens } from './app-tokens.ts'
import { programTokenSchemas, recently } from './schemas.ts'
import { maxServiceTokens, serviceTokens } from './service-tokens.ts'
import {
  changeToken,
  createToken,
  deleteToken,
  findToken,
  listTokens,
  lockToken,
  type ProgramTokens,
  rotateToken,
} from './store.ts'

/** What is different between the tokens of services and those of the app. */
type Kind<By extends Author> = {
  tokens: ProgramTokens<By, By>
  /** `ServiceToken`, as in the names of the operations. */
  title: string
  tag: string
  schemas: ReturnType<typeof programTokenSchemas>
  /** `a service token`, as in the descriptions. */
  noun: string
  /** ` your tenant`, after “of” and “for”; empty for tokens of no tenant. */
  holder: string
  /** How the secret looks. */
  secret: string
  /** What the token is for, and how many there can be, for the description of its creation. */
  purpose: string
  most: string
  /** @throws Problem for who cannot list the tokens */
  mayList?(tx: Tx): Promise<void>
}

type Author = { readonly userId: number; readonly clientInfo: ClientInfo }

/** The operations on the tokens of one kind. People manage them with a session; no token can. */
export type ProgramTokenActions<Holder extends Caller> = ReturnType<
  typeof programTokenActions<Holder>
>

function programTokenActions<Holder extends Caller>(kind: Kind<Acting<Holder>['by']>) {
  const { tokens, title, tag, noun, holder } = kind
  const { Token, WithSecret, New, Change } = kind.schemas
  const rule = <const Action>(action: Action) => ({ resource: tokens.name, action })
  const plural = `${noun.replace(/^an? /, '')}s`
  type By = Acting<Holder>

  return {
    list: defineAction({
      name: `list${title}s`,
      rule: rule('read'),
      tag,
      summary: `The ${plural}${holder && ` of${holder}`}, newest first`,
      description: 'Expired tokens are listed for another 30 days.',
      list: tokens.list,
      result: PageOf(Token),
      async run({ tx, by }: By, { page }) {
        await kind.mayList?.(tx)
        return listTokens(tokens, tx, by, page)
      },
    }),
    create: defineAction({
      name: `create${title}`,
      rule: rule('create'),
      tag,
      summary: `Create ${noun}${holder && ` for${holder}`}; its secret is returned only here`,
      description: `Sent as \`Authorization: Bearer ${kind.secret}\`, not together with a session cookie (400). ${kind.purpose} ${recently} ${kind.most}`,
      body: New,
      result: WithSecret,
      status: 201,
      problems: ['conflict'],
      once: true,
      versioned: Token,
      run: ({ tx, by, now }: By, { body: { name, permissions, expiresAt } }) => {
        const facts = { name, permissions, expiresAt: expiresAt ? new Date(expiresAt) : null }
        return createToken(tokens, tx, by, facts, now)
      },
    }),
    get: defineAction({
      name: `get${title}`,
      rule: rule('read'),
      tag,
      summary: `Read ${noun}${holder && ` of${holder}`}`,
      params: UuidParams,
      result: Token,
      versioned: Token,
      run: ({ tx, by }: By, { params }) => findToken(tokens, tx, by, params.id),
    }),
    update: defineAction({
      name: `update${title}`,
      rule: rule('update'),
      tag,
      summary: `Change name, permissions or expiry of ${noun}`,
      description: `Applies from its next request. ${recently} \`lastUsedAt\` is part of the ETag, so \`If-Match\` may also fail because the token was used.`,
      params: UuidParams,
      body: Change,
      result: Token,
      once: true,
      versioned: Token,
      lock: ({ tx, by }: By, { id }) => lockToken(tokens, tx, by, id),
      run: ({ tx, by, now }: By, { params, body: { expiresAt, ...fields } }) => {
        const change = { ...fields, ...(expiresAt && { expiresAt: new Date(expiresAt) }) }
        return changeToken(tokens, tx, by, params.id, change, now)
      },
    }),
    rotate: defineAction({
      name: `rotate${title}`,
      rule: rule('update'),
      tag,
      summary: `Give ${noun} a new secret; it is returned only here`,
      description: `The previous secret ends at once. To change over without a gap, create a second token and delete the first. ${recently} 409 if another request rotates it at the same time.`,
      params: UuidParams,
      body: NoBody,
      result: WithSecret,
      problems: ['conflict'],
      once: true,
      run: ({ tx, by }: By, { params }) => rotateToken(tokens, tx, by, params.id),
    }),
    remove: defineAction({
      name: `delete${title}`,
      rule: rule('delete'),
      tag,
      summary: `Delete ${noun}; its next request is refused`,
      params: UuidParams,
      result: NoContent('The token is deleted'),
      status: 204,
      versioned: Token,
      lock: ({ tx, by }: By, { id }) => lockToken(tokens, tx, by, id),
      run: ({ tx, by }: By, { params }) => deleteToken(tokens, tx, by, params.id),
    }),
  }
}

/** The service tokens of the tenant, for its admins. */
export const serviceTokenActions = programTokenActions<Member>({
  tokens: serviceTokens,
  title: 'ServiceToken',
  tag: 'service tokens',
  schemas: programTokenSchemas({
    title: 'ServiceToken',
    permissions: servicePermissions,
    permissionsText: 'What the service may do in your tenant; it may do nothing else.',
    createdByText: 'The user who created it, a member still or not; null after their erasure',
    secret: 'gths_…',
  }),
  noun: 'a service token',
  holder: ' your tenant',
  secret: 'gths_…',
  purpose:
    'It acts for the tenant and for no person: it may do what its permissions name, within the tenant, and has limits of its own. It ends when it expires or is deleted, or with the tenant, and not when you leave.',
  most: `409 if the tenant has ${maxServiceTokens} service tokens.`,
})

/** The tokens of the app, for operators. */
export const appTokenActions = programTokenActions<Caller>({
  tokens: appTokens,
  title: 'AppToken',
  tag: 'app',
  schemas: programTokenSchemas({
    title: 'AppToken',
    permissions: appPermissions,
    examples: [['event:publish']],
    permissionsText: 'What the app may do in every tenant; it may do nothing else.',
    createdByText:
      'The operator who created it; null from the command line, or after their erasure',
    secret: 'gtha_…',
  }),
  noun: 'an app token',
  holder: '',
  secret: 'gtha_…',
  purpose:
    'It is for the backend behind this program. It belongs to no tenant: each request names the tenant that it is about. Its permissions say what it may do, and it has its own rate limits.',
  most: `409 if there are ${maxAppTokens} app tokens.`,
  async mayList(tx) {
    if (!(await isRecordedOperator(tx))) throw operatorNotRecorded()
  },
})
