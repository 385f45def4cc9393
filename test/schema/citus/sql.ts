/** Conditions and settings of a cluster in statements of tests that also run on one PostgreSQL. */

/** Of pg_stat_activity: a connection of the coordinator to a node. */
export const isOfCluster = `application_name LIKE 'citus_internal%'`

/** What a killed process leaves prepared is ended soon. The default is a minute. */
export const endPreparedSoon = `ALTER SYSTEM SET citus.recover_2pc_interval = '1s'`

/** Whether the process `$1` waits for a lock, also on a node. Processes are numbered by server. */
export const heldInCluster = `
  SELECT cardinality(pg_blocking_pids($1::int)) > 0 OR EXISTS (
    SELECT FROM citus_lock_waits w WHERE w.waiting_gpid % 10000000000 = $1) AS held`
