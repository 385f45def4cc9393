import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  createReconciliation,
  findReconciliation,
  listReconciliations,
  reconciliationList,
  reconciliationStatuses,
} from '#src/billing/reconciliation.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Nullable, PageOf, PageQuery, Time, Uuid, UuidParams } from '#src/http/schemas.ts'

const Reconciliation = Type.Object(
  {
    id: Uuid,
    from: Type.String({ ...Time, description: 'Events that the provider created from here' }),
    to: Type.String({ ...Time, description: 'until before this time' }),
    dryRun: Type.Boolean({ description: 'It only counts' }),
    scheduled: Type.Boolean({ description: 'False if an operator asked for it' }),
    status: Type.Enum([...reconciliationStatuses]),
    seen: Type.Integer({ description: 'Events in the list of the provider' }),
    missed: Type.Integer({
      description: 'Events whose webhook never arrived. Without `dryRun` they are recorded.',
    }),
    different: Type.Integer({
      description: 'Known events whose content in the list is not what was received',
    }),
    refused: Type.Integer({ description: 'Members of the list that are no events of this time' }),
    missedIds: Type.Array(Type.String(), { description: 'The first hundred' }),
    differentIds: Type.Array(Type.String(), { description: 'The first hundred' }),
    error: Nullable(Type.String({ description: 'Why it failed' })),
    createdAt: Time,
    finishedAt: Nullable(Time),
  },
  { title: 'BillingReconciliation' },
)

const Request = Type.Object(
  {
    from: Type.Optional(Time),
    to: Type.Optional(Time),
    dryRun: Type.Optional(Type.Boolean({ description: 'Count only, record nothing' })),
  },
  { title: 'NewBillingReconciliation', additionalProperties: false },
)

const listQuery = Type.Object({ ...PageQuery.properties }, { additionalProperties: false })

/** Compares the billing provider's list of events with the received events. */
const billingReconciliations: FastifyPluginAsyncTypebox = async function billingReconciliations(
  app,
) {
  app.post(
    '/billing/reconciliations',
    {
      config: { idempotencyKey: true, access: { resource: 'billing-event', action: 'replay' } },
      schema: {
        operationId: 'createBillingReconciliation',
        tags: ['billing events'],
        summary: 'Compare the events of the provider with those received',
        description:
          'For operators. Reads the list of the provider and records each event whose webhook never arrived, with the same effect. Needs BILLING_API_URL. Without `from` and `to` it covers the last day; never the last ten minutes, because their webhooks may still arrive. The same runs every 15 minutes by itself.',
        body: Request,
        response: { 202: Reconciliation },
      },
    },
    async (request, reply) => {
      const created = await app.db.write(request.entry, (tx) =>
        createReconciliation(tx, app.queue, request.body),
      )
      return reply
        .code(202)
        .header('location', `/billing/reconciliations/${created.id}`)
        .send(created)
    },
  )

  app.get(
    '/billing/reconciliations',
    {
      config: { access: { resource: 'billing-event', action: 'read' } },
      schema: {
        operationId: 'listBillingReconciliations',
        tags: ['billing events'],
        summary: 'List comparisons with the events of the provider, newest first',
        description: 'For operators.',
        querystring: listQuery,
        response: { 200: PageOf(Reconciliation) },
      },
    },
    async (request) => {
      const page = readPage(request.query, reconciliationList.name, reconciliationList.forms)
      return app.db.read(request.entry, (tx) => listReconciliations(tx, page))
    },
  )

  app.get(
    '/billing/reconciliations/:id',
    {
      config: { access: { resource: 'billing-event', action: 'read' } },
      schema: {
        operationId: 'getBillingReconciliation',
        tags: ['billing events'],
        summary: 'Read a comparison with the events of the provider',
        description: 'For operators.',
        params: UuidParams,
        response: { 200: Reconciliation },
      },
    },
    async (request) =>
      found(await app.db.read(request.entry, (tx) => findReconciliation(tx, request.params.id))),
  )
}

export default billingReconciliations
