import type pg from 'pg'

/**
 * Whether tables of the database are distributed with Citus. The extension alone changes nothing.
 * @param client of any role
 */
export async function isDistributed(client: pg.ClientBase): Promise<boolean> {
  if (!(await hasExtension(client))) return false
  const { rows: tables } = await client.query<{ distributed: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_dist_partition
                    WHERE logicalrelid = to_regclass('public.tenants')) AS distributed`,
  )
  return tables[0]?.distributed === true
}

/**
 * Further settings of a connection that changes the queue's schema; none without the extension. The queue is
 * on the coordinator alone. Sent to the nodes, its types would take their owner along, as a role that only
 * a superuser may change there.
 */
export async function queueOptions(client: pg.ClientBase): Promise<Record<string, string>> {
  return (await hasExtension(client)) ? { 'citus.enable_ddl_propagation': 'off' } : {}
}

async function hasExtension(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS found`,
  )
  return rows[0]?.found === true
}

/** The name of the only shard of each reference table, by the name of the table. */
export async function readShardNames(client: pg.ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; shard: string }>(
    `SELECT c.relname AS name, c.relname || '_' || s.shardid AS shard
     FROM pg_catalog.pg_dist_partition p
     JOIN pg_catalog.pg_dist_shard s USING (logicalrelid)
     JOIN pg_class c ON c.oid = p.logicalrelid
     WHERE p.partmethod = 'n' AND p.repmodel = 't' AND c.relnamespace = 'public'::regnamespace`,
  )
  return new Map(rows.map(({ name, shard }) => [name, shard]))
}

/** The views of the extension in the schema public, of its catalogue, which everyone may read. */
export async function listExtensionViews(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
     JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
     JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'v' AND e.extname = 'citus'`,
  )
  return rows.map(({ name }) => name)
}

/** One line on what kind of database it is, for operators. */
export async function describeKind(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ version: string }>(
    `SELECT current_setting('server_version_num')::integer / 10000 AS version`,
  )
  if (!(await isDistributed(client))) return `One PostgreSQL ${rows[0]?.version}.`
  const { rows: nodes } = await client.query<{ version: string; nodes: string }>(
    `SELECT (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS version, count(*) AS nodes
     FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND groupid <> 0`,
  )
  const [citus] = nodes
  return `PostgreSQL ${rows[0]?.version}, distributed with Citus ${citus?.version} over ${citus?.nodes} nodes.`
}
