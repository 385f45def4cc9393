import { chooseProvider } from '#src/billing/providers/choose.ts'
import { readBillingProvider } from '#src/config/billing.ts'
import type { Environment } from '#src/config/parse.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import {
  checkLedger,
  type Finding,
  findSettled,
  type LedgerCheck,
  wholeRanges,
} from '#src/ledger/ledger.ts'
import { type Remedy, remedyOf, repairLedger } from '#src/ledger/repair.ts'
import { openQueue } from '#src/queue/queue.ts'
import { readWorkerUrl, withWorkerDatabase } from '../kit/databases.ts'
import { print, printJson, printMessage } from '../kit/output.ts'

type Json = { readonly json?: true }

/** `gatehouse ledger verify`: whether every event and delivery is accounted for, since the first. */
export async function verify(env: Environment, { json }: Json): Promise<void> {
  await withWorkerDatabase(env, async (systemDb) => {
    const check = await checkAll(systemDb)
    if (check.findings.length > 0) process.exitCode = 1
    if (json) return printJson({ unaccounted: check.findings.length, ...check })
    for (const finding of check.findings) print(describe(finding))
    print(summaryOf(check))
  })
}

/** `gatehouse ledger repair`: shows what would be done, and does it with `apply`. */
export async function repair(
  env: Environment,
  { apply, json }: Json & { readonly apply?: true },
): Promise<void> {
  await withWorkerDatabase(env, async (systemDb, whole) => {
    const { findings } = await checkAll(systemDb)
    for (const finding of findings)
      printMessage(`${describe(finding)}: ${remedies[remedyOf(finding)]}`)
    if (apply !== true) {
      if (findings.length > 0) process.exitCode = 1
      const planned = findings.map((finding) => ({ ...finding, remedy: remedyOf(finding) }))
      if (json) return printJson({ repaired: null, findings: planned })
      return print(
        findings.length === 0 ? 'Nothing to repair.' : 'Nothing was changed; add --apply.',
      )
    }
    const queue = openQueue(readWorkerUrl(whole), 'worker', () => {})
    try {
      await queue.start()
      const provider = chooseProvider(readBillingProvider(whole), { production: true, baseUrl: '' })
      const repaired = await repairLedger(systemDb, queue, findings, provider)
      const left = await checkAll(systemDb)
      if (left.findings.length > 0) process.exitCode = 1
      if (json) return printJson({ repaired, findings: left.findings })
      print(`${repaired.deliveries} deliveries and ${repaired.events} events have a job again`)
      print(summaryOf(left))
    } finally {
      await queue.stop({ graceful: false })
    }
  })
}

const remedies: Readonly<Record<Remedy, string>> = {
  job: 'gets a job',
  none: 'cannot be repaired; see docs/operations.md',
}

async function checkAll(systemDb: SystemDatabase): Promise<LedgerCheck> {
  const before = await findSettled(systemDb)
  return checkLedger(systemDb, await wholeRanges(systemDb, before), before)
}

function describe({ kind, at, tenantId, eventId, deliveryId, endpointId, detail }: Finding) {
  const ids = [
    ...(tenantId === null ? [] : [`tenant ${tenantId}`]),
    ...(eventId === null ? [] : [`event ${eventId}`]),
    ...(deliveryId === null ? [] : [`delivery ${deliveryId}`]),
    ...(endpointId === null ? [] : [`endpoint ${endpointId}`]),
    ...(detail === null ? [] : [detail]),
  ]
  return `${at}  ${kind}  ${ids.join(', ')}`
}

function summaryOf({ findings, partial }: LedgerCheck): string {
  return `unaccounted: ${partial ? 'at least ' : ''}${findings.length}`
}
