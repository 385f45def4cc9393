import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { auditActions } from '#src/auth/audit-actions.ts'
import { exportPerson, personSections, readOwnExport } from '#src/auth/erasure/export.ts'
import { Problem } from '#src/http/problems.ts'
import { means, NoContent, problems, Time } from '#src/http/schemas.ts'
import { createKeyedLimit } from '#src/runtime/keyed-limit.ts'

const RowsOf = (section: string) =>
  Type.Array(Type.Object({}, { additionalProperties: true }), {
    description:
      meanings.get(section) ?? 'Rows of the app that are yours, name you or are seen by you',
  })
/** Of the sections that every app has. */
const meanings: ReadonlyMap<string, string> = new Map([
  ['profile', 'Who you are: name, address and plan, as one row'],
  ['identities', 'What you can sign in with'],
  ['providerGrants', 'What providers have allowed the program on your behalf, without the tokens'],
  ['providerRevocations', 'Tokens of providers that are still to be revoked, without the tokens'],
  ['sessions', 'Where you are or were signed in, without the cookies'],
  ['pendingSignIns', 'Sign-ins that have begun and not ended'],
  ['idempotencyKeys', 'Requests with an `Idempotency-Key` that you could send again'],
  ['apiTokens', 'Your API tokens, without their secrets'],
  ['serviceTokensCreated', 'Service tokens that you have created, without their secrets'],
  ['appTokensCreated', 'App tokens that you have created, without their secrets'],
  ['memberships', 'The tenants that you are a member of, with your role and department'],
  ['eventUsage', 'How much room your events take, by tenant'],
  ['invitationsReceived', 'Invitations to your addresses'],
  ['invitationsSent', 'Invitations that you have sent'],
  ['auditLog', 'What you have done, and what was done to your account'],
  ['tenants', 'Names of the tenants that you are a member of'],
  ['teamMemberships', 'The teams that you are in'],
  ['invoices', 'Invoices of your own tenant'],
  ['events', 'Events that name you, as they were sent'],
])
const sections = [...personSections.once, ...personSections.perTenant]
/** Written while it is read, so no type is inferred for the handler. */
const Export: TSchema = Type.Object(
  {
    exportedAt: means(Time, 'When the download began, in UTC'),
    ...Object.fromEntries(sections.map((section) => [section, RowsOf(section)])),
  },
  { title: 'AccountExport' },
)
const Confirmation = Type.Object(
  { confirm: Type.Literal('delete', { description: 'Says that you mean it' }) },
  { title: 'AccountDeletion', additionalProperties: false },
)

const tags = ['account']

const retryAfterSeconds = 5

/** Downloads the caller's stored data, and deletes their account. */
const account: FastifyPluginAsyncTypebox = async function account(app) {
  const exporting = createKeyedLimit(1)

  app.get(
    '/auth/account/export',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'account', action: 'read' } },
      schema: {
        operationId: 'exportAccount',
        tags,
        summary: 'Download everything that is kept about you',
        description:
          'One download at a time. Profile, identities, sessions, memberships, invitations, tokens without secrets, the resources and invoices that you can read, events about what you own, and your audit log. The response is written while it is read: if your session ends meanwhile, the connection is closed before the JSON is complete.',
        response: { 200: Export },
      },
    },
    async (request, reply) => {
      // Each page has a transaction of its own, which decides again.
      const pieces = exportPerson(
        (section, tenantId, after) =>
          app.db.read(request.sessionEntry, (tx) => readOwnExport(tx, section, tenantId, after)),
        app.clock.now(),
      )
      await request.enter()
      // A person has one export at a time, because each reads pages of 1 MiB.
      const person = String(request.caller.userId)
      if (exporting.enter([person]) !== null) {
        const detail = 'Another download of yours is in progress.'
        throw new Problem('too-many-requests', { detail, retryAfterSeconds })
      }
      const stream = Readable.from(pieces, { objectMode: false })
      stream.once('close', () => exporting.leave([person]))
      return reply
        .type('application/json')
        .header('content-disposition', 'attachment; filename="account.json"')
        .send(stream)
    },
  )

  app.post(
    '/auth/account/delete',
    {
      config: { access: { resource: 'account', action: 'delete' } },
      schema: {
        operationId: 'deleteAccount',
        tags,
        summary: 'Delete your account',
        description:
          'Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. Ends every session and API token and deletes identities, memberships, orders, and tenants of which you are the only member; provider tokens are revoked. Your posts stay without an author. The last admin of a tenant with other members is refused (409 `/docs/errors/last-admin`, whose detail names the tenants): make another member an admin, or delete the tenant.',
        body: Confirmation,
        response: {
          204: NoContent('The account is deleted, and the session has ended'),
          ...problems('last-admin'),
        },
      },
    },
    async (_request, reply) => {
      await reply.deleteOwnAccount()
      return reply.code(204).send(null)
    },
  )
}

/** The audit log of the caller's account, in all tenants. */
export const audit: FastifyPluginAsyncTypebox = async function ownAudit(app) {
  const entryOf = ({ sessionEntry }: FastifyRequest) => sessionEntry
  app.api('GET /auth/audit', auditActions.own, { entryOf, head: false })
}

export default account
