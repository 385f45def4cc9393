import type { PgBoss } from 'pg-boss'
import { deleteTenantByCommand } from '#src/auth/erasure/delete-tenant.ts'
import { describeBlock, eraseByCommand, findPerson } from '#src/auth/erasure/erase.ts'
import { exportPerson, exportReader, exportTenant } from '#src/auth/erasure/export.ts'
import { eraseNow } from '#src/auth/erasure/work.ts'
import { readUser, userRemedy } from '#src/billing/customers.ts'
import type { Environment } from '#src/config/parse.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { endingLimits, statementTimeoutsMs } from '#src/db/timeouts.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { readUrl, requireOwner } from '../kit/databases.ts'
import { withDatabaseOwner } from '../kit/environment.ts'
import { createProgress, print, printJson, printMessage } from '../kit/output.ts'
import { withQueue } from '../kit/queue.ts'

type Options = { readonly json?: true }

const limits = { ...endingLimits, statementTimeoutMs: statementTimeoutsMs.erasure }
const tenantRemedy = 'Give the id of a tenant, as GET /tenants and the audit log show it.'

/** `gatehouse user export`: everything that is kept about a user, as JSON. */
export function exportUser(env: Environment, user: string): Promise<void> {
  return withOwner(env, async ({ systemDb }) => {
    const userId = await requirePerson(systemDb, user)
    const read = exportReader(systemDb, { kind: 'person', userId })
    await write(exportPerson(read, new Date()))
  })
}

/** `gatehouse user erase`: deletes a user, as their own request does. */
export function eraseUser(env: Environment, user: string, { json }: Options): Promise<void> {
  return withOwner(env, async ({ systemDb, queue }) => {
    const userId = await requirePerson(systemDb, user)
    const outcome = await systemDb.transaction(limits, (connection) =>
      eraseByCommand(connection, queue, userId),
    )
    if (outcome === null) throw noUser()
    if (outcome !== 'erased') {
      throw new OperatorError(
        'The user is the last admin of a tenant with other members.',
        describeBlock(outcome),
      )
    }
    await showErasure(systemDb, queue)
    if (json) printJson({ userId, erased: true })
    else print(`User ${userId} is deleted, and the copies of their data are erased.`)
  })
}

/** `gatehouse tenant export`: everything of a tenant, as JSON. */
export function exportWholeTenant(env: Environment, tenant: string): Promise<void> {
  return withOwner(env, async ({ systemDb }) => {
    const read = exportReader(systemDb, { kind: 'tenant' })
    const [found] = await read('tenant', tenant, null)
    if (found === undefined) throw new OperatorError('There is no such tenant.', tenantRemedy)
    await write(exportTenant(tenant, read, new Date()))
  })
}

/** `gatehouse tenant delete`: deletes a tenant, as an admin's request does. */
export function deleteWholeTenant(
  env: Environment,
  tenant: string,
  name: string,
  { json }: Options,
): Promise<void> {
  return withOwner(env, async ({ systemDb, queue }) => {
    const outcome = await systemDb.transaction(limits, (connection) =>
      deleteTenantByCommand(connection, tenant, name),
    )
    if (outcome === 'no-tenant') throw new OperatorError('There is no such tenant.', tenantRemedy)
    if (outcome === 'other-name') {
      throw new OperatorError('The tenant has another name.', 'Give its exact name with --name.')
    }
    await showErasure(systemDb, queue)
    if (json) printJson({ tenantId: tenant, deleted: true })
    else print(`Tenant ${tenant} is deleted with everything in it.`)
  })
}

async function requirePerson(systemDb: SystemDatabase, user: string): Promise<number> {
  const userId = await findPerson(systemDb, readUser(user))
  if (userId === null) throw noUser()
  return userId
}

function noUser(): OperatorError {
  return new OperatorError('There is no such user.', userRemedy)
}

async function showErasure(systemDb: SystemDatabase, queue: PgBoss): Promise<void> {
  const show = createProgress(process.stderr)
  await eraseNow(systemDb, queue, (done) =>
    show({ label: 'erasing, batches of 1,000 rows', done, total: null }),
  )
  endCount()
}

/** Ends the line of a count, so that what follows begins below it. */
function endCount(): void {
  if (process.stderr.isTTY) printMessage('')
}

async function write(pieces: AsyncIterable<string>): Promise<void> {
  // Where the export itself is on the terminal it shows how far it is.
  const show = process.stdout.isTTY ? () => {} : createProgress(process.stderr)
  let done = 0
  for await (const piece of pieces) {
    done += piece.length
    show({ label: 'exporting, characters', done, total: null })
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(piece, (error) => (error ? reject(error) : resolve()))
    })
  }
  if (!process.stdout.isTTY) endCount()
}

/** As the owner: no running process may read or delete anybody's data. Deletion adds jobs. */
function withOwner(env: Environment, work: Parameters<typeof withQueue>[1]): Promise<void> {
  return withDatabaseOwner(env, (whole) =>
    withQueue(readUrl(whole, 'DATABASE_OWNER_URL'), work, requireOwner),
  )
}
