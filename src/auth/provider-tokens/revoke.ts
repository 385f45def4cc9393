import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { recordAudit } from '#src/audit/audit.ts'
import type { Provider } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { TokenKind } from '#src/auth/oidc/token-endpoint.ts'
import { type EncryptionKeys, UnsealError, unseal } from '#src/crypto/encryption.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { Jobs } from '#src/queue/queue.ts'
import { tokenBinding } from './store.ts'

export type RevocationDeps = {
  keys: EncryptionKeys
  systemDb: SystemDatabase
  providers: ReadonlyMap<string, Provider>
}

/** `again`: it failed and may yet work; `failed`: it will not, or was tried often enough. */
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
}

const statementTimeoutMs = statementTimeoutsMs.byKey
const nowhere = { userAgent: null, ip: null }
const unsupported = 'revocation-unsupported'
// These cannot come to anything by trying again.
const finalFaults = [unsupported, 'provider-unknown']

/**
 * Revokes one retired token at its provider. Its row goes when that is done; a failure stays in
 * the audit log, the first and the last one. Doing it twice is harmless.
 * @param isLast no further try follows
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
    if (fault === null) return settle(connection, revocation)
    const isFinal = isLast || finalFaults.includes(fault)
    return noteFailure(connection, revocation, fault, isFinal)
  })
}

async function find(systemDb: Queryable, id: string): Promise<Revocation | null> {
  const { rows } = await systemDb.query<Revocation>({
    text: `SELECT id, provider, provider_user_id, user_id, tenant_id, token, kind, attempts
           FROM token_revocations WHERE id = $1 AND status = 'revoking'`,
    values: [id],
  })
  return rows[0] ?? null
}

/** @returns null when it is revoked, else the code of what stood in the way */
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
    const answer = await provider.revoke({ text, kind })
    return answer === 'revoked' ? null : `revocation-${answer}`
  } catch (error) {
    if (error instanceof ProviderUnavailable) return error.reason
    if (error instanceof UnsealError) return `seal-${error.fault}`
    throw error
  }
}

async function settle(connection: Queryable, revocation: Revocation): Promise<RevocationOutcome> {
  const { rowCount } = await connection.query(removal(revocation.id))
  if (rowCount !== 1) return 'already-done'
  await audit(connection, revocation, 'done', revocation.kind)
  return 'revoked'
}

async function noteFailure(
  connection: Queryable,
  revocation: Revocation,
  fault: string,
  isFinal: boolean,
): Promise<RevocationOutcome> {
  // What can never be revoked is not kept either; the rest waits for the next sign-out.
  const { rowCount } = await connection.query(
    fault === unsupported ? removal(revocation.id) : failure(revocation.id, fault, isFinal),
  )
  if (rowCount !== 1) return 'already-done'
  if (isFinal) await audit(connection, revocation, 'failed', fault)
  else if (revocation.attempts === 0) await audit(connection, revocation, 'unavailable', fault)
  return isFinal ? 'failed' : 'again'
}

const removal = (id: string) => ({
  text: `DELETE FROM token_revocations WHERE id = $1 AND status = 'revoking'`,
  values: [id],
})

const failure = (id: string, fault: string, isFinal: boolean) => ({
  text: `UPDATE token_revocations SET attempts = attempts + 1, last_error = $2, status = $3
         WHERE id = $1 AND status = 'revoking'`,
  values: [id, fault, isFinal ? 'failed' : 'revoking'],
})

async function audit(
  connection: Queryable,
  { provider, user_id, tenant_id: tenantId }: Revocation,
  outcome: 'done' | 'failed' | 'unavailable',
  reason: string,
): Promise<void> {
  const userId = Number(user_id)
  const action = 'revoke-tokens'
  await recordAudit(connection, { action, outcome, reason, provider, userId, tenantId }, nowhere)
}

type RevocationJob = JobWithMetadata<Jobs['revoke-grant']>

const pollSeconds = 0.5
const batchSize = 5 // few at once: each waits for a provider

/** Starts working on revocations. */
export async function workRevocations(
  queue: PgBoss,
  deps: RevocationDeps,
  log: JobLog,
): Promise<void> {
  const work = createRevocationJob(deps, log)
  await queue.work(
    'revoke-grant',
    { batchSize, pollingIntervalSeconds: pollSeconds, perJobResults: true, includeMetadata: true },
    (jobs: RevocationJob[]) => Promise.all(jobs.map((job) => work(job))),
  )
}

/** Works on one revocation and says whether it has to be tried again. */
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
      log[level]({ revocationId, outcome }, 'provider token revocation worked on')
      return { id: job.id, status: outcome === 'again' ? 'failed' : 'completed' }
    } catch (error) {
      log.error({ revocationId, err: error }, 'provider token revocation broke off')
      return { id: job.id, status: 'failed' }
    }
  }
}
