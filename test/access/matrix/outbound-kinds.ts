import { missingUuid, named, numbered } from '#dev/testing/access/kind.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { insert, type Kinds, type Wanted } from './kind.ts'

/** Webhook endpoints, deliveries and replays of a tenant. */
export const outboundKinds: Kinds = {
  'webhook-endpoint': {
    ...named,
    async create(wanted) {
      return { id: await createOwnEndpoint(wanted) }
    },
  },
  // As the app names it.
  'customer-endpoint': {
    missing: { id: missingUuid, endpointId: missingUuid },
    malformed: { id: 'x', endpointId: 'x' },
    async create(wanted) {
      return { id: wanted.tenantId, endpointId: await createOwnEndpoint(wanted) }
    },
  },
  delivery: {
    ...named,
    async create(wanted) {
      const { world, tenantId } = wanted
      const endpointId = await createOwnEndpoint(wanted)
      return {
        id: await createDelivery(world.test.database, { tenantId, endpointId, attempts: 1 }),
      }
    },
  },
  'endpoint-replay': {
    missing: { id: missingUuid, replayId: missingUuid },
    malformed: { id: 'x', replayId: 'x' },
    async create(wanted) {
      const endpointId = await createOwnEndpoint(wanted)
      // Finished, because the event stream of an unfinished replay stays open for half a minute.
      const replay = await insert(
        wanted.world,
        `INSERT INTO endpoint_replays (tenant_id, endpoint_id, replay_from, replay_to, total,
           finished_at)
         VALUES ($1, $2, now(), now(), 0, now()) RETURNING id`,
        [wanted.tenantId, endpointId],
      )
      return replay && { id: endpointId, replayId: replay.id ?? '' }
    },
  },
  notification: {
    ...numbered,
    async create(wanted) {
      return insert(
        wanted.world,
        `INSERT INTO notifications (tenant_id, kind, endpoint_id, message)
         VALUES ($1, 'endpoint.failing', $2, 'x') RETURNING id`,
        [wanted.tenantId, await createOwnEndpoint(wanted)],
      )
    },
  },
  event: {
    missing: { id: `msg_${missingUuid}` },
    malformed: { id: 'x.y' },
    create: ({ world, tenantId }) =>
      insert(
        world,
        `INSERT INTO outbound_events (tenant_id, id, type, body)
         SELECT $1, id, 'order.updated', json_build_object('id', id, 'type', 'order.updated',
           'createdAt', '2026-01-01T00:00:00Z', 'data', '{}'::json)
         FROM (SELECT 'msg_' || gen_random_uuid() AS id) new RETURNING id`,
        [tenantId],
      ),
  },
}

async function createOwnEndpoint({ world, tenantId }: Wanted): Promise<string> {
  return createEndpoint(world.test.database, { tenantId }, { url: 'https://8.8.8.8/' })
}
