import type { Static, TSchema } from 'typebox'
import { Check, Errors } from 'typebox/value'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { AnyJob, Enqueue, Job } from '#src/resources/define-job.ts'
import { app } from '#src/resources/running-app.ts'
import { jobInsert } from '../job-table.ts'
import { announceJob } from '../jobs.ts'

export const appQueue = 'app-job'

/** More would be contents, which belong into a table. */
const maxInputBytes = 8_192

/** Before those of a schedule, which are as many as there are tenants. */
const insertJob = jobInsert(appQueue, {
  data: `jsonb_build_object('tenantId', tenant, 'job', job, 'input', input)`,
  groupId: 'tenant',
  retryLimit: 'retries',
  priority: '1',
})

/**
 * Adds a job of the app in the transaction of a write: it exists once that is committed. It runs in the tenant that
 * the transaction has entered, whatever its input says.
 * @throws Error if the app does not list the job, the input does not match its schema or has more than 8 KiB, or the
 *   transaction is in no tenant
 */
export async function enqueue<Input extends TSchema>(
  tx: Pick<Tx, 'sql' | 'notify'>,
  job: Job<Input>,
  input: Static<NoInfer<Input>>,
): Promise<void> {
  const text = inputTextOf(job, input)
  const entered = Prisma.sql`SELECT current_tenant_id()::text AS tenant`
  const added = await addRuns(tx, job, text, entered)
  if (added === 0) throw new Error(`The job ${job.name} needs a tenant, and there is none.`)
}

/**
 * Adds a run of the job in each of the tenants, in the transaction.
 * @param text the input, as JSON
 * @param tenants a statement with a column `tenant`
 * @returns how many runs
 */
export async function addRuns(
  tx: Pick<Tx, 'sql' | 'notify'>,
  { name, retries }: Pick<AnyJob, 'name' | 'retries'>,
  text: string,
  tenants: Prisma.Sql,
): Promise<number> {
  const source = Prisma.sql`(
    SELECT tenant, ${name}::text AS job, ${text}::jsonb AS input, ${retries}::int AS retries
    FROM (${tenants}) AS affected WHERE tenant IS NOT NULL) AS one`
  const added = await tx.sql(Prisma.sql`${insertJob(source)} RETURNING 1 AS added`)
  announceJob(tx, appQueue)
  return added.length
}

/** `enqueue` of one transaction, which a hook or a job gets. */
export function enqueueIn(tx: Pick<Tx, 'sql' | 'notify'>): Enqueue {
  return (job, input) => enqueue(tx, job, input)
}

function inputTextOf({ name, input: schema }: Pick<AnyJob, 'name' | 'input'>, input: unknown) {
  if (app.jobs?.some((one) => one.name === name) !== true) {
    throw new Error(`The app does not list the job ${name}: add it to jobs in defineApp.`)
  }
  if (schema === null) return 'null'
  if (!Check(schema, input)) {
    const [fault] = Errors(schema, input)
    throw new Error(
      `The input of the job ${name} ${fault?.message ?? 'does not match its schema'}.`,
    )
  }
  const text = JSON.stringify(input)
  if (Buffer.byteLength(text) > maxInputBytes) {
    throw new Error(`The input of the job ${name} has more than ${maxInputBytes} bytes.`)
  }
  return text
}
