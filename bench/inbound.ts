import { startGatehouse, webhookSecret } from './contender.ts'
import { type Measured, measuredHead, measuredRow, ratioOf } from './measured.ts'
import { measureOneCommit } from './pgbench.ts'
import { onDatabase, type Place } from './place.ts'
import { measureServer, startServer } from './processes.ts'
import type { Effort, Section } from './section.ts'
import { nameOf, takeTurns } from './turns.ts'

const connectionCounts = [1, 16, 64] as const
const contenders = ['gatehouse', 'usual recipe', 'pgbench', 'one statement'] as const
const requests = { eventsSignedWith: webhookSecret }

const note = `New events, each signed and sent once. The usual recipe is bench/baselines/inbound-usual-recipe.ts;
pgbench commits one event row and one job per transaction, without HTTP and without storing the
event's body. One statement is bench/baselines/inbound-one-statement.ts: Fastify, the signature and a
statement that writes the same three rows, sent by bare pg: the least that a single event costs.`

/** Recording signed events, compared with the usual recipe and with one commit per event. */
export async function measureInbound(place: Place, effort: Effort): Promise<Section> {
  await clear(place)
  const contests = connectionCounts.flatMap((connections) =>
    contenders
      .filter((contender) => contender !== 'one statement' || connections === 1)
      .map((contender) => ({ contender, connections })),
  )
  const medians = await takeTurns(contests, effort.runs, async ({ contender, connections }) => {
    const measured = await measure(place, contender, connections, effort.seconds)
    await clear(place)
    return measured
  })
  const at = (contender: (typeof contenders)[number], connections: number) =>
    medians.get(nameOf({ contender, connections }))
  const ours = at('gatehouse', 64)
  return {
    title: 'Inbound webhooks',
    ratios: [
      {
        measure: 'events/s ÷ the usual recipe, 64 connections',
        value: ratioOf(ours, at('usual recipe', 64), 'perSecond'),
        goal: '≥ 10',
      },
      {
        measure: 'events/s ÷ one commit per event (pgbench), 64',
        value: ratioOf(ours, at('pgbench', 64), 'perSecond'),
        goal: '≥ 1.4',
      },
      {
        measure: 'p50 ÷ p50 of Fastify, the signature and one statement, 1 connection',
        value: ratioOf(at('gatehouse', 1), at('one statement', 1), 'p50Ms'),
        goal: '≤ 1.25',
      },
    ],
    measures: [
      measuredHead('Events/s'),
      ...[...medians].map(([name, measured]) => measuredRow(name, measured)),
    ],
    note,
  }
}

async function measure(
  place: Place,
  contender: string,
  connections: number,
  seconds: number,
): Promise<Measured | null> {
  if (contender === 'pgbench') return measureOneCommit(place, connections, seconds)
  const server = await (contender === 'gatehouse'
    ? startGatehouse(place)
    : startBaseline(place, contender))
  return measureServer(server, { connections, seconds, requests })
}

function startBaseline({ url }: Place, contender: string) {
  const name = contender === 'usual recipe' ? 'inbound-usual-recipe' : 'inbound-one-statement'
  return startServer(`./baselines/${name}.ts`, {
    DATABASE_URL: url,
    WEBHOOK_SECRET: webhookSecret,
    POOL_SIZE: '20',
  })
}

async function clear({ superuserUrl }: Place): Promise<void> {
  await onDatabase(superuserUrl, [
    'TRUNCATE processed_events, received_events, pgboss.job',
    'CHECKPOINT',
  ])
}
