import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { lockIds } from '#src/db/advisory-lock.ts'
import { createQueues } from '#src/queue/queue.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { applyMigrations } from './apply.ts'
import { isDistributed } from './citus/cluster.ts'
import { distribute, type Progress } from './citus/distribute.ts'
import { verifyPreparation } from './citus/nodes.ts'
import { joinShardRole } from './citus/privileges.ts'
import { addTriggers } from './citus/triggers.ts'
import type { Finding } from './finding.ts'
import { compareHistory, type Migration, readMigrations } from './history.ts'
import { isLockTimeout, lockRefusal, lockWaitMs, untilLocked } from './lock-retry.ts'
import { grantPrivileges, loginOf } from './roles.ts'
import { runAll } from './schema-engine.ts'
import { verifyDatabase } from './verify.ts'

const turnMs = 200

/** Connections of the owner and of the two application roles, which may be one role. */
export type MigrateUrls = { ownerUrl: string; url: string; workerUrl: string }

export type MigrateReport = {
  applied: string[]
  createdRoles: string[]
  /** Migrations of a newer release; then nothing was changed. */
  ahead: string[]
}

export type MigrateOptions = {
  /** Distribute the tables with Citus. Once they are distributed, each run completes it. */
  citus?: boolean
  progress?: Progress
}

/**
 * Migrates the schema and the queue's schema and grants the privileges of the application roles. Can
 * be run again at any time. On a database of a newer release it changes nothing, because privileges
 * and queues belong to that release.
 * @param migrations oldest first; this program's by default
 * @throws OperatorError if the owner's connection or privileges do not suffice, or a lock is held
 *   for too long
 */
export async function migrate(
  urls: MigrateUrls,
  migrations?: readonly Migration[],
  options: MigrateOptions = {},
): Promise<MigrateReport> {
  const app = loginOf(urls.url)
  const worker = loginOf(urls.workerUrl)
  refuseOwner([app.name, worker.name], loginOf(urls.ownerUrl).name)
  const owner = await connectOwner(urls.ownerUrl)
  try {
    await acquireMigrateLock(owner)
    const distributes = options.citus || (await isDistributed(owner))
    if (distributes) await requirePreparation(owner)
    const known = migrations ?? (await readMigrations())
    const { ahead, behind } = await compareHistory(owner, known)
    if (ahead.length > 0 && behind.length > 0) throw divergent(ahead, behind)
    if (ahead.length > 0) return { applied: [], createdRoles: [], ahead }
    const applied = await applyMigrations(urls.ownerUrl, owner, known)
    if (distributes) await distribute(owner, options.progress ?? (() => {}))
    const createdRoles = await untilLocked(async () => {
      await createQueues(urls.ownerUrl, lockWaitMs)
      if (await isDistributed(owner)) await addTriggers(owner)
      return grantRoles(owner, app, worker)
    }).catch((error) => {
      if (!isLockTimeout(error)) throw error
      throw lockRefusal('The migrations are applied, the queues or privileges are not.')
    })
    return { applied, createdRoles, ahead }
  } finally {
    await owner.end()
  }
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

export type RepairReport = {
  /** The statements that were run. */
  repaired: string[]
  /** What is still wrong: a role that is too powerful, or something that no migration makes. */
  remaining: Finding[]
}

const maxRounds = 5 // isolation is tried only once the catalogue has no findings

/**
 * Repairs what `serve` would refuse to start with: row-level security, policies, views and functions
 * that are not as the migrations make them. Each round runs in one transaction.
 * @param urls as for `migrate`, which has to have run
 * @throws OperatorError if a statement fails; that round has changed nothing
 */
export async function repair(urls: MigrateUrls): Promise<RepairReport> {
  const owner = await connectOwner(urls.ownerUrl)
  const repaired: string[] = []
  try {
    await acquireMigrateLock(owner)
    for (let round = 1; ; round++) {
      const findings = await findAll(urls)
      const statements = [...new Set(findings.flatMap(({ repairs = [] }) => repairs))]
      if (statements.length === 0 || round > maxRounds) return { repaired, remaining: findings }
      await runRepairs(owner, statements)
      await grantRoles(owner, loginOf(urls.url), loginOf(urls.workerUrl))
      repaired.push(...statements)
    }
  } finally {
    await owner.end()
  }
}

async function findAll({ url, workerUrl }: MigrateUrls): Promise<Finding[]> {
  const found = await verifyDatabase(url, 'web')
  return workerUrl === url ? found : [...found, ...(await verifyDatabase(workerUrl, 'worker'))]
}

async function runRepairs(owner: pg.Client, statements: readonly string[]): Promise<void> {
  await untilLocked(() => runAll(owner, statements)).catch((error) => {
    if (isLockTimeout(error)) throw lockRefusal('Nothing was repaired.')
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      `The repair failed and was rolled back: ${reason}.`,
      `Run these statements as a superuser, one by one: ${statements.join('; ')}`,
    )
  })
}

async function grantRoles(
  owner: pg.Client,
  app: ReturnType<typeof loginOf>,
  worker: ReturnType<typeof loginOf>,
): Promise<string[]> {
  const created: string[] = []
  const one = app.name === worker.name
  await owner.query('BEGIN')
  try {
    if (await grantPrivileges(owner, app, one ? ['web', 'worker'] : ['web'])) created.push(app.name)
    if (!one && (await grantPrivileges(owner, worker, ['worker']))) created.push(worker.name)
    await owner.query('COMMIT')
    if (await isDistributed(owner)) {
      for (const { name } of one ? [app] : [app, worker]) await joinShardRole(owner, name)
    }
    return created
  } catch (error) {
    await owner.query('ROLLBACK')
    throw error
  }
}

async function connectOwner(ownerUrl: string): Promise<pg.Client> {
  const owner = new pg.Client({
    connectionString: ownerUrl,
    connectionTimeoutMillis: 5_000,
    application_name: 'gatehouse migrate',
    lock_timeout: lockWaitMs,
  })
  try {
    await owner.connect()
    return owner
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      `The database cannot be reached as its owner: ${reason}.`,
      'Check DATABASE_OWNER_URL and that PostgreSQL is running.',
    )
  }
}

function divergent(ahead: readonly string[], behind: readonly string[]): OperatorError {
  return new OperatorError(
    `The database has migrations that this release does not know (${ahead.join(', ')}), and lacks migrations of this release (${behind.join(', ')}).`,
    'Run migrate of the newest release.',
  )
}

function refuseOwner(roles: readonly string[], owner: string): void {
  if (!roles.includes(owner)) return
  throw new OperatorError(
    `DATABASE_URL and DATABASE_OWNER_URL both log in as ${owner}.`,
    'Use another role in DATABASE_URL; migrate creates it. The owner of the tables must not serve requests.',
  )
}
