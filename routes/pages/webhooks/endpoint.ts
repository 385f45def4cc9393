import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { found } from '#src/http/params.ts'
import { Uuid, UuidParams } from '#src/http/schemas.ts'
import { confirmedField } from '#src/pages/kit/components.ts'
import {
  SubmissionForm,
  shownQuery,
  submissionFields,
  takeSecret,
} from '#src/pages/kit/form-submission.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import {
  type NewSecret,
  overviewPage,
  pauseForm,
  probePage,
  rotateForm,
  settingsPage,
  testForm,
} from '#src/pages/webhooks/endpoint.ts'
import type { WebhookNotice } from '#src/pages/webhooks/endpoints.ts'
import { endpointForm, readFields } from '#src/pages/webhooks/forms.ts'
import { pauseActions } from '#src/webhooks/delivery/held/pause.ts'
import {
  deleteWebhookEndpoint,
  type EndpointSettings,
  enableWebhookEndpoint,
  endpointActions,
} from '#src/webhooks/endpoints/actions.ts'
import {
  changeEndpoint,
  endpointRefusals,
  findEndpoint,
  type RotatedEndpoint,
} from '#src/webhooks/endpoints/endpoints.ts'
import { listAppTypeNames } from '#src/webhooks/events/app-types.ts'
import { findDelivery } from '#src/webhooks/history/deliveries.ts'
import { measurePeriod } from '#src/webhooks/history/stats.ts'
import { findProbe, probeEndpoint } from '#src/webhooks/probe/probe.ts'
import { sendTest, testType } from '#src/webhooks/probe/test-event.ts'

const OverviewQuery = Type.Object(
  {
    ...doneQuery,
    test: Type.Optional(Uuid),
    period: Type.Optional(Type.Enum(['day', 'week', 'month'])),
    ...shownQuery,
  },
  { additionalProperties: false },
)
const ProbeQuery = Type.Object(doneQuery, { additionalProperties: false })
const SettingsQuery = Type.Object({ ...doneQuery, ...shownQuery }, { additionalProperties: false })
const RemoveForm = Type.Object(
  { ...submissionFields, ...confirmedField },
  { additionalProperties: false },
)

type App = Parameters<FastifyPluginAsyncTypebox>[0]
type EndpointRequest = FastifyRequest<{ Params: Static<typeof UuidParams> }>

const read = { access: { resource: 'webhook-endpoint', action: 'read' } } as const
const update = { access: { resource: 'webhook-endpoint', action: 'update' } } as const
const schema = { hide: true, params: UuidParams }
const path = '/webhooks/:id'

/** The pages of one webhook endpoint and their forms; its deliveries have their own plugin. */
const webhookEndpoint: FastifyPluginAsyncTypebox<EndpointSettings> = async function webhookEndpoint(
  app,
  options,
) {
  const { keys } = options
  app.get(
    path,
    { config: read, schema: { ...schema, querystring: OverviewQuery } },
    async (request, reply) => {
      const { tenantPrincipalEntry, query } = request
      const newSecret = await takeSecret(app.db, tenantPrincipalEntry, request, keys)
      return sendOverview(request, reply, query, newSecret)
    },
  )
  app.get(
    `${path}/settings`,
    { config: read, schema: { ...schema, querystring: SettingsQuery } },
    async (request, reply) => {
      const { tenantPrincipalEntry, query } = request
      const newSecret = await takeSecret(app.db, tenantPrincipalEntry, request, keys)
      return sendSettings(request, reply, { done: query.done, newSecret })
    },
  )
  app.get(
    `${path}/probe`,
    { config: read, schema: { ...schema, querystring: ProbeQuery } },
    async (request, reply) => sendProbe(request, reply, { done: request.query.done }),
  )
  app.post(
    `${path}/settings`,
    { config: update, schema: { ...schema, body: endpointForm.schema } },
    async (request, reply) => {
      const { params, body, tenantPrincipalEntry, clientInfo, log } = request
      const facts = readFields(body)
      // A foreign or missing endpoint is a 404 before its URL is checked.
      found(
        await app.db.read(tenantPrincipalEntry, (tx, caller) =>
          findEndpoint(tx, caller, params.id),
        ),
      )
      const checked = await app.judgeCustomerUrl(facts.url, log)
      if ('fault' in checked) {
        request.showAgain(body, { faults: [['url', checked.fault]] })
        return sendSettings(request, reply.code(400), {})
      }
      const change = { ...facts, url: checked.url }
      const now = app.clock.now()
      const changed = await app.db.write(tenantPrincipalEntry, (tx, caller) =>
        changeEndpoint(tx, { ...caller, clientInfo }, params.id, change, now),
      )
      if (changed === 'url-taken') {
        request.showAgain(body, { faults: [['url', endpointRefusals[changed]]] })
        return sendSettings(request, reply.code(409), {})
      }
      found(changed)
      return redirect(reply, `${params.id}/settings`, 'changed')
    },
  )
  addCheckForms(app, keys)
  app.form(`${path}/settings/rotate`, endpointActions(options).rotate, {
    ...led('/webhooks/:id/settings', 'rotated'),
    fields: rotateForm.schema,
    read: ({ fields }) => ({ overlapSeconds: Number(fields.overlapSeconds) }),
    secret: ({ secret, previousSecretExpiresAt: note }: RotatedEndpoint) => ({ secret, note }),
  })
  app.form(`${path}/enable`, enableWebhookEndpoint, led(path, 'enabled'))
  const { pause, resume } = pauseActions(app.queue)
  app.form(`${path}/resume`, resume, led(path, 'resumed'))
  app.form(`${path}/settings/pause`, pause, {
    ...led(path, 'paused'),
    fields: pauseForm.schema,
    read: ({ fields }) => ({ keep: fields.deliveries === 'hold' }),
  })
  const removal = { ...led('/webhooks', 'removed'), fields: RemoveForm }
  app.form(`${path}/settings/remove`, deleteWebhookEndpoint, removal)
}

/** Adds the forms that check an endpoint: a worker sends requests to it, and the page waits for the result. */
function addCheckForms(app: App, keys: EncryptionKeys) {
  app.post(
    `${path}/test`,
    { config: update, schema: { ...schema, body: testForm.schema } },
    async (request, reply) => {
      const { body, tenantPrincipalEntry, clientInfo } = request
      const { db, queue, answers } = app
      const { id } = request.params
      const repeated = await countFirst(request, '', 'testing')
      if (repeated !== null) return reply.redirect(repeated, 303)
      const deps = { queue, answers, keys, clientInfo }
      const delivery = found(
        await sendTest(
          db,
          tenantPrincipalEntry,
          { endpointId: id, type: body.type ?? testType },
          deps,
        ),
      )
      return redirect(reply, id, 'tested', { test: delivery.id })
    },
  )
  app.post(
    `${path}/probe`,
    { config: update, schema: { ...schema, body: SubmissionForm } },
    async (request, reply) => {
      const { tenantPrincipalEntry, clientInfo } = request
      const { db, queue, answers, clock } = app
      const { id } = request.params
      const repeated = await countFirst(request, '/probe', 'probing')
      if (repeated !== null) return reply.redirect(repeated, 303)
      const deps = { queue, answers, keys, clock, clientInfo }
      const probed = found(await probeEndpoint(db, tenantPrincipalEntry, id, deps))
      if ('report' in probed) return redirect(reply, `${id}/probe`, 'probed')
      const seconds = (probed.wait.until.getTime() - clock.now().getTime()) / 1_000
      const fault = `The receiver was checked recently. It can be checked again after ${probed.wait.until.toISOString().slice(0, 16).replace('T', ' ')} UTC.`
      reply.code(429).header('retry-after', Math.ceil(seconds))
      return sendProbe(request, reply, { fault })
    },
  )
}

/** The options of a form: the tenant that it enters, the page that it leads to, and the notice there. */
function led(to: string, notice: WebhookNotice) {
  const entryOf = ({ tenantPrincipalEntry }: FastifyRequest) => tenantPrincipalEntry
  return { entryOf, to, notice }
}

/**
 * Counts a form before its request to the endpoint is made, which cannot be rolled back.
 * @param tab where its result is shown
 * @returns null the first time; the path to redirect to if the form was sent again
 */
async function countFirst(
  request: EndpointRequest,
  tab: '' | '/probe',
  notice: WebhookNotice,
): Promise<string | null> {
  const { server, params, tenantPrincipalEntry } = request
  let isFirst = false
  const location = await server.db.write(tenantPrincipalEntry, (tx, caller) =>
    request.submitOnce(tx, caller, async () => {
      isFirst = true
      found(await findEndpoint(tx, caller, params.id))
      return { path: `${server.prefix}/webhooks/${params.id}${tab}?done=${notice}` }
    }),
  )
  return isFirst ? null : location
}

/** Reads everything the page shows in one transaction, as the others do. */
async function sendOverview(
  request: EndpointRequest,
  reply: FastifyReply,
  { done, test, period = 'day' }: Static<typeof OverviewQuery>,
  newSecret: NewSecret,
) {
  const { server, tenantPrincipalEntry } = request
  const { id } = request.params
  const now = server.clock.now()
  const result = await server.db.read(tenantPrincipalEntry, async (tx, caller) => {
    const [endpoint, stats, tested] = await Promise.all([
      findEndpoint(tx, caller, id),
      measurePeriod(tx, caller, now, id, period),
      test === undefined ? null : findDelivery(tx, caller, test),
    ])
    return { endpoint: found(endpoint), stats, test: tested?.endpointId === id ? tested : null }
  })
  const { viewer } = request
  return reply.sendPage(overviewPage({ viewer, ...result, period, done, newSecret }))
}

async function sendSettings(
  request: EndpointRequest,
  reply: FastifyReply,
  { done, newSecret = null }: { done?: string | undefined; newSecret?: NewSecret },
) {
  const { server, tenantPrincipalEntry, params } = request
  const result = await server.db.read(tenantPrincipalEntry, async (tx, caller) => {
    const [endpoint, appTypes] = await Promise.all([
      findEndpoint(tx, caller, params.id),
      listAppTypeNames(tx),
    ])
    return { endpoint: found(endpoint), appTypes }
  })
  const { viewer } = request
  return reply.sendPage(settingsPage({ viewer, ...result, done, newSecret }))
}

async function sendProbe(
  request: EndpointRequest,
  reply: FastifyReply,
  { done, fault = null }: { done?: string | undefined; fault?: string | null },
) {
  const { server, tenantPrincipalEntry, params } = request
  const result = await server.db.read(tenantPrincipalEntry, async (tx, caller) => {
    const [endpoint, probed] = await Promise.all([
      findEndpoint(tx, caller, params.id),
      findProbe(tx, caller, params.id),
    ])
    return { endpoint: found(endpoint), probe: probed?.report ?? null }
  })
  const { viewer } = request
  return reply.sendPage(probePage({ viewer, ...result, done, fault }))
}

/**
 * Post/Redirect/Get, so that a reload does not repeat the action.
 * @param page the id of the endpoint, and which part of it
 */
function redirect(
  reply: FastifyReply,
  page: string,
  notice: WebhookNotice,
  extraQuery: Record<string, string> = {},
) {
  const query = new URLSearchParams({ done: notice, ...extraQuery })
  return reply.redirect(`${reply.server.prefix}/webhooks/${page}?${query}`, 303)
}

export default webhookEndpoint
