import { deleteTenantByCommand } from '#src/auth/erasure/delete-tenant.ts'
import { describeBlock, eraseByCommand, findPerson } from '#src/auth/erasure/erase.ts'
import { exportPerson, exportReader, exportTenant } from '#src/auth/erasure/export.ts'
import { eraseNow } from '#src/auth/erasure/work.ts'
import { readHolder, userRemedy } from '#src/billing/customers.ts'
import type { Environment } from '#src/config/parse.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { endingLimits, statementTimeoutsMs } from '#src/db/timeouts.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { readUrl, requireOwner } from '../kit/databases.ts'
import { withDatabaseOwner } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'
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
    await eraseNow(systemDb, queue)
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
    await eraseNow(systemDb, queue)
    if (json) printJson({ tenantId: tenant, deleted: true })
    else print(`Tenant ${tenant} is deleted with everything in it.`)
  })
}

async function requirePerson(systemDb: SystemDatabase, user: string): Promise<number> {
  const userId = await findPerson(systemDb, readHolder(user))
  if (userId === null) throw noUser()
  return userId
}

function noUser(): OperatorError {
  return new OperatorError('There is no such user.', userRemedy)
}

async function write(pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) {
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(piece, (error) => (error ? reject(error) : resolve()))
    })
  }
}

/** As the owner: no running process may read or delete anybody's data. Deletion adds jobs. */
function withOwner(env: Environment, work: Parameters<typeof withQueue>[1]): Promise<void> {
  return withDatabaseOwner(env, (whole) =>
    withQueue(readUrl(whole, 'DATABASE_OWNER_URL'), work, requireOwner),
  )
}
