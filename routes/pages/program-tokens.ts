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
import type { Page } from '#src/pages/kit/layout.ts'
import { appTokenForm, appTokensPage } from '#src/pages/operations/app-tokens.ts'
import { serviceTokenForm, serviceTokensPage } from '#src/pages/tenant/service-tokens.ts'
import {
  type ProgramTokensView,
  type programTokenForm,
  readProgramTokenForm,
  revokeForm,
  rotateForm,
  type TokenNotice,
  tokensQuery,
} from '#src/pages/tokens/program-tokens.ts'

/** What is different between the tokens of services and those of the app. */
type Kind<Holder extends Caller> = {
  path: `/${string}`
  actions: ProgramTokenActions<Holder>
  form: ReturnType<typeof programTokenForm>
  entryOf(request: FastifyRequest): Entry<Holder>
  /** Reads everything the page shows in one transaction. */
  render(
    request: FastifyRequest,
    shown: Pick<ProgramTokensView, 'now' | 'newToken' | 'done'>,
  ): Promise<Page>
}

/** The page of the app tokens, for operators. */
export const appTokens = pagesOf({
  path: '/app/app-tokens',
  actions: appTokenActions,
  form: appTokenForm,
  entryOf: ({ sessionEntry }) => sessionEntry,
  async render(request, shown) {
    const read = await request.server.db.read(request.sessionEntry, async (tx) => {
      const [{ data: tokens }, isRecorded] = await Promise.all([
        listTokens(tokensOfApp, tx, null, { limit: tokensOfApp.max, after: null }),
        isRecordedOperator(tx),
      ])
      return { tokens, isRecorded }
    })
    return appTokensPage({ viewer: request.viewer, ...shown, ...read })
  },
})

/** The page of the tenant's service tokens. */
export const serviceTokens = pagesOf({
  path: '/app/service-tokens',
  actions: serviceTokenActions,
  form: serviceTokenForm,
  entryOf: ({ tenantEntry }) => tenantEntry,
  async render(request, shown) {
    const { server, tenantEntry } = request
    const { tokens, names } = await server.db.read(tenantEntry, async (tx, caller) => {
      const [{ data: tokens }, names] = await Promise.all([
        listTokens(tokensOfServices, tx, caller, { limit: tokensOfServices.max, after: null }),
        findCreatorNames(tx, caller),
      ])
      return { tokens, names }
    })
    const { viewer } = request
    const nameOf = (id: number) => (names.has(id) ? (names.get(id) ?? `user ${id}`) : null)
    return serviceTokensPage({ viewer, ...shown, tokens, nameOf })
  },
})

/** The page of the tokens of one kind, with its forms. */
function pagesOf<Holder extends Caller>({
  path,
  actions,
  form,
  entryOf,
  ...kind
}: Kind<Holder>): FastifyPluginAsyncTypebox<{ keys: EncryptionKeys }> {
  return async function programTokens(app, { keys }) {
    app.get(
      path,
      { config: { access: actions.list.rule }, schema: { hide: true, querystring: tokensQuery } },
      async (request, reply) => {
        const newToken = await takeSecret(app.db, entryOf(request), request, keys)
        return reply.sendPage(await render(request, { newToken, done: request.query.done }))
      },
    )
    const at = { entryOf, to: path }
    const secret = ({ token, name }: TokenWithSecret) => ({ secret: token, note: name })
    app.form(path, actions.create, {
      ...at,
      fields: form.schema,
      read: ({ fields, now }) => readProgramTokenForm(fields, now),
      secret,
      async again(request, reply, problem) {
        request.showAgain(request.body, { reason: problem.message })
        return reply.sendPage(await render(request, {}))
      },
    })
    app.form(`${path}/rotate`, actions.rotate, { ...at, fields: rotateForm, secret })
    const notice: TokenNotice = 'removed'
    app.form(`${path}/remove`, actions.remove, { ...at, fields: revokeForm, notice })

    function render(
      request: FastifyRequest,
      { newToken = null, done }: Partial<ProgramTokensView>,
    ): Promise<Page> {
      return kind.render(request, { now: app.clock.now(), newToken, done })
    }
  }
}
