import type pg from 'pg'
import Type from 'typebox'
import { Value } from 'typebox/value'
import type { Finding } from '../finding.ts'
import { findPlacedByHand } from './placed.ts'

/** What a node says about itself before any table is distributed (settingsOfNode). */
export const NodeSettings = Type.Object({
  isCoordinator: Type.Boolean(),
  citus: Type.Union([Type.String(), Type.Null()]),
  postgres: Type.Integer(),
  showsStatements: Type.Boolean(),
  preparedTransactions: Type.Integer(),
  connections: Type.Integer(),
})
export type NodeSettings = Type.Static<typeof NodeSettings>

/** One node, as `host:port`, and what it answered. */
export type Answer = { node: string; success: boolean; result: string }

const settingsOfNode = `
  SELECT json_build_object(
    'isCoordinator', (SELECT groupid = 0 FROM pg_dist_local_group),
    'citus', (SELECT extversion FROM pg_extension WHERE extname = 'citus'),
    'postgres', current_setting('server_version_num')::integer / 10000,
    'showsStatements', current_setting('track_activities')::boolean,
    'preparedTransactions', current_setting('max_prepared_transactions')::integer,
    'connections', current_setting('max_connections')::integer)`

/**
 * Whether the database is the coordinator of a cluster that tables can be distributed over, and no table
 * is distributed in another way.
 * @param owner a connection as the owner of the tables
 * @returns findings that an administrator has to settle
 */
export async function verifyPreparation(owner: pg.ClientBase): Promise<Finding[]> {
  const { rows } = await owner.query<{ installed: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS installed`,
  )
  if (!rows[0]?.installed) {
    return [{ problem: 'The database has no Citus.', remedy: `Create the extension ${seeGuide}` }]
  }
  const open = await findOpenFunctions(owner)
  if (open.length > 0) return open
  const { rows: answers } = await owner.query<Answer>(
    `SELECT n.nodename || ':' || n.nodeport AS node, r.success, r.result
     FROM run_command_on_all_nodes($1) r JOIN pg_dist_node n ON n.nodeid = r.nodeid
     ORDER BY n.groupid`,
    [settingsOfNode],
  )
  return [
    ...describeSilent(answers),
    ...judgeSettings(readAnswers(NodeSettings, answers)),
    ...(await findPlacedByHand(owner)),
  ]
}

const seeGuide = 'and add the nodes as docs/growth.md shows.'

/** With either function any SQL could act on a node as in an earlier transaction. */
async function findOpenFunctions(owner: pg.ClientBase): Promise<Finding[]> {
  const { rows } = await owner.query<{ name: string; callable: boolean }>(
    `SELECT p.oid::regprocedure::text AS name, has_function_privilege(p.oid, 'EXECUTE') AS callable
     FROM pg_proc p
     WHERE p.pronamespace = 'pg_catalog'::regnamespace
       AND p.proname IN ('assign_distributed_transaction_id', 'master_run_on_worker')
       AND (p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) WHERE grantee = 0))`,
  )
  return rows.map(({ name }) => ({
    problem: `Everyone may call ${name}.`,
    remedy: `Revoke it from PUBLIC as a superuser ${seeGuide}`,
  }))
}

/** What `json` of the answers holds, by node; answers of another form are left out. */
export function readAnswers<Schema extends Type.TSchema>(
  schema: Schema,
  answers: readonly Answer[],
): Map<string, Type.Static<Schema>> {
  const facts = new Map<string, Type.Static<Schema>>()
  for (const { node, success, result } of answers) {
    if (!success) continue
    const value: unknown = JSON.parse(result)
    if (Value.Check(schema, value)) facts.set(node, value)
  }
  return facts
}

/** The nodes that did not answer, or with an error. */
export function describeSilent(answers: readonly Answer[]): Finding[] {
  return answers
    .filter(({ success }) => !success)
    .map(({ node, result }) => ({
      problem: `The node ${node} does not answer: ${result.replace(/^ERROR: +/, '').split('\n')[0]}.`,
      remedy:
        'Start it and check that the coordinator may log in there as the owner of the tables.',
    }))
}

export function judgeSettings(nodes: ReadonlyMap<string, NodeSettings>): Finding[] {
  const findings: Finding[] = []
  const entries = [...nodes]
  const coordinator = entries.find(([, { isCoordinator }]) => isCoordinator)
  if (coordinator === undefined || entries.length === 1) {
    const problem = 'The database is not the coordinator of a cluster with nodes.'
    return [{ problem, remedy: `Connect to the coordinator ${seeGuide}` }]
  }
  const versions = new Set(
    entries.map(([, { citus, postgres }]) => `${postgres} with Citus ${citus}`),
  )
  if (versions.size > 1) {
    findings.push({
      problem: `The nodes run different versions: PostgreSQL ${[...versions].join(', ')}.`,
      remedy: 'Upgrade all nodes to one version of PostgreSQL and of Citus.',
    })
  }
  for (const [node, facts] of entries) {
    const { isCoordinator, connections, preparedTransactions, showsStatements } = facts
    // Citus itself raises 0, the default.
    if (preparedTransactions < connections) {
      findings.push({
        problem: `The node ${node} has max_prepared_transactions = ${preparedTransactions}, fewer than max_connections, so commits over several nodes may fail.`,
        remedy: 'Set it to 0 or to max_connections or more, and restart the node.',
      })
    }
    if (!isCoordinator && showsStatements) {
      findings.push({
        problem: `The node ${node} shows the statements of running sessions, and in them scopes.`,
        remedy: 'As a superuser on that node: ALTER DATABASE … SET track_activities = off.',
      })
    }
  }
  return findings
}
