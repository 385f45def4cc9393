import type { PgBoss } from 'pg-boss'
import { type Binding, type EncryptionKeys, seal, unseal } from '#src/crypto/encryption.ts'
import { randomId } from '#src/crypto/hash.ts'
import type { Tx } from '#src/db/database.ts'
import type { Answers, AwaitedJob } from '#src/queue/answers.ts'
import { addJob } from '#src/queue/jobs.ts'
import type { EndpointCallJob } from '#src/queue/queue.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { endpointCallQueue } from '#src/webhooks/schedule/due-attempts.ts'

/*
 * A process that serves requests calls no customer's URL. It adds a job in the transaction that decides on
 * the right, and waits for the output. A worker makes the requests and records nothing: the waiting
 * request does, once its right is decided on again. The output is encrypted, because the queue is under no
 * row-level security.
 */

/** What a worker answers. */
export type CallOutput<Made> =
  | { made: Made }
  | { postponed: ConstructorParameters<typeof PostponedError> }
  | { gone: true }

export type CallDeps = { queue: PgBoss; answers: Answers; keys: EncryptionKeys }

/** Until a worker has to have the job. */
export const takenSeconds = 4
/** The most time that a worker needs for one job. */
export const calledSeconds = 21
// Ends before the server closes a connection on which nothing happens (30 s, src/server-options.ts).
const answeredMs = (takenSeconds + calledSeconds + 3) * 1_000

/**
 * Adds a job that is the right to call the URL of an endpoint once.
 * @throws TenantBusy if too many requests of the tenant wait for one
 */
export async function requestCall(
  tx: Tx,
  { queue, answers }: CallDeps,
  job: EndpointCallJob,
): Promise<AwaitedJob> {
  const { tenantId } = job
  answers.requireRoom(tenantId)
  const id = randomId()
  await addJob(queue, tx, endpointCallQueue, job, { id, group: { id: tenantId } })
  return { queue: endpointCallQueue, id, tenantId }
}

/**
 * What a worker made of a job; null if the endpoint is missing.
 * @throws UnansweredError, or PostponedError if the worker cannot make the requests now
 */
export async function awaitCall<Made>(
  { answers, keys }: CallDeps,
  job: AwaitedJob,
): Promise<Made | null> {
  const output = await answers.wait(job, { takenSeconds, answeredMs })
  // Only the worker with this job can have sealed it.
  const sealed = Buffer.from(String(Object(output).sealed), 'base64')
  const answer: CallOutput<Made> = JSON.parse(unseal(keys, sealed, bindingOf(job.id)))
  if ('postponed' in answer) throw new PostponedError(...answer.postponed)
  return 'made' in answer ? answer.made : null
}

/** The output of a job as it is stored. */
export function sealOutput(keys: EncryptionKeys, id: string, output: CallOutput<unknown>) {
  const sealed = seal(keys, JSON.stringify(output), bindingOf(id))
  return { sealed: sealed.toString('base64') }
}

function bindingOf(id: string): Binding {
  return [endpointCallQueue, id]
}
