import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import { checkLedger } from '#src/ledger/ledger.ts'
import { enableEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { startReplay } from '#src/webhooks/history/replays.ts'
import { patient } from '#test/support/database/open.ts'
import { chosenSeed } from '#test/support/models/seeded.ts'
import {
  createDeliveryWorker,
  fail,
  retrySeconds,
  succeed,
} from '#test/support/receiver/delivery-worker.ts'

const runs = Number(process.env.MODEL_RUNS ?? 12)
const seed = chosenSeed()

const disableAfterSeconds = 5 * 86_400
const disableAfterExhausted = 10
/** So many, less the failures, and an endpoint has recovered although deliveries still wait. */
const recoveredAfterSuccesses = 5
/** What was published longer before the endpoint was enabled does not wait for its recovery. */
const waitingSeconds = 86_400

type Delivery = {
  id: string
  status: 'pending' | 'succeeded' | 'exhausted'
  series: number
  attempts: number
  /** In seconds of the model, like all times here. */
  published: number
  /** Of the next attempt. */
  due: number
  /** Of the latest series. */
  finished: number
}
type Model = {
  now: number
  healthy: boolean
  requests: number
  deliveries: Delivery[]
  endpoint: {
    status: 'active' | 'failing' | 'disabled'
    since: number
    exhausted: number
    enabled: number
    /** Successes of a recovery, less its failures; 0 unless it recovers. */
    recovery: number
  }
}
type World = Awaited<ReturnType<typeof createDeliveryWorker>>
type Step = fc.AsyncCommand<Model, World>

const command = (
  label: string,
  run: (model: Model, world: World) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): Step => ({
  check,
  async run(model, world) {
    await run(model, world)
    await compare(model, world)
  },
  toString: () => label,
})

async function publish(model: Model, { outbox }: World, events: number): Promise<void> {
  for (let n = 0; n < events; n += 1) {
    const eventId = await outbox.publish()
    const { rows } = await outbox.database.admin.query<{ id: string }>(
      'SELECT id FROM deliveries WHERE event_id = $1',
      [eventId],
    )
    const status = model.endpoint.status === 'disabled' ? 'exhausted' : 'pending'
    const { now } = model
    const times = { published: now, due: now, finished: now }
    model.deliveries.push({ id: rows[0]?.id ?? '', status, series: 0, attempts: 0, ...times })
  }
}

const publishes = (events: number) =>
  command(`publish ${events}`, (model, world) => publish(model, world, events))

function answer(model: Model, { receiver }: World, healthy: boolean): void {
  receiver.respond(healthy ? succeed : fail)
  model.healthy = healthy
}

const answers = (healthy: boolean) =>
  command(`the endpoint ${healthy ? 'works' : 'fails'}`, async (model, world) =>
    answer(model, world, healthy),
  )

const waits = (seconds: number) =>
  command(`wait ${seconds} s`, (model, world) => wait(model, world, seconds))

/** All jobs that are due. The state of the endpoint is read for all of them before the first attempt. */
async function work(model: Model, { workDue }: World, worker: 0 | 1): Promise<void> {
  await workDue(worker)
  const { endpoint, healthy, now } = model
  const isDisabled = endpoint.status === 'disabled'
  const due = model.deliveries.filter((one) => one.status === 'pending' && one.due <= now)
  for (const delivery of due) {
    if (isDisabled) {
      Object.assign(delivery, { status: 'exhausted', finished: now })
      continue
    }
    model.requests += 1
    delivery.attempts += 1
    const wait = retrySeconds[delivery.attempts]
    if (healthy) delivery.status = 'succeeded'
    else if (wait === undefined) delivery.status = 'exhausted'
    else delivery.due = now + wait
    if (delivery.status !== 'pending') delivery.finished = now
    noteOutcome(model, delivery.status === 'pending' ? 'failed' : delivery.status)
  }
}

type Outcome = 'succeeded' | 'failed' | 'exhausted'

function noteOutcome(model: Model, outcome: Outcome): void {
  const { endpoint, now } = model
  if (endpoint.status === 'disabled') return
  if (outcome === 'succeeded') {
    noteSuccess(model)
    return
  }
  if (outcome === 'failed') {
    if (endpoint.recovery === 0) return
    endpoint.recovery -= 1
    if (endpoint.recovery > 0) return
  }
  if (endpoint.status === 'active') Object.assign(endpoint, { ...failing, since: now })
  if (outcome === 'failed') return
  endpoint.exhausted += 1
  const isOver =
    now - endpoint.since >= disableAfterSeconds && endpoint.exhausted >= disableAfterExhausted
  if (isOver) endpoint.status = 'disabled'
}

const failing = { status: 'failing', exhausted: 0, recovery: 0 } as const

function noteSuccess({ endpoint, deliveries }: Model): void {
  if (endpoint.status === 'active' && endpoint.recovery === 0) return
  endpoint.status = 'active'
  const isWaiting = deliveries.some(
    ({ status, finished, published }) =>
      status === 'exhausted' &&
      finished > endpoint.enabled &&
      published >= endpoint.enabled - waitingSeconds,
  )
  const isRecovered = !isWaiting || endpoint.recovery + 1 === recoveredAfterSuccesses
  endpoint.recovery = isRecovered ? 0 : endpoint.recovery + 1
}

const works = (worker: 0 | 1) =>
  command(`work at ${worker}`, (model, world) => work(model, world, worker))

async function wait(model: Model, { moveTo }: World, seconds: number): Promise<void> {
  await moveTo(seconds)
  model.now += seconds
}

async function workThrough(model: Model, world: World, worker: 0 | 1): Promise<void> {
  for (const seconds of retrySeconds) {
    await wait(model, world, seconds)
    await work(model, world, worker)
  }
}

/** Without this few deliveries are ever exhausted. */
const worksThroughSchedule = (worker: 0 | 1) =>
  command(`work through the schedule at ${worker}`, (model, world) =>
    workThrough(model, world, worker),
  )

/** Without this no endpoint is ever disabled, or nearly. */
const passesDays = (worker: 0 | 1, seconds: number, events: number) =>
  command(`${events} failures, and one after ${seconds} s, at ${worker}`, async (model, world) => {
    await enable(model, world)
    answer(model, world, true)
    await publish(model, world, 1)
    await work(model, world, worker)
    answer(model, world, false)
    await publish(model, world, events)
    await workThrough(model, world, worker)
    await wait(model, world, seconds)
    await publish(model, world, 1)
    await workThrough(model, world, worker)
  })

const replays = (index: number) =>
  command(
    `replay delivery ${index}`,
    async (model, { outbox, clock }) => {
      const delivery = model.deliveries[index % model.deliveries.length]
      if (delivery === undefined) return
      const { db, entry, tenant } = outbox
      const started = await db.write(entry, (tx) =>
        startReplay(tx, tenant, [delivery.id], clock.now()),
      )
      const isUntouched = delivery.status === 'pending' && delivery.attempts === 0
      const starts = model.endpoint.status !== 'disabled' && !isUntouched
      assert.equal(started.length, starts ? 1 : 0)
      if (!starts) return
      Object.assign(delivery, { status: 'pending', attempts: 0, due: model.now })
      delivery.series += 1
    },
    ({ deliveries }) => deliveries.length > 0,
  )

async function enable(model: Model, { outbox, clock, endpointId }: World): Promise<void> {
  const { db, entry, tenant } = outbox
  const by = { ...tenant, clientInfo: { ip: null, userAgent: null, requestId: null } }
  await db.write(entry, (tx) => enableEndpoint(tx, by, endpointId, clock.now()))
  if (model.endpoint.status === 'active') return
  Object.assign(model.endpoint, { status: 'active', enabled: model.now, recovery: 0 })
}

const enables = command('enable the endpoint', enable)

async function compare(model: Model, { outbox, receiver }: World): Promise<void> {
  const { rows } = await outbox.database.admin.query<Delivery>(
    'SELECT id, status, series, attempts FROM deliveries ORDER BY id',
  )
  const expected = model.deliveries.map(({ published, due, finished, ...delivery }) => delivery)
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  )
  const endpoints = await outbox.database.admin.query<{ status: string; recovery: number }>(
    'SELECT status, recovery_step AS recovery FROM endpoint_states',
  )
  const { status, recovery } = model.endpoint
  assert.deepEqual({ ...endpoints.rows[0] }, { status, recovery })
  assert.equal(receiver.requests.length, model.requests)
}

const worker = fc.constantFrom(0 as const, 1 as const)
const anyCommands = fc.commands(
  [
    fc.integer({ min: 1, max: 6 }).map(publishes),
    fc.constantFrom(false, false, true).map(answers),
    fc.constantFrom(...retrySeconds.slice(1), 4, 299, disableAfterSeconds).map(waits),
    worker.map(works),
    worker.map(works),
    worker.map(worksThroughSchedule),
    fc
      .tuple(
        worker,
        fc.constantFrom(disableAfterSeconds - 3_935, disableAfterSeconds - 3_936),
        fc.constantFrom(8, 9, 10),
      )
      .map((args) => passesDays(...args)),
    fc.nat(50).map(replays),
    fc.constant(enables),
  ],
  { maxCommands: 24, size: 'max' },
)

t.test('deliveries and their endpoint are as in the model, after any commands', async (t) => {
  t.comment(`TEST_SEED=${seed} MODEL_RUNS=${runs}`)
  const world: World = await createDeliveryWorker(t, succeed)
  const { database } = world.outbox
  const systemDb = openSystemDatabase(database.workerUrl, 1, patient)
  t.teardown(() => systemDb.close())
  const seen = { active: 0, failing: 0, disabled: 0, exhausted: 0 }
  await fc.assert(
    fc.asyncProperty(anyCommands, async (commands) => {
      await world.reset()
      const model: Model = {
        ...{ now: 0, healthy: true, requests: world.receiver.requests.length, deliveries: [] },
        endpoint: { status: 'active', since: 0, exhausted: 0, enabled: 0, recovery: 0 },
      }
      await fc.asyncModelRun(() => ({ model, real: world }), commands)
      seen[model.endpoint.status] += 1
      seen.exhausted += model.deliveries.filter(({ status }) => status === 'exhausted').length
      assert.deepEqual(await withoutJob(systemDb), [])
    }),
    { numRuns: runs, seed },
  )
  t.comment(JSON.stringify(seen))
  t.ok(seen.exhausted > 0, 'deliveries were exhausted')
})

/** What waits for nothing, also of days to which only the clock of the test has moved. */
async function withoutJob(systemDb: SystemDatabase): Promise<string[]> {
  const nextYear = new Date(Date.now() + 366 * 86_400_000)
  const { findings } = await checkLedger(systemDb, [{ from: new Date(0), to: nextYear }], nextYear)
  return findings.map(({ kind, deliveryId }) => `${kind} ${deliveryId}`)
}
