import t from 'tap'
import { type Journey, playJourney, serveJourney } from '#test/support/app/journey.ts'
import { until } from '#test/support/database/until.ts'
import { runProgram } from '#test/support/processes/program.ts'

type Line = Record<string, unknown>

t.test(
  'gatehouse trace shows what is known about an id, from its cause to its attempts',
  async (t) => {
    const journey = await serveJourney(t)
    const secrets = await playJourney(journey)
    const { database, log } = journey
    await until(database, `SELECT FROM deliveries WHERE status = 'succeeded'`)
    await until(database, `SELECT FROM received_events WHERE status = 'processed'`)
    const lines = log.map((line): Line => JSON.parse(line))
    const find = (facts: Line) =>
      lines.find((line) => Object.entries(facts).every(([name, value]) => line[name] === value))
    const change = find({ msg: 'request', route: 'PATCH /orders/:id' })
    const requestId = String(change?.reqId)
    const stored = await outgoing(journey, `request:${requestId}`)
    const trace = tracer(t, journey)

    const steps = ['request', 'event published', 'delivery created', 'delivery attempt']
    const attempts = [
      { attempt: 1, statusCode: 500 },
      { attempt: 2, statusCode: 204 },
    ]
    for (const [id, kind] of [
      [requestId, 'request'],
      [stored.event_id, 'message'],
      [stored.delivery_id, 'delivery'],
    ] as const) {
      const { status, entries, kinds } = await trace(id)
      t.equal(status, 0)
      t.strictSame(kinds, [kind])
      t.strictSame(
        entries.map((entry) => entry.kind).filter((one) => steps.includes(one)),
        [...steps, 'delivery attempt'],
      )
      t.match(
        entries.filter((entry) => entry.kind === 'delivery attempt').map(({ facts }) => facts),
        attempts,
      )
      t.match(entries.at(-1), { kind: 'delivery succeeded' })
      t.match(entries[0]?.facts, { requestId })
    }

    const webhook = find({ msg: 'billing event', recorded: 'first' })
    const fromEvent = await trace('evt_1')
    t.strictSame(fromEvent.kinds, ['billing-event'])
    t.match(fromEvent.entries[0], { kind: 'request', facts: { requestId: webhook?.reqId } })
    t.match(fromEvent.entries.find(({ kind }) => kind === 'event published')?.facts, {
      type: 'invoice.created',
      cause: 'billing-event:evt_1',
    })
    const fromWebhook = await trace(String(webhook?.reqId))
    t.strictSame(fromWebhook.kinds, ['request'])
    t.strictSame(fromWebhook.entries, fromEvent.entries)

    const made = find({ msg: 'request', route: 'POST /auth/tokens' })
    t.match((await trace(String(made?.reqId))).entries, [
      { kind: 'request' },
      { kind: 'audit', facts: { action: 'token-create', outcome: 'done' } },
    ])

    const readable = await run(t, journey, requestId)
    t.match(readable.output, /^[^\n]+: request\n\S+Z {2}request {2}requestId=/)
    t.match(readable.output, /delivery attempt {2}.*attempt=2.*statusCode=204/)
    for (const secret of secrets) t.notOk(readable.output.includes(secret), 'no secret')
  },
)

t.test(
  'an id that is several things says which; an unknown one is one line and status 1',
  async (t) => {
    const journey = await serveJourney(t)
    const { database } = journey
    await playJourney(journey)
    await until(database, `SELECT FROM deliveries`)
    const { rows } = await database.admin.query<{ id: string }>('SELECT id FROM deliveries')
    const id = String(rows[0]?.id)
    await database.admin.query(
      `INSERT INTO received_events (event_id, type, secret_index, status) VALUES ($1, 'x', 0, 'ignored')`,
      [id],
    )
    t.match(await run(t, journey, id), {
      status: 0,
      output: `${id}: delivery, billing-event`,
      told: /several things: delivery, billing-event/,
    })
    const trace = tracer(t, journey)
    t.strictSame((await trace(id, '--as', 'billing-event')).kinds, ['billing-event'])
    t.strictSame((await trace(id, '--as', 'delivery')).kinds, ['delivery'])
    const unknown = [crypto.randomUUID(), 'evt_none', 'msg_none', `'; --`, 'x'.repeat(9_000), '']
    for (const id of unknown) {
      const { status, output, told } = await run(t, journey, id)
      t.match(
        { status, output, told },
        { status: 1, output: '', told: /^gatehouse: Nothing is known/ },
      )
      t.equal(told.trim().split('\n').length, 1)
    }
  },
)

async function outgoing({ database }: Journey, cause: string) {
  const { rows } = await database.admin.query<{ event_id: string; delivery_id: string }>(
    `SELECT event_id, d.id AS delivery_id FROM outbound_events e
     JOIN deliveries d ON d.tenant_id = e.tenant_id AND d.event_id = e.id WHERE e.cause = $1`,
    [cause],
  )
  const [row] = rows
  if (row === undefined) throw new Error('no event has this cause')
  return row
}

type Shown = { kinds: string[]; entries: { at: string; kind: string; facts: Line }[] }

const tracer =
  (t: Parameters<typeof runProgram>[0], journey: Journey) =>
  async (...words: string[]) => {
    const { status, output } = await run(t, journey, ...words, '--json')
    return { status, ...(JSON.parse(output) as Shown) }
  }

async function run(t: Parameters<typeof runProgram>[0], { database }: Journey, ...words: string[]) {
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
  }
  const program = await runProgram(t, ['trace', ...words], env)
  return { status: await program.ended, output: program.results(), told: program.messages() }
}
