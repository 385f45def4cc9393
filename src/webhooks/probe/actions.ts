import Type from 'typebox'
import type { TenantPrincipal } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { means, Nullable, UuidParams } from '#src/http/schemas.ts'
import { findProbe } from './probe.ts'
import { ProbeReport } from './schemas.ts'

export const getWebhookEndpointProbe = defineAction({
  name: 'getWebhookEndpointProbe',
  rule: { resource: 'webhook-endpoint', action: 'read' },
  tag: 'webhook endpoints',
  summary: 'The report of the latest probe',
  params: UuidParams,
  result: Type.Object(
    { report: Nullable(means(ProbeReport, 'null if the endpoint was never probed')) },
    { title: 'LatestProbe' },
  ),
  run: ({ tx, by }: Acting<TenantPrincipal>, { params }) => findProbe(tx, by, params.id),
})
