import type { JobWithMetadata, PgBoss } from 'pg-boss'
import { noClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Provider } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { TokenKind } from '#src/auth/oidc/tokens/token-endpoint.ts'
import { type EncryptionKeys, UnsealError, unseal } from '#src/crypto/encryption.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { createFailureLog } from '#src/observability/failure-log.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { IdentityMetrics } from '#src/observability/metrics.ts'
import { type Consumer, startConsumer } from '#src/queue/consumer.ts'
import type { DueJobs } from '#src/queue/due-jobs.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import type { Jobs } from '#src/queue/queue.ts'
import { tokenBinding } from './store.ts'

export type RevocationDeps = {
  keys: EncryptionKeys
  systemDb: SystemDatabase
  providers: ReadonlyMap<string, Provider>
}

/**
 * `again`: it failed and is retried; `failed`: it is not retried; `postponed`: this process lacks the
 * key of the token, so it was not tried.
 */
export type RevocationOutcome = 'revoked' | 'already-done' | 'again' | 'failed' | 'postponed'

type Revocation = {
  id: string
  provider: string
  provider_user_id: string
  user_id: string
  tenant_id: string | null
  token: Buffer
  kind: TokenKind
  attempts: number
  /** When its first round of attempts ended; null until then. */
  failed_at: Date | null
}

const statementTimeoutMs = statementTimeoutsMs.byKey
const unsupported = 'revocation-unsupported'
const lacksKey = 'seal-unknown-key'
// Retrying cannot help.
const finalFaults = [unsupported, 'provider-unknown']

/**
 * Revokes one token at its provider and then deletes its row. The first failure and the last one of
 * the first round are recorded in the audit log. Can be repeated.
 * @param isLast true if no retry follows
 */
export async function revokeGrant(
  deps: RevocationDeps,
  revocationId: string,
  isLast: boolean,
): Promise<RevocationOutcome> {
  const revocation = await find(deps.systemDb, revocationId)
  if (revocation === null) return 'already-done'
  const fault = await tryRevoking(deps, revocation)
  if (fault === lacksKey) return 'postponed'
  return deps.systemDb.transaction({ statementTimeoutMs }, (connection) => {
    if (fault === null) return recordRevoked(connection, revocation)
    const isFinal = isLast || finalFaults.includes(fault)
    return recordFailure(connection, revocation, fault, isFinal)
  })
}

async function find(systemDb: Queryable, id: string): Promise<Revocation | null> {
  const [row] = await systemDb.sql<Revocation>`SELECT * FROM find_revocation(${id})`
  return row ?? null
}

/** @returns null when the token is revoked, otherwise the reason code */
async function tryRevoking(
  { keys, providers }: RevocationDeps,
  revocation: Revocation,
): Promise<string | null> {
  const { provider: name, provider_user_id: subject, kind } = revocation
  const provider = providers.get(name)
  if (provider === undefined) return 'provider-unknown'
  try {
    const binding = tokenBinding({ provider: name, subject }, kind)
    const text = unseal(keys, revocation.token, binding)
    const result = await provider.revoke({ text, kind })
    return result === 'revoked' ? null : `revocation-${result}`
  } catch (error) {
    if (error instanceof ProviderUnavailable) return error.reason
    if (error instanceof UnsealError) return `seal-${error.fault}`
    throw error
  }
}

async function recordRevoked(
  connection: Queryable,
  revocation: Revocation,
): Promise<RevocationOutcome> {
  if (!(await settle(connection, revocation.id))) return 'already-done'
  await audit(connection, revocation, 'done', revocation.kind)
  return 'revoked'
}

async function recordFailure(
  connection: Queryable,
  revocation: Revocation,
  fault: string,
  isFinal: boolean,
): Promise<RevocationOutcome> {
  // A token that its provider cannot revoke is deleted; any other is tried again every day and at the
  // next sign-out.
  const { id, failed_at: failedBefore } = revocation
  const isRecorded =
    fault === unsupported
      ? await settle(connection, id)
      : await fail(connection, id, fault, isFinal)
  if (!isRecorded) return 'already-done'
  const isReported = failedBefore !== null && fault !== unsupported
  if (isFinal && !isReported) await audit(connection, revocation, 'failed', fault)
  else if (revocation.attempts === 0) await audit(connection, revocation, 'unavailable', fault)
  return isFinal ? 'failed' : 'again'
}

/** @returns false if another worker has done it */
async function settle(connection: Queryable, id: string): Promise<boolean> {
  const [row] = await connection.sql<{ done: boolean }>`SELECT settle_revocation(${id}) AS done`
  return row?.done === true
}

async function fail(
  connection: Queryable,
  id: string,
  fault: string,
  isFinal: boolean,
): Promise<boolean> {
  const [row] = await connection.sql<{ done: boolean }>`
    SELECT fail_revocation(${id}, ${fault}, ${isFinal}) AS done`
  return row?.done === true
}

async function audit(
  connection: Queryable,
  { provider, user_id, tenant_id: tenantId }: Revocation,
  outcome: 'done' | 'failed' | 'unavailable',
  reason: string,
): Promise<void> {
  const userId = Number(user_id)
  const action = 'revoke-tokens'
  const entry = { action, outcome, reason, provider, userId, tenantId } as const
  await recordAudit(connection, entry, noClientInfo)
}

type RevocationJob = JobWithMetadata<Jobs['revoke-grant']>

const queueName = 'revoke-grant'
// No connection is held while a job waits for its provider.
const limits = { inFlight: 50, stopMs: 6_000 } as const
// The part of the free room that one provider gets, so that a provider that hangs leaves room for
// the others.
const shareOfRoom = 0.1
const postponedSeconds = 30

export type RevocationWorkerDeps = RevocationDeps & {
  queue: PgBoss
  due: DueJobs
  metrics: Pick<IdentityMetrics, 'revocationsPostponed'>
  logger: JobLog
}

/** Starts the consumer of revocations. A provider that hangs delays only its own. */
export function workRevocations(deps: RevocationWorkerDeps): Promise<Consumer> {
  const { queue, due, logger } = deps
  const work = createRevocationJob(deps)
  return startConsumer<RevocationJob>({
    queue,
    due,
    name: queueName,
    limits,
    fetch: (batchSize, room) => {
      const groupConcurrency = Math.ceil(room * shareOfRoom)
      return queue.fetch(queueName, { batchSize, groupConcurrency, includeMetadata: true })
    },
    run: (jobs, abandoned) => jobs.map((job) => work(job, abandoned)),
    logger,
  })
}

/** Runs one revocation job and ends it. Never rejects. */
function createRevocationJob(deps: RevocationWorkerDeps) {
  const { queue, systemDb, metrics, logger } = deps
  const faults = createFailureLog(logger, 'token revocations postponed: the fault is ours')

  return async function workRevocation(job: RevocationJob, abandoned: AbortSignal): Promise<void> {
    const { revocationId } = job.data
    try {
      if (job.groupId == null) return await group(job)
      const isLast = job.retryCount >= job.retryLimit
      const outcome = await revokeGrant(deps, revocationId, isLast)
      const level = outcome === 'failed' ? 'error' : 'info'
      logger[level]({ revocationId, outcome }, 'provider token revocation finished')
      if (!abandoned.aborted) await end(job, job.groupId, outcome)
    } catch (error) {
      if (abandoned.aborted) return
      logger.error({ revocationId, err: error }, 'provider token revocation failed')
      // If this fails too, the job returns without its heartbeat.
      await queue.fail(queueName, job, { message: String(error) }).catch(() => {})
    }
  }

  /** A sign-out knows no provider, so a new job has no group yet. */
  async function group(job: RevocationJob): Promise<void> {
    const revocation = await find(systemDb, job.data.revocationId)
    if (revocation === null) await queue.complete(queueName, job)
    else await replace(job, revocation.provider, 0)
  }

  async function end(
    job: RevocationJob,
    provider: string,
    outcome: RevocationOutcome,
  ): Promise<void> {
    if (outcome === 'again') await queue.fail(queueName, job)
    else if (outcome !== 'postponed') await queue.complete(queueName, job)
    else {
      metrics.revocationsPostponed.inc()
      faults.add(new Error('no key of this process decrypts the token'))
      await replace(job, provider, postponedSeconds)
    }
  }

  /** Replaces the job by one of its provider's group, which has all its tries left. */
  function replace(job: RevocationJob, provider: string, startAfter: number): Promise<void> {
    return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
      const db = transactionOf(connection)
      await queue.complete(queueName, job, null, { db })
      await queue.send(queueName, job.data, { db, startAfter, group: { id: provider } })
    })
  }
}
