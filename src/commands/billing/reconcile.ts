import { setTimeout as wait } from 'node:timers/promises'
import {
  createReconciliation,
  findReconciliation,
  type Reconciliation,
} from '#src/billing/reconciliation.ts'
import type { Environment } from '#src/config/parse.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { print, printJson, printMessage } from '../kit/output.ts'
import { withApplicationQueue } from '../kit/queue.ts'

const statementTimeoutMs = statementTimeoutsMs.replay
const pollMs = 250
const waitForWorkerMs = 60_000

/** `from` and `to` are RFC 3339 times. */
type Options = {
  readonly from?: string
  readonly to?: string
  readonly dryRun?: true
  readonly json?: true
}

/** `gatehouse billing reconcile`: records what the provider's list has and no webhook brought. */
export default async function reconcileCommand(
  env: Environment,
  { dryRun, json, ...range }: Options,
): Promise<void> {
  const request = { ...range, dryRun: dryRun === true }
  await withApplicationQueue(env, async ({ systemDb, queue }) => {
    const created = await systemDb.transaction({ statementTimeoutMs }, (connection) =>
      createReconciliation(connection, queue, request),
    )
    const run = await follow(systemDb, created)
    if (run.status === 'failed') throw new OperatorError(`${run.error}.`, remedy)
    if (json) printJson(run)
    else print(describe(run))
  })
}

const remedy =
  'Check BILLING_API_URL and BILLING_API_KEY of the workers, and that the API has a list of events. If the list is too long, ask for a shorter time with --from and --to.'

function describe({ seen, missed, missedIds, different, differentIds, dryRun }: Reconciliation) {
  const done = dryRun ? 'missing' : 'missed and recorded now'
  return [
    `${seen} listed, ${missed} ${done}, ${different} with other content`,
    ...(missed > 0 ? [`missed: ${missedIds.join(', ')}`] : []),
    ...(different > 0 ? [`other content: ${differentIds.join(', ')}`] : []),
  ].join('\n')
}

/**
 * Polls the run until it has ended.
 * @throws OperatorError if nothing happens for a minute
 */
async function follow(systemDb: SystemDatabase, created: Reconciliation): Promise<Reconciliation> {
  let run = created
  let lastProgress = performance.now()
  while (run.status === 'running') {
    await wait(pollMs)
    const next = (await findReconciliation(systemDb, run.id)) ?? run
    if (next.seen !== run.seen) {
      lastProgress = performance.now()
      printMessage(`events: ${next.seen}`)
    } else if (performance.now() - lastProgress > waitForWorkerMs) {
      throw new OperatorError(
        `No worker has made progress for ${waitForWorkerMs / 1_000} seconds.`,
        'The run is stored and goes on with the next worker: gatehouse worker.',
      )
    }
    run = next
  }
  return run
}
