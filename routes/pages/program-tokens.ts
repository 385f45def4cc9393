import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Submitter } from '#src/access/caller.ts'
import type { ClientInfo } from '#src/audit/audit.ts'
import { isRecordedOperator } from '#src/auth/operators/operators.ts'
import { appTokens as tokensOfApp } from '#src/auth/tokens/app-tokens.ts'
import {
  findCreatorNames,
  serviceTokens as tokensOfServices,
} from '#src/auth/tokens/service-tokens.ts'
import {
  createToken,
  deleteToken,
  listTokens,
  type ProgramTokens,
  rotateToken,
  type TokenWithSecret,
} from '#src/auth/tokens/store.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Entry } from '#src/db/entry.ts'
import { Problem } from '#src/http/problems.ts'
import {
  type ProgramTokensView,
  type programTokenForm,
  readProgramTokenForm,
  revokeForm,
  rotateForm,
  type TokenNotice,
  tokensQuery,
} from '#src/pages/account/program-tokens.ts'
import { takeSecret } from '#src/pages/kit/form-submission.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { appTokenForm, appTokensPage } from '#src/pages/operations/app-tokens.ts'
import { serviceTokenForm, serviceTokensPage } from '#src/pages/tenant/service-tokens.ts'

/** What is different between the tokens of services and those of the app. */
type Kind<Caller extends Submitter> = {
  path: string
  tokens: ProgramTokens<By<Caller>, By<Caller>>
  form: ReturnType<typeof programTokenForm>
  entryOf(request: FastifyRequest): Entry<Caller>
  /** Reads everything the page shows in one transaction. */
  render(
    request: FastifyRequest,
    shown: Pick<ProgramTokensView, 'now' | 'newToken' | 'done'>,
  ): Promise<Page>
}

type By<Caller extends Submitter> = Caller & { readonly clientInfo: ClientInfo }

const hide = true

/** The page of the app tokens, for operators. */
export const appTokens = pagesOf({
  path: '/app/app-tokens',
  tokens: tokensOfApp,
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
  tokens: tokensOfServices,
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
function pagesOf<Caller extends Submitter>({
  path,
  tokens,
  form,
  entryOf,
  ...kind
}: Kind<Caller>): FastifyPluginAsyncTypebox<{ keys: EncryptionKeys }> {
  const access = (action: 'read' | 'create' | 'update' | 'delete') => ({
    access: { resource: tokens.name, action },
  })

  return async function programTokens(app, { keys }) {
    app.get(
      path,
      { config: access('read'), schema: { hide, querystring: tokensQuery } },
      async (request, reply) => {
        const newToken = await takeSecret(app.db, entryOf(request), request, keys)
        return reply.sendPage(await render(request, { newToken, done: request.query.done }))
      },
    )
    app.post(
      path,
      { config: access('create'), schema: { hide, body: form.schema } },
      async (request, reply) => {
        const { clientInfo, body } = request
        const now = app.clock.now()
        const facts = readProgramTokenForm(body, now)
        try {
          const location = await app.db.write(entryOf(request), (tx, caller) =>
            request.submitOnce(tx, caller, async () =>
              shownOnce(await createToken(tokens, tx, { ...caller, clientInfo }, facts, now)),
            ),
          )
          return reply.redirect(location, 303)
        } catch (error) {
          if (!(error instanceof Problem) || error.code !== 'conflict') throw error
          request.showAgain(body, { reason: error.detail ?? error.message })
          return reply.code(409).sendPage(await render(request, {}))
        }
      },
    )
    app.post(
      `${path}/rotate`,
      { config: access('update'), schema: { hide, body: rotateForm } },
      async (request, reply) => {
        const { clientInfo, body } = request
        const location = await app.db.write(entryOf(request), (tx, caller) =>
          request.submitOnce(tx, caller, async () => {
            const made = await rotateToken(tokens, tx, { ...caller, clientInfo }, body.id)
            return made && shownOnce(made)
          }),
        )
        if (location === null) throw new Problem('not-found')
        return reply.redirect(location, 303)
      },
    )
    app.post(
      `${path}/remove`,
      { config: access('delete'), schema: { hide, body: revokeForm } },
      async (request, reply) => {
        const { clientInfo, body } = request
        const removed = await app.db.write(entryOf(request), (tx, caller) =>
          deleteToken(tokens, tx, { ...caller, clientInfo }, body.id),
        )
        if (!removed) throw new Problem('not-found')
        const notice: TokenNotice = 'removed'
        return reply.redirect(`${path}?done=${notice}`, 303)
      },
    )

    function render(
      request: FastifyRequest,
      { newToken = null, done }: Partial<ProgramTokensView>,
    ): Promise<Page> {
      return kind.render(request, { now: app.clock.now(), newToken, done })
    }
  }

  function shownOnce({ token, name }: TokenWithSecret) {
    return { path, secret: { secret: token, note: name } }
  }
}
