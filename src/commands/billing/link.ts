import { noClientInfo } from '#src/audit/audit.ts'
import { customerRefusals, linkCustomer, readHolder, userRemedy } from '#src/billing/customers.ts'
import type { Environment } from '#src/config/parse.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { readWorkerUrl } from '../kit/databases.ts'
import { withEnvironment } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'
import { withQueue } from '../kit/queue.ts'

const statementTimeoutMs = statementTimeoutsMs.byKey

/** `gatehouse billing link`: links a billing customer to a user, given by id or verified address. */
export default async function linkCommand(
  env: Environment,
  customer: string,
  user: string,
  { json }: { readonly json?: true },
): Promise<void> {
  await withEnvironment(env, (whole) =>
    withQueue(readWorkerUrl(whole), async ({ systemDb, queue }) => {
      const linked = await systemDb.transaction({ statementTimeoutMs }, (connection) =>
        linkCustomer(connection, queue, null, customer, readHolder(user), noClientInfo),
      )
      if (typeof linked === 'string') {
        throw new OperatorError(customerRefusals[linked], userRemedy)
      }
      const { userId } = linked
      if (json) printJson({ customer, userId })
      else print(`${customer} is linked to user ${userId}`)
    }),
  )
}
