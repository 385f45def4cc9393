import { type Acting, defineAction } from '#src/actions/action.ts'
import type { Tx } from '#src/db/database.ts'
import type { Page, PageResult } from '#src/http/lists/pagination.ts'
import { NoBody, NoContent, PageOf, UuidParams } from '#src/http/schemas.ts'
import type {
  ProgramToken,
  ProgramTokenChange,
  ProgramTokenFacts,
  ProgramTokenWithSecret,
} from './program-tokens.ts'
import { type programTokenSchemas, recently } from './schemas.ts'

/** What is different between the tokens of services and those of the app. */
type Kind<By> = {
  /** `ServiceToken`, as in the names of the operations. */
  title: string
  resource: 'service-token' | 'app-token'
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
  list: { name: string; forms: readonly RegExp[] }
  store: ProgramTokenStore<By>
}

type ProgramTokenStore<By> = {
  list(tx: Tx, by: By, page: Page): Promise<PageResult<ProgramToken>>
  find(tx: Tx, by: By, id: string): Promise<ProgramToken | null>
  lock(tx: Tx, by: By, id: string): Promise<ProgramToken | null>
  create(tx: Tx, by: By, facts: ProgramTokenFacts, now: Date): Promise<ProgramTokenWithSecret>
  change(
    tx: Tx,
    by: By,
    id: string,
    change: ProgramTokenChange,
    now: Date,
  ): Promise<ProgramToken | null>
  rotate(tx: Tx, by: By, id: string): Promise<ProgramTokenWithSecret | null>
  remove(tx: Tx, by: By, id: string): Promise<boolean>
}

/** The operations on the tokens of one kind. People manage them with a session; no token can. */
export function programTokenActions<Caller>(kind: Kind<Acting<Caller>['by']>) {
  const { title, resource, tag, noun, holder, store } = kind
  const { Token, WithSecret, New, Change } = kind.schemas
  const rule = <const Action>(action: Action) => ({ resource, action })
  const plural = `${noun.replace(/^an? /, '')}s`
  type By = Acting<Caller>

  return {
    list: defineAction({
      name: `list${title}s`,
      rule: rule('read'),
      tag,
      summary: `The ${plural}${holder && ` of${holder}`}, newest first`,
      description: 'Expired tokens are listed for another 30 days.',
      list: kind.list,
      result: PageOf(Token),
      run: ({ tx, by }: By, { page }) => store.list(tx, by, page),
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
        return store.create(tx, by, facts, now)
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
      run: ({ tx, by }: By, { params }) => store.find(tx, by, params.id),
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
      lock: ({ tx, by }: By, { id }) => store.lock(tx, by, id),
      run: ({ tx, by, now }: By, { params, body: { expiresAt, ...fields } }) => {
        const change = { ...fields, ...(expiresAt && { expiresAt: new Date(expiresAt) }) }
        return store.change(tx, by, params.id, change, now)
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
      run: ({ tx, by }: By, { params }) => store.rotate(tx, by, params.id),
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
      lock: ({ tx, by }: By, { id }) => store.lock(tx, by, id),
      run: ({ tx, by }: By, { params }) => store.remove(tx, by, params.id),
    }),
  }
}
