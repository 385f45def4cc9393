import type { PgBoss } from 'pg-boss'
import Type from 'typebox'
import type { TenantPrincipal } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { type Actor, recordChange } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { NoBody, UuidParams } from '#src/http/schemas.ts'
import { type Endpoint, findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { Endpoint as EndpointSchema } from '#src/webhooks/endpoints/schemas.ts'
import { planDrain } from './drain.ts'

type By = Acting<TenantPrincipal>

const Pause = Type.Object(
  {
    keep: Type.Boolean({
      description:
        'True to hold its deliveries until it is resumed; false to end them without an attempt, for a replay',
    }),
  },
  { title: 'EndpointPause', additionalProperties: false },
)

/** They release what is held, which is a job. */
export function pauseActions(queue: PgBoss) {
  const of = {
    rule: { resource: 'webhook-endpoint', action: 'update' },
    tag: 'webhook endpoints',
    params: UuidParams,
    result: EndpointSchema,
  } as const
  return {
    pause: defineAction({
      ...of,
      name: 'pauseWebhookEndpoint',
      summary: 'Pause an endpoint; attempts that have begun are finished',
      body: Pause,
      run: ({ tx, by, now }: By, { params, body }) =>
        pauseEndpoint(tx, queue, by, params.id, { keep: body.keep, now }),
    }),
    resume: defineAction({
      ...of,
      name: 'resumeWebhookEndpoint',
      summary: 'Resume a paused endpoint; what was held is sent, oldest first',
      body: NoBody,
      run: ({ tx, by, now }: By, { params }) => resumeEndpoint(tx, queue, by, params.id, now),
    }),
  }
}

/**
 * Pauses an endpoint: no attempt is begun until it is resumed. With `keep` its deliveries are held, and
 * otherwise they end without an attempt and are left to a replay. Paused again, it gets the new choice.
 * Null if it is missing or another tenant's.
 */
export async function pauseEndpoint(
  tx: Tx,
  queue: PgBoss,
  by: Actor,
  id: string,
  { keep, now }: { keep: boolean; now: Date },
): Promise<Endpoint | null> {
  const paused = keep ? 'hold' : 'drop'
  const { tenantId } = by
  // First, because an endpoint is locked before its state.
  const where = { tenantId, id }
  await tx.webhookEndpoint.updateMany({ where, data: { updatedAt: now } })
  const [changed] = await tx.sql`
    UPDATE endpoint_states SET paused = ${paused}, paused_at = COALESCE(paused_at, ${now})
    WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid AND paused IS DISTINCT FROM ${paused}
    RETURNING id`
  if (changed !== undefined) {
    // What is held already ends as well.
    if (!keep) await planDrain(tx, queue, by, id)
    await recordChange(tx, by, { action: 'endpoint-pause', reason: paused, target: id })
  }
  return findEndpoint(tx, by, id)
}

/**
 * Ends a pause: what is held is sent, as fast as the rate limit allows. One that is not paused stays as it
 * is. Null if it is missing or another tenant's.
 */
export async function resumeEndpoint(
  tx: Tx,
  queue: PgBoss,
  by: Actor,
  id: string,
  now: Date,
): Promise<Endpoint | null> {
  const { tenantId } = by
  await tx.webhookEndpoint.updateMany({ where: { tenantId, id }, data: { updatedAt: now } })
  // Deliveries that ended before `enabled_at` are not sent by the recovery of the endpoint.
  const [resumed] = await tx.sql`
    UPDATE endpoint_states SET paused = NULL, paused_at = NULL,
      enabled_at = CASE paused WHEN 'drop' THEN ${now} ELSE enabled_at END
    WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid AND paused IS NOT NULL
    RETURNING id`
  if (resumed !== undefined) {
    await planDrain(tx, queue, by, id)
    await recordChange(tx, by, { action: 'endpoint-resume', reason: 'own-request', target: id })
  }
  return findEndpoint(tx, by, id)
}
