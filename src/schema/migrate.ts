import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { lockIds } from '#src/db/advisory-lock.ts'
import { withoutLimits, withSettings } from '#src/db/connections/session-settings.ts'
import { isLockTimeout } from '#src/db/errors.ts'
import { createQueues } from '#src/queue/queue.ts'
import { isUntrustedCertificate } from '#src/runtime/certificate-errors.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { queueOptions } from './citus/cluster.ts'
import { distribute, type Progress } from './citus/distribute.ts'
import { verifyPreparation } from './citus/nodes.ts'
import { findVariant } from './citus/variant.ts'
import { type Definer, define, isDefined } from './define.ts'
import { type Definitions, readDefinitions } from './definitions.ts'
import { lockWaitMs, refuseUnfinished, untilLocked } from './lock-retry.ts'
import { constrainMemberRoles } from './member-roles.ts'
import {
  compareHistory,
  describeParted,
  type Migration,
  readMigrations,
} from './migrations/applied.ts'
import { applyMigrations } from './migrations/apply.ts'
import { compareRelease, readRecord } from './record.ts'
import { verifyResources } from './resource-tables.ts'
import { findOwnerFault, grantPrivileges, loginOf } from './roles.ts'
import { describeUnreachable, findClosed, isRefusedByPooler } from './unreachable.ts'

const turnMs = 200

/** Connections of the owner and of the two application roles, which may be one role. */
export type MigrateUrls = { ownerUrl: string; url: string; workerUrl: string }

export type MigrateReport = {
  applied: string[]
  /** Whether functions, policies, triggers or privileges were replaced. */
  defined: boolean
  createdRoles: string[]
  /** What a newer release has applied; then nothing was changed. */
  ahead: string[]
}

/** The files of a release. Tests build the next release from them. */
export type ReleaseFiles = { migrations?: readonly Migration[]; definitions?: Definitions }

export type MigrateOptions = {
  /** Distribute the tables over a cluster (docs/growth.md). Once they are, each run completes it. */
  distribute?: boolean
  progress?: Progress
}

/**
 * Migrates the schema and the queue's schema; then replaces functions, policies, triggers and the
 * privileges of the application roles in one transaction, if they differ from the files of this release.
 * Can be run again at any time. On a database of a newer release it changes nothing, because all of this
 * belongs to that release.
 * @param files of this program by default
 * @throws OperatorError if the owner's connection or privileges do not suffice, or a lock is held
 *   for too long
 */
export async function migrate(
  urls: MigrateUrls,
  files: ReleaseFiles = {},
  options: MigrateOptions = {},
): Promise<MigrateReport> {
  refuseOwner([loginOf(urls.url).name, loginOf(urls.workerUrl).name], loginOf(urls.ownerUrl).name)
  const owner = await connectOwner(urls.ownerUrl)
  try {
    const closed = await findClosed(owner)
    if (closed !== null) throw new OperatorError(closed.problem, closed.remedy)
    await refuseSuperuser(owner)
    await acquireMigrateLock(owner)
    const found = await findVariant(owner)
    const distributes = options.distribute === true || found !== null
    if (distributes) await requirePreparation(owner)
    const migrations = files.migrations ?? (await readMigrations())
    const definitions = files.definitions ?? (await readDefinitions())
    const { ahead, behind } = await compareHistory(owner, migrations)
    const parted = describeParted({ ahead, behind })
    if (parted !== null) throw new OperatorError(parted.problem, parted.remedy)
    const newer = ahead.length > 0 ? ahead : await findNewer(owner, definitions)
    if (newer.length > 0) return { applied: [], defined: false, createdRoles: [], ahead: newer }
    const applied = await applyMigrations(urls.ownerUrl, owner, migrations)
    await requireTables(owner)
    await untilLocked(() => constrainMemberRoles(owner)).catch(refuseUnfinished)
    const queue = await queueOptions(owner)
    await untilLocked(() => createQueues(urls.ownerUrl, lockWaitMs, queue)).catch(refuseUnfinished)
    if (distributes && found === null) await defineAll(owner, urls, { definitions })
    if (distributes) await distribute(owner, options.progress ?? (() => {}))
    const own = (await (await findVariant(owner))?.openDefiner(owner)) ?? { definitions }
    return { applied, ...(await defineAll(owner, urls, own)), ahead: [] }
  } finally {
    await owner.end()
  }
}

/** The version that last ran `migrate`, if it is newer than this one. */
async function findNewer(owner: pg.Client, definitions: Definitions): Promise<string[]> {
  if (!(await hasRecord(owner))) return []
  const record = await readRecord(owner)
  if (record === null || compareRelease(record, definitions, false) !== 'newer') return []
  return [`the functions of version ${record.releases.at(-1)?.version}`]
}

async function hasRecord(owner: pg.Client): Promise<boolean> {
  const { rows } = await owner.query<{ exists: boolean }>(
    `SELECT to_regclass('public.schema_releases') IS NOT NULL AS exists`,
  )
  return rows[0]?.exists === true
}

type Own = Pick<Definer, 'definitions' | 'run' | 'open'>

async function defineAll(
  owner: pg.Client,
  urls: MigrateUrls,
  own: Own,
): Promise<Pick<MigrateReport, 'defined' | 'createdRoles'>> {
  return untilLocked(() => defineOnce(owner, urls, own)).catch((error) => {
    if (isLockTimeout(error)) return refuseUnfinished(error)
    if (!(error instanceof pg.DatabaseError)) throw error
    throw new OperatorError(
      `The functions, policies, triggers and privileges of this release were not applied: ${error.message}.`,
      'None of them was changed. Fix the cause and run migrate again.',
    )
  })
}

/** Defines and grants in one transaction, so that a new function and the right to call it become visible together. */
async function defineOnce(owner: pg.Client, { url, workerUrl }: MigrateUrls, own: Own) {
  const roles = [...new Set([loginOf(url).name, loginOf(workerUrl).name])]
  const createdRoles: string[] = []
  const definer = {
    ...own,
    roles,
    lockWaitMs,
    grant: async () => {
      createdRoles.splice(0, Infinity, ...(await grantRoles(owner, url, workerUrl)))
    },
  }
  await owner.query('BEGIN')
  try {
    const defined = !(await isDefined(owner, definer))
    await (defined ? define(owner, definer) : definer.grant())
    await owner.query('COMMIT')
    const variant = await findVariant(owner)
    for (const role of roles) await variant?.joinRole(owner, role)
    return { defined, createdRoles }
  } catch (error) {
    await owner.query('ROLLBACK')
    throw error
  }
}

/** @returns the names of the roles that it created */
async function grantRoles(owner: pg.Client, url: string, workerUrl: string): Promise<string[]> {
  const [app, worker] = [loginOf(url), loginOf(workerUrl)]
  const one = app.name === worker.name
  const created: string[] = []
  if (await grantPrivileges(owner, app, one ? ['web', 'worker'] : ['web'])) created.push(app.name)
  if (!one && (await grantPrivileges(owner, worker, ['worker']))) created.push(worker.name)
  return created
}

/** Policies and privileges need the tables of the declared resources. */
async function requireTables(owner: pg.Client): Promise<void> {
  const [fault] = await verifyResources(owner)
  if (fault !== undefined) throw new OperatorError(fault.problem, fault.remedy)
}

async function requirePreparation(owner: pg.Client): Promise<void> {
  const [fault] = await verifyPreparation(owner)
  if (fault !== undefined) throw new OperatorError(fault.problem, fault.remedy)
}

/**
 * Polls, because a query that waits for the lock is an open transaction, for whose end CREATE INDEX
 * CONCURRENTLY in the other `migrate` would wait.
 */
async function acquireMigrateLock(owner: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await owner.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS taken',
      [lockIds.migrate],
    )
    if (rows[0]?.taken) return
    await wait(turnMs)
  }
}

/** The migrations that the database has not yet, of this program and its app. @throws OperatorError */
export async function findPending(ownerUrl: string): Promise<string[]> {
  const owner = await connectOwner(ownerUrl)
  try {
    return (await compareHistory(owner, await readMigrations())).behind
  } finally {
    await owner.end()
  }
}

async function connectOwner(ownerUrl: string): Promise<pg.Client> {
  const owner = new pg.Client({
    ...withSettings(ownerUrl, withoutLimits),
    connectionTimeoutMillis: 5_000,
    application_name: 'gatehouse migrate',
    lock_timeout: lockWaitMs,
  })
  try {
    await owner.connect()
  } catch (error) {
    throw toProblem(ownerUrl, error)
  }
  return owner
}

function toProblem(ownerUrl: string, error: unknown): OperatorError {
  if (isUntrustedCertificate(error)) {
    const { problem, remedy } = describeUnreachable('DATABASE_OWNER_URL', ownerUrl, error)
    return new OperatorError(problem, remedy)
  }
  const reason = error instanceof Error ? error.message : String(error)
  return new OperatorError(
    `The database cannot be reached as its owner: ${reason}.`,
    isRefusedByPooler(error)
      ? 'Let DATABASE_OWNER_URL lead to PostgreSQL itself, not to PgBouncer: migrate holds a lock of its session.'
      : 'Check DATABASE_OWNER_URL and that PostgreSQL is running.',
  )
}

/** Row-level security does not apply to such a role, and functions of the owner would see every row. */
async function refuseSuperuser(owner: pg.Client): Promise<void> {
  const fault = await findOwnerFault(owner)
  if (fault !== null) throw new OperatorError(fault.problem, fault.remedy)
}

function refuseOwner(roles: readonly string[], owner: string): void {
  if (!roles.includes(owner)) return
  throw new OperatorError(
    `DATABASE_URL and DATABASE_OWNER_URL both log in as ${owner}.`,
    'Use another role in DATABASE_URL; migrate creates it. The owner of the tables must not serve requests.',
  )
}
