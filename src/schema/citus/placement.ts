/**
 * Where the tables of a database that is distributed with Citus are. A table that is in neither list
 * stays an ordinary table of the coordinator: it is looked up by a hash, an id or an address before the
 * tenant is known, or belongs to no tenant. Citus does not know it, so it accepts any statement.
 */

/** Distributed by `tenant_id`, all together; the rows of one tenant are on one node. */
export const distributedTables = [
  'orders',
  'posts',
  'invoices',
  'teams',
  'team_members',
  'folders',
  'documents',
  'webhook_endpoints',
  'outbound_events',
  'deliveries',
  'delivery_attempts',
  'due_attempts',
  'notifications',
  'endpoint_replays',
  'tenant_usage',
  'usage_changes',
] as const

/**
 * Copied to every node: distributed tables reference them, or policies read them. The keys of the seal
 * verify a scope on the nodes.
 */
export const referenceTables = ['scope_keys', 'tenants', 'users', 'memberships'] as const

/** Every table that Citus knows. */
export const citusTables: readonly string[] = [...referenceTables, ...distributedTables]

export function isReferenceTable(name: string): boolean {
  return referenceTables.some((table) => table === name)
}
