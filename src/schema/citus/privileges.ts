import pg from 'pg'
import { referenceTables } from './placement.ts'

/** Privileges by table, as GRANT lists them. */
export type TableGrants = Readonly<Record<string, string>>

/** The functions that policies of a distributed database call, besides those of every database. */
export const citusFunctions = [
  'is_own_tenant(uuid)',
  'is_member(bigint)',
  'may_delete_endpoint(uuid)',
  'cluster_facts()',
] as const

/**
 * What the web role deletes itself with an endpoint (drop_endpoint), because the owner would wait for its lock.
 * Their policies let it delete only what delete_endpoint has permitted in the same transaction.
 */
const deletedByWeb = ['webhook_endpoints', 'endpoint_replays']

function withDeletions(grants: TableGrants): TableGrants {
  const further = (table: string, rights: string) =>
    deletedByWeb.includes(table) && /\bINSERT\b/.test(rights) ? `${rights}, DELETE` : rights
  return Object.fromEntries(
    Object.entries(grants).map(([table, rights]) => [table, further(table, rights)]),
  )
}

/** The role that has a login role's privileges on shards. On the nodes the login role is a member of it. */
export function shardRoleOf(login: string): string {
  return `${login}_on_nodes`
}

/**
 * Grants privileges on tables of a distributed database, in the caller's transaction. Citus refuses
 * lists of columns in a GRANT, and gives a shard that it moves the privileges of its table alone. So the
 * tables and the shards of the coordinator get the exact privileges, which Citus does not see; and a role
 * without login gets those of whole tables, which go to the nodes and stay with a shard that moves. The
 * login role is a member of it on the nodes only, where no program logs in.
 */
export async function grantOnCitus(
  owner: pg.Client,
  login: string,
  own: TableGrants,
): Promise<void> {
  const grants = withDeletions(own)
  const role = pg.escapeIdentifier(login)
  const shardRole = shardRoleOf(login)
  await owner.query(`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`)
  const { rowCount } = await owner.query('SELECT FROM pg_roles WHERE rolname = $1', [shardRole])
  if (rowCount === 0) await owner.query(`CREATE ROLE ${pg.escapeIdentifier(shardRole)} NOLOGIN`)
  await grantOnShards(owner, shardRole, grants)
  await owner.query('SET LOCAL citus.enable_ddl_propagation = off')
  await owner.query(`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`)
  for (const [table, rights] of Object.entries(grants)) {
    const names = [table, ...(await shardsOnCoordinator(owner, table))].map(pg.escapeIdentifier)
    await owner.query(`GRANT ${rights} ON ${names.join(', ')} TO ${role}`)
  }
  await owner.query('SET LOCAL citus.enable_ddl_propagation = on')
}

/** Only where something differs, because each change goes to every shard. */
async function grantOnShards(
  owner: pg.Client,
  shardRole: string,
  grants: TableGrants,
): Promise<void> {
  const role = pg.escapeIdentifier(shardRole)
  const { rows } = await owner.query<{ table: string; rights: string }>(currentRights, [shardRole])
  for (const { table, rights } of rows) {
    const wanted = wholeTable(
      grants[table] ?? '',
      (referenceTables as readonly string[]).includes(table),
    )
    if (rights === wanted) continue
    const name = pg.escapeIdentifier(table)
    if (rights !== '') await owner.query(`REVOKE ALL ON ${name} FROM ${role}`)
    if (wanted !== '') await owner.query(`GRANT ${wanted} ON ${name} TO ${role}`)
  }
}

/**
 * `SELECT (a, b), UPDATE (c)` becomes `SELECT, UPDATE`. Who writes or locks a row of a reference table
 * locks on a node also the reference tables that it references, for which Citus asks for the right to
 * update them.
 */
function wholeTable(rights: string, isReference: boolean): string {
  const words = rights.replaceAll(/\s*\([^)]*\)/g, '').split(/,\s*/)
  const needed = isReference && words.includes('SELECT') ? [...words, 'UPDATE'] : words
  return [...new Set(needed)]
    .filter((word) => word !== '')
    .toSorted()
    .join(', ')
}

const currentRights = `
  SELECT c.relname AS table, coalesce((
    SELECT string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type COLLATE "C")
    FROM aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee WHERE r.rolname = $1), '') AS rights
  FROM pg_catalog.pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
  WHERE c.relnamespace = 'public'::regnamespace
  ORDER BY c.relname`

async function shardsOnCoordinator(owner: pg.Client, table: string): Promise<string[]> {
  const { rows } = await owner.query<{ shard: string }>(
    `SELECT $1 || '_' || s.shardid AS shard
     FROM pg_catalog.pg_dist_shard s JOIN pg_catalog.pg_dist_placement p USING (shardid)
     WHERE s.logicalrelid = to_regclass('public.' || quote_ident($1)) AND p.groupid = 0`,
    [table],
  )
  return rows.map(({ shard }) => shard)
}

/** Makes the login role a member of its shard role on every node. */
export async function joinShardRole(owner: pg.Client, login: string): Promise<void> {
  const statement = `SET citus.enable_ddl_propagation = off; GRANT ${pg.escapeIdentifier(shardRoleOf(login))} TO ${pg.escapeIdentifier(login)}`
  const { rows } = await owner.query<{ node: string; success: boolean; result: string }>(
    `SELECT nodename || ':' || nodeport AS node, success, result FROM run_command_on_workers($1)`,
    [statement],
  )
  const failed = rows.find(({ success }) => !success)
  if (failed !== undefined) throw new Error(`${failed.node}: ${failed.result}`)
}
