import type pg from 'pg'
import type { Finding } from '../finding.ts'

type Trigger = { readonly name: string; readonly table: string; readonly definition: string }

const twoPhases = (table: string, events: string): Trigger => ({
  name: 'commit_in_two_phases',
  table,
  definition: `AFTER ${events} ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases()`,
})

/**
 * Triggers that only a distributed database has (data-flow.sql). The tables with two phases are on the
 * coordinator and are written together with rows on a node. A change of a reference table always has two
 * phases.
 */
const triggers: readonly Trigger[] = [
  {
    name: 'assign_feed_position',
    table: 'public.outbound_events',
    definition:
      'BEFORE INSERT ON public.outbound_events FOR EACH ROW EXECUTE FUNCTION assign_feed_position()',
  },
  {
    name: 'lock_new_jobs',
    table: 'pgboss.job_common',
    definition: `AFTER INSERT ON pgboss.job_common REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION lock_new_jobs()`,
  },
  twoPhases('pgboss.job_common', 'INSERT OR UPDATE OR DELETE'),
  twoPhases('public.audit_log', 'INSERT OR UPDATE OR DELETE'),
  twoPhases('public.idempotency_keys', 'INSERT OR UPDATE'),
  twoPhases('public.service_idempotency_keys', 'INSERT OR UPDATE'),
  twoPhases('public.form_submissions', 'INSERT OR UPDATE'),
  twoPhases('public.invitations', 'INSERT OR UPDATE OR DELETE'),
  twoPhases('public.received_events', 'UPDATE'), // recorded by itself, processed with its effect
  twoPhases('public.billing_objects', 'INSERT OR UPDATE'),
  twoPhases('public.erasures', 'INSERT OR UPDATE OR DELETE'),
  twoPhases('public.ledger_removals', 'INSERT'),
]

/** What `commit_in_two_phases` writes to. In a schema of its own, because no role needs it. */
const marks = 'distribution.two_phase_commits'

const preparations = [
  'SET citus.enable_unsafe_triggers = on',
  'CREATE SCHEMA IF NOT EXISTS distribution',
  `CREATE TABLE IF NOT EXISTS ${marks} (id integer PRIMARY KEY)`,
  `SELECT citus_add_local_table_to_metadata('${marks}')
   WHERE NOT EXISTS (SELECT 1 FROM citus_tables WHERE table_name = '${marks}'::regclass)`,
  // On a node it cannot write what it notes; the functions that delete events do (functions.ts).
  'DROP TRIGGER IF EXISTS note_ledger_removal ON public.outbound_events',
]

/** Adds what is missing, once the queue's tables are there. Changes nothing otherwise. */
export async function addTriggers(owner: pg.Client): Promise<void> {
  // One by one: Citus forwards the whole text of a query.
  for (const statement of preparations) await owner.query(statement)
  for (const { name, table, definition } of triggers) {
    const { rows } = await owner.query(
      'SELECT 1 FROM pg_trigger WHERE tgrelid = $1::regclass AND tgname = $2',
      [table, name],
    )
    if (rows.length === 0) await owner.query(`CREATE TRIGGER ${name} ${definition}`)
  }
}

/** Without one of them events have no order, or a crash leaves one half of a commit. */
export async function findMissingTriggers(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ name: string; table: string; found: boolean }>(
    `SELECT w.name, w.table, g.tgname IS NOT NULL AS found
     FROM unnest($1::text[], $2::text[]) AS w (name, "table")
     LEFT JOIN pg_trigger g ON g.tgrelid = to_regclass(w.table) AND g.tgname = w.name
     WHERE g.tgenabled IS DISTINCT FROM 'O'`,
    [triggers.map(({ name }) => name), triggers.map(({ table }) => table)],
  )
  return rows.map(({ name, table, found }) => ({
    problem: `The trigger ${name} of ${table} is ${found ? 'disabled' : 'missing'}.`,
    remedy: found
      ? `As the owner of the table: ALTER TABLE ${table} ENABLE TRIGGER ${name};`
      : 'Run `gatehouse migrate` with DATABASE_OWNER_URL.',
  }))
}
