import { homeFunctionOf, publishesAtHome } from '#src/resources/kit/derived.ts'
import { membersOf } from '#src/resources/kit/fields/keys/member.ts'
import { memberCheckOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'

/**
 * Where the tables of a database that is distributed with Citus are. A table that is in neither list
 * stays an ordinary table of the coordinator: it is looked up by a hash, an id or an address before the
 * tenant is known, or belongs to no tenant. Citus does not know it, so it accepts any statement.
 */

/** The others are distributed together with it. */
export const firstTable = 'tenant_usage'

/**
 * Distributed by `tenant_id`, all together, in this order: the triggers of the others write the first three.
 * The rows of one tenant are on one node.
 */
export const distributedTables: readonly string[] = [
  firstTable,
  'member_usage',
  'usage_changes',
  'teams',
  'team_members',
  'folders',
  ...resources.map(({ plural }) => plural),
  'webhook_endpoints',
  'endpoint_states',
  'endpoint_probes',
  'outbound_events',
  'deliveries',
  'delivery_attempts',
  'due_attempts',
  'notifications',
  'endpoint_replays',
]

/** The counters of what a tenant stores, which triggers write on the nodes. */
export const functionsOfTriggers = [
  'add_usage',
  'add_waiting_usage',
  'member_share',
  'still_in_bucket',
  'usage_lock',
]

/**
 * Copied to every node: distributed tables reference them, or policies read them. The keys of the seal
 * verify a scope on the nodes.
 */
export const referenceTables = ['scope_keys', 'tenants', 'users', 'memberships'] as const

/**
 * Functions of prisma/functions that lock rows of reference tables. Citus refuses such a lock beside tables of the
 * coordinator, so there they name the only shard, which the coordinator has too. None of them writes these tables.
 */
export const functionsOnShards: readonly string[] = [
  'enter_app_token',
  'enter_app_token_as',
  'enter_attempt',
  'enter_billing_event',
  'enter_portal_session',
  'enter_service',
  'enter_service_as',
  'enter_session',
  'enter_session_as',
  'enter_token',
  'enter_token_as',
  'link_by_address',
  'lock_members',
  'lock_memberships_of',
  'open_portal_link',
  'remove_team_member',
  ...resources.filter(publishesAtHome).map(homeFunctionOf),
  ...resources.flatMap((one) => membersOf(one.fields).map(({ key }) => memberCheckOf(one, key))),
]

/** Every table that Citus knows. */
export const citusTables: readonly string[] = [...referenceTables, ...distributedTables]

export function isReferenceTable(name: string): boolean {
  return referenceTables.some((table) => table === name)
}
