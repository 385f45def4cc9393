import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { startGatehouse } from './contender.ts'
import { measuredHead, measuredRow, ratioOf } from './measured.ts'
import { measureOneCommit } from './pgbench.ts'
import { onDatabase, type Place } from './place.ts'
import { measureServer } from './processes.ts'
import type { Effort, Section } from './section.ts'
import { nameOf, takeTurns } from './turns.ts'

const connections = 64

const secrets: Readonly<Record<BillingProvider['name'], string>> = {
  signed: 'whsec_bench_secret_bench',
  stripe: 'whsec_bench_secret_bench',
  paddle: 'pdl_ntfset_bench_secret',
  standard: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
}
const providers = Object.keys(secrets) as BillingProvider['name'][]

const note = `New payments in the format of each provider, each signed and sent once. pgbench commits one event row
and one job per transaction, without HTTP and without storing the body of the event.`

/** Recording the events of each billing provider, compared with one commit per event. */
export async function measureBilling(place: Place, effort: Effort): Promise<Section> {
  await clear(place)
  const contests = [...providers, 'pgbench' as const].map((contender) => ({
    contender,
    connections,
  }))
  const medians = await takeTurns(contests, effort.runs, async ({ contender }) => {
    const { seconds } = effort
    const measured = await (contender === 'pgbench'
      ? measureOneCommit(place, connections, seconds)
      : measureProvider(place, contender, seconds))
    await clear(place)
    return measured
  })
  const pgbench = medians.get(nameOf({ contender: 'pgbench', connections }))
  return {
    title: 'Billing providers',
    ratios: providers.map((contender) => ({
      measure: `events/s of ${contender} ÷ one commit per event (pgbench), ${connections}`,
      value: ratioOf(medians.get(nameOf({ contender, connections })), pgbench, 'perSecond'),
      goal: '≥ 1.2',
    })),
    measures: [
      measuredHead('Events/s'),
      ...[...medians].map(([name, measured]) => measuredRow(name, measured)),
    ],
    note,
  }
}

async function measureProvider(place: Place, provider: BillingProvider['name'], seconds: number) {
  const secret = secrets[provider]
  const settings = { BILLING_PROVIDER: provider, BILLING_WEBHOOK_SECRETS: secret }
  const server = await startGatehouse(place, settings)
  return measureServer(server, { connections, seconds, requests: { eventsOf: provider, secret } })
}

async function clear({ superuserUrl }: Place): Promise<void> {
  await onDatabase(superuserUrl, [
    'TRUNCATE processed_events, received_events, pgboss.job',
    'CHECKPOINT',
  ])
}
