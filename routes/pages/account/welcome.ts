import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { findTenant, renameTenant } from '#src/auth/members/tenants.ts'
import { found } from '#src/http/params.ts'
import { namePage, ReturnPath, welcomeForm } from '#src/pages/account/welcome.ts'
import { returnPage } from '#src/pages/sign-in/sign-in.ts'

const config = { access: { resource: 'tenant-name', action: 'update' } } as const

const Query = Type.Object({ return_to: Type.Optional(ReturnPath) }, { additionalProperties: false })

/**
 * The page after the first sign-in, which asks for the name of the tenant.
 * @param options `returnTo`: where a sign-in returns to that asked for no other path
 */
const welcome: FastifyPluginAsyncTypebox<{ returnTo: string }> = async function welcome(
  app,
  options,
) {
  const allowed = (path: string | undefined) => app.allowedReturn(path) ?? options.returnTo
  app.get(
    '/app/welcome',
    { config, schema: { hide: true, querystring: Query } },
    async (request, reply) => {
      const { name } = found(await app.db.read(request.tenantEntry, findTenant))
      const returnTo = allowed(request.query.return_to)
      return reply.sendPage(namePage({ viewer: request.viewer, name, returnTo }))
    },
  )
  app.post(
    '/app/welcome',
    { config, schema: { hide: true, body: welcomeForm.schema } },
    async (request, reply) => {
      const { tenantEntry, clientInfo, body } = request
      await app.db.write(tenantEntry, (tx, caller) =>
        renameTenant(tx, caller, body.name, clientInfo),
      )
      const target = allowed(body.return_to)
      // As after a sign-in: browsers apply `form-action` to the redirect that follows the form.
      return target.startsWith('/')
        ? reply.redirect(target, 303)
        : reply.sendPage(returnPage(target))
    },
  )
}

export default welcome
