import { noClientInfo } from '#src/audit/audit.ts'
import { customerRefusals, linkCustomer, readHolder } from '#src/billing/customers.ts'
import { ConfigError } from '#src/config/config.ts'
import { type Environment, readDatabaseUrl } from '#src/config/parse.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { withEnvironment } from './environment.ts'
import { print, printJson } from './output.ts'

const statementTimeoutMs = statementTimeoutsMs.byKey

/** `gatehouse billing link`: links a billing customer to a user, given by id or verified address. */
export default async function linkCommand(
  env: Environment,
  customer: string,
  user: string,
  { json }: { readonly json?: true },
): Promise<void> {
  await withEnvironment(env, async (whole) => {
    const systemDb = openSystemDatabase(readWorkerUrl(whole), 1)
    const linked = await systemDb
      .transaction({ statementTimeoutMs }, (connection) =>
        linkCustomer(connection, null, customer, readHolder(user), noClientInfo),
      )
      .finally(() => systemDb.close())
    if (typeof linked === 'string') {
      throw new OperatorError(
        customerRefusals[linked],
        'Give the id of a user, or an email address that a user has verified.',
      )
    }
    const { userId } = linked
    if (json) printJson({ customer, userId })
    else print(`${customer} is linked to user ${userId}`)
  })
}

/** The worker's role alone may call the function; DATABASE_URL may name the same role. */
function readWorkerUrl(env: Environment): string {
  const faults: string[] = []
  const setting = env.DATABASE_WORKER_URL ? 'DATABASE_WORKER_URL' : 'DATABASE_URL'
  const url = readDatabaseUrl(setting, env[setting] || undefined, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return url
}
