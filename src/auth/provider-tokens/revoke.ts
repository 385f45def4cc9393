import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { noClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Provider } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { TokenKind } from '#src/auth/oidc/token-endpoint.ts'
import { type EncryptionKeys, UnsealError, unseal } from '#src/crypto/encryption.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import type { JobLog } from '#src/observability/logger.ts'
import { type Jobs, workOptions } from '#src/queue/queue.ts'
import { tokenBinding } from './store.ts'

export type RevocationDeps = {
  keys: EncryptionKeys
  systemDb: SystemDatabase
  providers: ReadonlyMap<string, Provider>
}

/** `again`: it failed and is retried; `failed`: it is not retried. */
export type RevocationOutcome = 'revoked' | 'already-done' | 'again' | 'failed'

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
  return deps.systemDb.transaction({ statementTimeoutMs }, (connection) => {
    if (fault === null) return recordRevoked(connection, revocation)
    const isFinal = isLast || finalFaults.includes(fault)
    return recordFailure(connection, revocation, fault, isFinal)
  })
}

async function find(systemDb: Queryable, id: string): Promise<Revocation | null> {
  const { rows } = await systemDb.query<Revocation>({
    text: 'SELECT * FROM find_revocation($1)',
    values: [id],
  })
  return rows[0] ?? null
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
  const { rows } = await connection.query<{ done: boolean }>({
    text: 'SELECT settle_revocation($1) AS done',
    values: [id],
  })
  return rows[0]?.done === true
}

async function fail(
  connection: Queryable,
  id: string,
  fault: string,
  isFinal: boolean,
): Promise<boolean> {
  const { rows } = await connection.query<{ done: boolean }>({
    text: 'SELECT fail_revocation($1, $2, $3) AS done',
    values: [id, fault, isFinal],
  })
  return rows[0]?.done === true
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

const batchSize = 5 // each job waits for a provider

/** Starts the worker of the queue `revoke-grant`. */
export async function workRevocations(
  queue: PgBoss,
  deps: RevocationDeps,
  log: JobLog,
): Promise<void> {
  const work = createRevocationJob(deps, log)
  await queue.work(
    'revoke-grant',
    { ...workOptions, batchSize, perJobResults: true, includeMetadata: true },
    (jobs: RevocationJob[]) => Promise.all(jobs.map((job) => work(job))),
  )
}

/** Runs one revocation job. */
function createRevocationJob(
  deps: RevocationDeps,
  log: JobLog,
): (job: RevocationJob) => Promise<JobResult> {
  return async function workRevocation(job) {
    const { revocationId } = job.data
    const isLast = job.retryCount >= job.retryLimit
    try {
      const outcome = await revokeGrant(deps, revocationId, isLast)
      const level = outcome === 'failed' ? 'error' : 'info'
      log[level]({ revocationId, outcome }, 'provider token revocation finished')
      return { id: job.id, status: outcome === 'again' ? 'failed' : 'completed' }
    } catch (error) {
      log.error({ revocationId, err: error }, 'provider token revocation failed')
      return { id: job.id, status: 'failed' }
    }
  }
}
