import { noClientInfo } from '#src/audit/audit.ts'
import { customerRefusals, linkCustomer, readHolder, userRemedy } from '#src/billing/customers.ts'
import { holderColumns, holderText } from '#src/billing/holder.ts'
import type { Environment } from '#src/config/parse.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { readWorkerUrl } from '../kit/databases.ts'
import { withEnvironment } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'
import { withQueue } from '../kit/queue.ts'

const statementTimeoutMs = statementTimeoutsMs.byKey

const tenantRemedy =
  'Give the id of a tenant as the page of its members shows it, or GET /tenants of one of them.'

/** `gatehouse billing link`: links a billing customer to a user, by id or verified address, or to a tenant by id. */
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
        const remedy = linked === 'no-tenant' ? tenantRemedy : userRemedy
        throw new OperatorError(customerRefusals[linked], remedy)
      }
      if (json) printJson({ customer, ...holderColumns(linked.holder) })
      else if (linked.holder !== null)
        print(`${customer} is linked to ${holderText(linked.holder)}`)
    }),
  )
}
