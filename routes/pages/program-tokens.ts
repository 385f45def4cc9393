import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '#src/access/caller.ts'
import { isRecordedOperator } from '#src/auth/operators/operators.ts'
import {
  appTokenActions,
  type ProgramTokenActions,
  serviceTokenActions,
} from '#src/auth/tokens/actions.ts'
import { appTokens as tokensOfApp } from '#src/auth/tokens/app-tokens.ts'
import {
  findCreatorNames,
  serviceTokens as tokensOfServices,
} from '#src/auth/tokens/service-tokens.ts'
import { listTokens, type TokenWithSecret } from '#src/auth/tokens/store.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Entry } from '#src/db/entry.ts'
import { takeSecret } from '#src/pages/kit/form-submission.ts'
import { appTokenKind, notRecorded } from '#src/pages/operations/app-tokens.ts'
import { serviceTokenKind } from '#src/pages/tenant/service-tokens.ts'
import {
  newProgramTokenPage,
  type ProgramTokenKind,
  type ProgramTokensView,
  programTokensPage,
  readProgramTokenForm,
  revokeForm,
  rotateForm,
  type TokenNotice,
  tokensQuery,
} from '#src/pages/tokens/program-tokens.ts'

/** What is different between the tokens of services and those of the app. */
type Kind<Holder extends Caller> = {
  kind: ProgramTokenKind
  actions: ProgramTokenActions<Holder>
  entryOf(request: FastifyRequest): Entry<Holder>
  /** Reads the tokens, and what else their page shows, in one transaction. */
  read(request: FastifyRequest): Promise<Pick<ProgramTokensView, 'tokens' | 'nameOf' | 'warning'>>
}

/** The page of the app tokens, for operators. */
export const appTokens = pagesOf({
  kind: appTokenKind,
  actions: appTokenActions,
  entryOf: ({ sessionEntry }) => sessionEntry,
  read: ({ server, sessionEntry }) =>
    server.db.read(sessionEntry, async (tx) => {
      const [{ data: tokens }, isRecorded] = await Promise.all([
        listTokens(tokensOfApp, tx, null, { limit: tokensOfApp.max, after: null }),
        isRecordedOperator(tx),
      ])
      return { tokens, nameOf: (id) => `user ${id}`, ...(!isRecorded && { warning: notRecorded }) }
    }),
})

/** The page of the tenant's service tokens. */
export const serviceTokens = pagesOf({
  kind: serviceTokenKind,
  actions: serviceTokenActions,
  entryOf: ({ tenantEntry }) => tenantEntry,
  read: ({ server, tenantEntry }) =>
    server.db.read(tenantEntry, async (tx, caller) => {
      const [{ data: tokens }, names] = await Promise.all([
        listTokens(tokensOfServices, tx, caller, { limit: tokensOfServices.max, after: null }),
        findCreatorNames(tx, caller),
      ])
      return {
        tokens,
        nameOf: (id) => (names.has(id) ? (names.get(id) ?? `user ${id}`) : null),
      }
    }),
})

/** The page of the tokens of one kind and that of a new one, with their forms. */
function pagesOf<Holder extends Caller>({
  kind,
  actions,
  entryOf,
  read,
}: Kind<Holder>): FastifyPluginAsyncTypebox<{ keys: EncryptionKeys }> {
  const { path, form } = kind
  return async function programTokens(app, { keys }) {
    app.get(
      path,
      { config: { access: actions.list.rule }, schema: { hide: true, querystring: tokensQuery } },
      async (request, reply) => {
        const newToken = await takeSecret(app.db, entryOf(request), request, keys)
        const shown = { ...(await read(request)), now: app.clock.now(), newToken }
        const { viewer, query } = request
        return reply.sendPage(programTokensPage({ viewer, ...shown, done: query.done }, kind))
      },
    )
    const at = { entryOf, to: path }
    const secret = ({ token, name }: TokenWithSecret) => ({ secret: token, note: name })
    app.formPage(`${path}/new`, actions.create, {
      ...at,
      fields: form.schema,
      read: ({ fields, now }) => readProgramTokenForm(fields, now),
      secret,
      async page(request) {
        await request.enter()
        return newProgramTokenPage(request.viewer, kind)
      },
    })
    app.form(`${path}/rotate`, actions.rotate, { ...at, fields: rotateForm, secret })
    const notice: TokenNotice = 'removed'
    app.form(`${path}/remove`, actions.remove, { ...at, fields: revokeForm, notice })
  }
}
