import pg from 'pg'
import { poolOptions, unhurried } from '#src/db/connections/pool-options.ts'
import { beginWrite, settingsOfTransaction } from '#src/db/connections/session-settings.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { describeKind } from '../citus/cluster.ts'
import { findVariant } from '../citus/variant.ts'
import { findUnfinished } from '../citus/verify.ts'
import { type Definitions, digestBodies, readDefinitions } from '../definitions.ts'
import { findDifferences } from '../differences.ts'
import {
  type Finding,
  filesRemedy,
  migrateRemedy,
  migrateRemedyOf,
  replaceRemedyOf,
} from '../finding.ts'
import { verifyMemberRoles } from '../member-roles.ts'
import { compareHistory, describeParted, readMigrations } from '../migrations/applied.ts'
import { compareRelease, readRecord, type SchemaRecord, wasApplied } from '../record.ts'
import { verifyResources } from '../resource-tables.ts'
import { findOwnerFault } from '../roles.ts'
import { tablePrivileges } from '../tables.ts'
import { findClosed } from '../unreachable.ts'
import { readFingerprint } from './fingerprint.ts'
import { type Newer, verifyFunctions } from './verify-functions.ts'
import { verifyIsolation, verifyWithoutScope } from './verify-isolation.ts'
import { verifyRoles } from './verify-roles.ts'
import { verifyTables } from './verify-tables.ts'

type Depth = 'catalogue' | 'isolation'
/** Tests verify as another release, whose definitions they made. */
type OwnFiles = { definitions?: Definitions }

/**
 * Verifies that the role at `url` cannot bypass row-level security, that every table is under it or
 * listed as an exception (src/schema/tables.ts), that functions, policies, triggers and privileges are as
 * the last `migrate` left them, and that it was of this release or of a newer one. For the web role
 * row-level security is then tried (verify-isolation.ts).
 * @param duty what the role is for
 * @param depth `catalogue` writes nothing; `isolation` also creates two tenants that try to reach each
 *   other's rows, and rolls them back
 * @param files of this program by default
 * @returns all findings; `serve` starts only if there are none
 * @throws if the database cannot be reached
 */
export async function verifyDatabase(
  url: string,
  duty: 'web' | 'worker',
  depth: Depth = 'isolation',
  files: OwnFiles = {},
): Promise<Finding[]> {
  return withClient(url, async (client) =>
    findSettled(client, await fingerprintOf(client), () =>
      findOrDescribe(client, duty, depth, files),
    ),
  )
}

/** Rounds after which everything is verified again although nothing has changed: a quarter of an hour. */
const unchangedRounds = 15

/**
 * Repeats the verification of the web role while a program runs. Verifies only after a change since the
 * last verification that found nothing (fingerprint.ts). On a cluster everything is verified each time,
 * because its nodes have catalogues of their own.
 */
export function repeatVerification(url: string): () => Promise<Finding[]> {
  let verified: string | null = null
  let rounds = 0
  return () =>
    withClient(url, async (client) => {
      const before = await fingerprintOf(client)
      rounds += 1
      if (before !== null && before === verified && rounds < unchangedRounds) return []
      const findings = await findSettled(client, before, () =>
        findOrDescribe(client, 'web', 'catalogue'),
      )
      const isWhole = findings.length === 0 && (await findVariant(client)) === null
      verified = isWhole ? before : null
      rounds = 0
      return findings
    })
}

const mostLooks = 10

/**
 * Looks again while the catalogue or the record changes: a verification that begins before `migrate` commits and
 * ends after it compares the one with the other.
 * @param before the fingerprint before the first look
 */
async function findSettled(
  client: pg.Client,
  before: string | null,
  find: () => Promise<Finding[]>,
): Promise<Finding[]> {
  let [known, findings] = [before, await find()]
  for (let look = 1; findings.length > 0 && look < mostLooks; look++) {
    const found = await fingerprintOf(client)
    if (found === known) break
    known = found
    findings = await find()
  }
  return findings
}

/** Null if it cannot be read: the verification says why. */
function fingerprintOf(client: pg.Client): Promise<string | null> {
  return inTransaction(client, () => readFingerprint(client)).catch((error) => {
    if (isDatabaseUnavailable(error)) throw error
    return null
  })
}

/** A verification that fails is a finding, unless the database cannot be reached. */
function findOrDescribe(
  client: pg.Client,
  duty: 'web' | 'worker',
  depth: Depth,
  files: OwnFiles = {},
): Promise<Finding[]> {
  return inTransaction(client, () => findFindings(client, duty, depth, files)).catch((error) => {
    if (isDatabaseUnavailable(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    return [{ problem: `The verification failed: ${reason}.`, remedy: migrateRemedy }]
  })
}

/**
 * One line on what kind of database is at `url`: one PostgreSQL, or a cluster.
 * @throws if the database cannot be reached
 */
export async function describeDatabase(url: string): Promise<string> {
  return withClient(url, describeKind)
}

/** A fault of the owner of the tables; null if there is none. */
export async function verifyOwner(url: string): Promise<Finding | null> {
  return withClient(url, findOwnerFault)
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(poolOptions(url, 1, unhurried))
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Runs `work` in a transaction with the settings of the program, which is rolled back: behind a pooler nothing
 * else makes PostgreSQL print definitions as it printed them for `migrate`.
 */
async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query(`${beginWrite}; ${settingsOfTransaction}`)
  try {
    return await work()
  } finally {
    // A connection that has broken has reported that already.
    await client.query('ROLLBACK').catch(() => {})
  }
}

async function findFindings(
  client: pg.Client,
  duty: 'web' | 'worker',
  depth: Depth,
  files: OwnFiles,
): Promise<Finding[]> {
  // While a failover is in progress a running process may reach a standby; that breaks no lock.
  const closed = depth === 'isolation' ? await findClosed(client) : null
  if (closed !== null) return [closed]
  if (!(await mayReadHistory(client))) {
    return [{ problem: 'The database has no schema for this role yet.', remedy: migrateRemedy }]
  }
  const { ahead, behind } = await compareHistory(client, await readMigrations())
  const parted = describeParted({ ahead, behind })
  if (parted !== null) return [parted]
  if (behind.length > 0) return [describeBehind(behind)]
  // Tables of a newer release may have changed already; that release verifies them.
  const undeclared = ahead.length === 0 ? await verifyResources(client) : []
  if (undeclared.length > 0) return undeclared
  // A process that runs goes on while a newer app takes a role away.
  const missing = ahead.length === 0 && depth === 'isolation' ? await verifyMemberRoles(client) : []
  if (missing.length > 0) return missing
  const unfinished = await findUnfinished(client)
  if (unfinished.length > 0) return unfinished
  const variant = await findVariant(client)
  const own = files.definitions ?? (await (variant?.readDefinitions ?? readDefinitions)())
  const record = await readRecord(client)
  const relation = record === null ? 'other' : compareRelease(record, own, ahead.length > 0)
  if (record === null || (relation === 'other' && !wasApplied(record, own))) {
    const problem = 'The functions, policies, triggers or privileges are not those of this release.'
    return [{ problem, remedy: migrateRemedy }]
  }
  // Tables of a newer release are not used by this one; that release verifies them.
  const concerns = (table: string) => ahead.length === 0 || Object.hasOwn(tablePrivileges, table)
  const isAhead = ahead.length > 0
  return findInRelease({ client, duty, depth, concerns, own, record, relation, isAhead, variant })
}

type Verified = {
  client: pg.Client
  duty: 'web' | 'worker'
  depth: Depth
  concerns: (table: string) => boolean
  own: Definitions
  record: SchemaRecord
  relation: ReturnType<typeof compareRelease>
  /** The database has migrations that this release does not know. */
  isAhead: boolean
  variant: Awaited<ReturnType<typeof findVariant>>
}

/** What differs from the record of the release that the database has. */
async function findInRelease(verified: Verified): Promise<Finding[]> {
  const { client, duty, concerns, own, record, relation, isAhead, variant } = verified
  const role = await nameOf(client)
  const roleFlaws = await verifyRoles(client)
  const isLimited = roleFlaws.length === 0
  // A newer release migrates: its migrations are committed, and its record is not yet.
  const isBetween = isAhead && relation === 'same'
  const differences = isLimited ? await findChanged(client, record, role, !isBetween) : []
  const changed = isBetween ? await ofTablesLeft(client, differences, record) : differences
  const isAsRecorded = (object: string) =>
    isLimited && !changed.some((one) => one.object === object)
  const newer = relation === 'same' ? null : describeNewer(record, own, role, isAsRecorded)
  const named = [
    ...roleFlaws,
    // A role that is too powerful may call everything; the findings already say so.
    ...(isLimited ? await verifyFunctions(client, duty, functionsOf(record), newer) : []),
    ...(await verifyTables(client, concerns, newer?.made)).map((one) =>
      one.remedy === migrateRemedy && relation === 'same' && isAsRecorded(one.object ?? '')
        ? { ...one, remedy: filesRemedy }
        : one,
    ),
  ]
  const findings = firstOfEach([
    ...named,
    ...changed,
    ...(relation === 'same' && variant === null ? findForeignBodies(record, own) : []),
  ])
  if (findings.length === 0) findings.push(...(await tryLock(verified)))
  if (relation !== 'newer') return findings
  const release = record.releases.at(-1)?.version ?? ''
  return findings.map((one) => {
    if (one.remedy !== migrateRemedy) return one
    const repairs = one.object === undefined ? changed.length > 0 : !isAsRecorded(one.object)
    return { ...one, remedy: repairs ? migrateRemedyOf(release) : replaceRemedyOf(release) }
  })
}

async function tryLock(verified: Verified): Promise<Finding[]> {
  const { client, duty, depth, concerns, relation, isAhead, variant } = verified
  const ofVariant = (await variant?.verify(client, depth === 'catalogue')) ?? []
  if (ofVariant.length > 0 || duty === 'worker') return ofVariant
  // On a cluster a role cannot use what functions of the owner have written in the same transaction.
  return depth === 'isolation' && variant === null
    ? verifyIsolation(client, concerns, isAhead || relation !== 'same')
    : verifyWithoutScope(client, concerns)
}

function describeNewer(
  record: SchemaRecord,
  { kept }: Definitions,
  role: string,
  isAsRecorded: (object: string) => boolean,
): Newer {
  const recorded = new Set(record.objects.map(({ table, name }) => table ?? name))
  const granted = [role, 'PUBLIC'].flatMap((one) =>
    Object.entries(record.privileges.get(one) ?? {}).flatMap(([object, rights]) =>
      rights.includes('EXECUTE') ? [object] : [],
    ),
  )
  return { kept, granted, made: (object) => recorded.has(object) && isAsRecorded(object) }
}

async function nameOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ role: string }>('SELECT current_user::text AS role')
  return rows[0]?.role ?? ''
}

async function mayReadHistory(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ readable: boolean | null }>(
    `SELECT has_table_privilege(to_regclass('_prisma_migrations'), 'SELECT') AS readable`,
  )
  return rows[0]?.readable === true
}

function describeBehind(behind: readonly string[]): Finding {
  const problem = `The database is behind by ${behind.length} migration(s): ${behind.join(', ')}.`
  return { problem, remedy: migrateRemedy }
}

function functionsOf({ objects }: SchemaRecord): string[] {
  return objects.filter(({ kind }) => kind === 'function').map(({ name }) => name)
}

async function findChanged(
  client: pg.Client,
  record: SchemaRecord,
  role: string,
  lesser: boolean,
): Promise<Finding[]> {
  const differences = await findDifferences(client, record, [role], { lesser })
  return differences.map((difference) => ({ remedy: migrateRemedy, ...difference }))
}

/** Leaves out what a dropped table had: a table that does not exist shows no row. */
async function ofTablesLeft(
  client: pg.Client,
  findings: readonly Finding[],
  { objects }: SchemaRecord,
): Promise<Finding[]> {
  const tables = objects.flatMap(({ kind, name }) => (kind === 'table' ? [name] : []))
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) name WHERE to_regclass(format('public.%I', name)) IS NULL`,
    [tables],
  )
  return findings.filter(({ object }) => !rows.some(({ name }) => name === object))
}

/** The record itself could have been changed by hand: each body has to be in a file of this release. */
function findForeignBodies({ objects }: SchemaRecord, own: Definitions): Finding[] {
  const bodies = digestBodies(own)
  return objects
    .filter(({ kind, part, facts }) => kind === 'function' && part === 'functions' && facts.body)
    .filter(({ facts }) => !bodies.has(facts.body ?? ''))
    .map(({ name }) => ({
      object: name,
      problem: `The function ${name} is not as prisma/functions has it.`,
      remedy: migrateRemedy,
    }))
}

/** The first finding about each object says what is wrong with it; findings about the role stay. */
function firstOfEach(findings: readonly Finding[]): Finding[] {
  const objects = findings.map(({ object }) => object)
  return findings.filter(
    ({ object }, index) => object === undefined || objects.indexOf(object) === index,
  )
}
