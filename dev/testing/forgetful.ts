/**
 * Settings of a PostgreSQL whose data is thrown away: nothing has to survive a power cut. The tables are small:
 * starting parallel workers takes 80 ms, twenty times as long as the rest of the queries that get them.
 */
export const forgetful = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
  max_parallel_workers_per_gather: '0',
  scram_iterations: '1',
}
