import type pg from 'pg'
import Type from 'typebox'
import type { Finding } from '../finding.ts'
import { keysAside } from './distribute.ts'
import { type Answer, describeSilent, judgeSettings, NodeSettings, readAnswers } from './nodes.ts'
import { findMisplaced } from './placed.ts'

const NodeFacts = Type.Object({
  ...NodeSettings.properties,
  tables: Type.Array(
    Type.Object({
      name: Type.String(),
      isShard: Type.Boolean(),
      digest: Type.String(),
      one: Type.String(),
    }),
  ),
  roles: Type.Array(
    Type.Object({ name: Type.String(), bypasses: Type.Boolean(), isMember: Type.Boolean() }),
  ),
})
type NodeFacts = Type.Static<typeof NodeFacts>

const migrateRemedy = 'Run `gatehouse migrate --distribute` with DATABASE_OWNER_URL.'

/**
 * Verifies a distributed database: that each table is where it belongs, and that on every node its shards
 * have the row-level security, triggers and privileges of the table on the coordinator.
 * @param isRunning while the program runs, a node that does not answer is no finding: its tenants have no
 *   service, all others do
 */
export async function verifyCluster(client: pg.Client, isRunning: boolean): Promise<Finding[]> {
  const findings = [
    ...(await findMisplaced(client)),
    ...(await findMissingQueueTriggers(client)),
    ...(await findDangerous(client)),
  ]
  if (findings.length > 0) return findings
  const { rows: answers } = await client.query<Answer>('SELECT * FROM cluster_facts()')
  const nodes = readAnswers(NodeFacts, answers)
  return [
    ...(isRunning ? [] : describeSilent(answers)),
    ...judgeSettings(nodes),
    ...judgeTables(nodes),
    ...[...nodes].flatMap(([node, facts]) => judgeRoles(node, facts)),
  ]
}

/** Whether `gatehouse migrate --distribute` was interrupted; then nothing else is worth verifying. */
export async function findUnfinished(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT to_regclass('public.${keysAside}') IS NOT NULL AS found`,
  )
  const problem = 'The distribution of the tables was interrupted.'
  return rows[0]?.found ? [{ problem, remedy: migrateRemedy }] : []
}

/** Those of pgboss, which the record of `migrate` does not contain. Without one, a crash leaves half a commit. */
async function findMissingQueueTriggers(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT w.name FROM unnest(ARRAY['lock_new_jobs', 'commit_in_two_phases']) AS w (name)
     LEFT JOIN pg_trigger g ON g.tgrelid = to_regclass('pgboss.job_common') AND g.tgname = w.name
     WHERE g.tgenabled IS DISTINCT FROM 'O'`,
  )
  return rows.map(({ name }) => ({
    problem: `The trigger ${name} of pgboss.job_common is missing or disabled.`,
    remedy: `As the owner of the table: ALTER TABLE pgboss.job_common ENABLE TRIGGER ${name}; if it is missing, run \`gatehouse migrate\`.`,
  }))
}

/** With either of them, SQL could act on a node as in an earlier transaction. */
async function findDangerous(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p
     WHERE p.pronamespace = 'pg_catalog'::regnamespace
       AND p.proname IN ('assign_distributed_transaction_id', 'master_run_on_worker')
       AND has_function_privilege(p.oid, 'EXECUTE')`,
  )
  return rows.map(({ name }) => ({
    problem: `The role may call ${name}.`,
    remedy: `As a superuser on the coordinator: SET citus.enable_ddl_propagation = off; REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`,
  }))
}

function judgeTables(nodes: ReadonlyMap<string, NodeFacts>): Finding[] {
  const coordinator = [...nodes.values()].find(({ isCoordinator }) => isCoordinator)
  const wanted = new Map(
    coordinator?.tables.filter(({ isShard }) => !isShard).map(({ name, digest }) => [name, digest]),
  )
  return [...nodes].flatMap(([node, { tables }]) =>
    tables
      .filter(({ name, digest }) => wanted.get(name) !== digest)
      .map(({ name, one, isShard }) => ({
        problem: `On the node ${node}, ${isShard ? one : `the table ${name}`} has other row-level security, triggers or privileges than the table ${name} of the coordinator.`,
        remedy: isShard
          ? 'Undo the change there, or move the shard to another node, which creates it again (citus_move_shard_placement).'
          : 'Undo the change there, or disable and activate the node (citus_disable_node, citus_activate_node).',
      })),
  )
}

function judgeRoles(node: string, { isCoordinator, roles }: NodeFacts): Finding[] {
  return roles.flatMap(({ name, bypasses, isMember }) => {
    if (bypasses) {
      const problem = `On the node ${node} the role ${name} can bypass row-level security.`
      return [
        { problem, remedy: `There, as a superuser: ALTER ROLE ${name} NOSUPERUSER NOBYPASSRLS;` },
      ]
    }
    if (isMember === isCoordinator) {
      const has = isMember ? 'has the privileges of whole tables' : 'has no privileges on shards'
      return [{ problem: `On the node ${node} the role ${name} ${has}.`, remedy: migrateRemedy }]
    }
    return []
  })
}
