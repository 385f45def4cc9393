import type pg from 'pg'

type Trigger = { readonly name: string; readonly table: string; readonly definition: string }

const twoPhases = (table: string, events: string): Trigger => ({
  name: 'commit_in_two_phases',
  table,
  definition: `AFTER ${events} ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases()`,
})

/**
 * Triggers that only a distributed database has (data-flow.sql). Of the tables on the coordinator that
 * Citus does not know, these are written together with rows on a node; what is known by a foreign key to
 * a reference table needs no trigger.
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
  twoPhases('public.received_events', 'UPDATE'),
  twoPhases('public.billing_objects', 'INSERT OR UPDATE'),
  twoPhases('public.erasures', 'INSERT OR UPDATE OR DELETE'),
  twoPhases('public.ledger_removals', 'INSERT'),
]

/** Adds those that are missing, once the queue's tables are there. Changes nothing otherwise. */
export async function addTriggers(owner: pg.Client): Promise<void> {
  await owner.query('SET citus.enable_unsafe_triggers = on')
  for (const { name, table, definition } of triggers) {
    const { rows } = await owner.query(
      'SELECT 1 FROM pg_trigger WHERE tgrelid = $1::regclass AND tgname = $2',
      [table, name],
    )
    if (rows.length === 0) await owner.query(`CREATE TRIGGER ${name} ${definition}`)
  }
}
