import { fromPrisma, PgBoss } from 'pg-boss'
import type { Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { Jobs } from './queue.ts'

/**
 * Adds a job in the transaction of `connection`: it exists once that is committed. Every job, here
 * and in `jobInsert`, is inserted by pg-boss's own statement.
 * @param options `group`: a consumer may limit the jobs in progress of one group; `singletonKey`: in a
 *   queue with the policy `short`, at most one job with this key waits; `startAfter`: seconds
 */
export async function addJob<Name extends keyof Jobs>(
  queue: PgBoss,
  connection: Tx | Queryable,
  name: Name,
  data: Jobs[Name],
  options: { group?: { id: string }; singletonKey?: string; startAfter?: number } = {},
): Promise<void> {
  await queue.send(name, data, { ...options, db: transactionOf(connection) })
}

/** For the option `db` of pg-boss: its statement runs in the transaction of `connection`. */
export function transactionOf(connection: Tx | Queryable): ReturnType<typeof fromPrisma> {
  if (!('query' in connection)) return fromPrisma(connection)
  return { executeSql: (text, values = []) => connection.query({ text, values: [...values] }) }
}

const inserts = new Map<keyof Jobs, Promise<JobInsert>>()

/**
 * The statement by which pg-boss inserts jobs into a queue, to be part of another statement: the rows
 * that the jobs are about and the jobs then need one round trip. Between the two parts stands a JSON
 * array of jobs, whose members are the columns of pg-boss: `data`, `id`, `priority`, `groupId`,
 * `startAfter` (an interval). It returns the ids of the new jobs.
 */
export function jobInsert(name: keyof Jobs): Promise<JobInsert> {
  const known = inserts.get(name) ?? captureInsert(name)
  inserts.set(name, known)
  return known
}

type JobInsert = readonly [before: string, after: string]

/** Lets a PgBoss without a database send a job, and keeps the statement. */
async function captureInsert(name: keyof Jobs): Promise<JobInsert> {
  let statement = ''
  const queues = [{ name, table: 'job_common', policy: 'standard', notify: false }]
  const boss = new PgBoss({ db: { executeSql: async () => ({ rows: queues }) } })
  const db = {
    async executeSql(text: string) {
      statement = text
      return { rows: [{ id: '' }] }
    },
  }
  await boss.send(name, {}, { db })
  const [before, after, ...more] = statement.split('$1')
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error('pg-boss inserts jobs with another statement')
  }
  return [before, after]
}
