import type pg from 'pg'
import t, { type Test } from 'tap'
import { createRecorder, type RecorderLimits, recorderLimits } from '#src/billing/record.ts'
import { openRecordStore, type RecordStore, type StoreLimits } from '#src/billing/record-store.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { bodyOf, parsed } from './received.ts'

/** Times that a busy machine does not exceed; tests of one limit change that one. */
const patient = {
  ...recorderLimits,
  waitMs: 30_000,
  sendMs: 30_000,
  connectMs: 30_000,
  beginMs: 30_000,
  statementMs: 30_000,
}

t.test('events that arrive during a commit share the next one', async (t) => {
  const { store, database } = await openStore(t)
  const sizes: number[] = []
  const recorder = createRecorder(store, patient, { batch: (events) => sizes.push(events) })
  const first = recorder.record(anEvent('first'), body('first'), 0)
  await new Promise((resolve) => setImmediate(resolve)) // the first commit has begun
  const others = Array.from({ length: 40 }, (_, n) =>
    recorder.record(anEvent(`evt_${n}`), body(`${n}`), 0),
  )
  t.strictSame(new Set(await Promise.all([first, ...others])), new Set(['first']))
  await recorder.close()
  t.strictSame(sizes, [1, 40])
  t.equal(await count(database, 'SELECT FROM received_events'), 41)
  t.equal(await count(database, jobs), 41)
})

t.test('a commit takes no more events and bytes than its limits', async (t) => {
  const { store, database } = await openStore(t)
  const sizes: number[] = []
  const limits = { ...patient, batchEvents: 3, batchBytes: 100 }
  const recorder = createRecorder(store, limits, { batch: (events) => sizes.push(events) })
  const small = Array.from({ length: 4 }, (_, n) => recorder.record(anEvent(`s${n}`), body('x'), 0))
  const large = ['l0', 'l1'].map((id) => recorder.record(anEvent(id), Buffer.alloc(90, 32), 0))
  await Promise.all([...small, ...large])
  await recorder.close()
  t.strictSame(sizes, [3, 2, 1])
  t.equal(await count(database, 'SELECT FROM received_events'), 6)
})

t.test('a bad row is refused alone, without its batch', async (t) => {
  const { store, database } = await openStore(t)
  await database.admin.query(`ALTER TABLE received_events ADD CHECK (type <> 'bad')`)
  const recorder = createRecorder(store, patient)
  const events = Array.from({ length: 16 }, (_, n) => anEvent(`evt_${n}`, n === 5 ? 'bad' : 'x'))
  const results = await Promise.allSettled(
    events.map((event) => recorder.record(event, body(event.id), 0)),
  )
  const refused = results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))
  t.strictSame(refused, [5])
  t.equal(await count(database, 'SELECT FROM received_events'), 15)
  t.equal(await count(database, `SELECT FROM processed_events WHERE event_id = 'evt_5'`), 0)
})

t.test('duplicates in the same and in a later batch make no second job', async (t) => {
  const { store, database } = await openStore(t)
  const recorder = createRecorder(store, patient)
  const record = (text: string) => recorder.record(anEvent('evt_1'), body(text), 0)
  t.strictSame(await Promise.all([record('a'), record('a'), record('b')]), [
    'first',
    'duplicate',
    'duplicate-different-body',
  ])
  t.strictSame(await Promise.all([record('c'), record('a'), record('c')]), [
    'duplicate-different-body',
    'duplicate',
    'duplicate-different-body',
  ])
  const { rows } = await database.admin.query('SELECT body, other_bodies FROM received_events')
  t.same(
    rows,
    [{ body: Buffer.from('a'), other_bodies: 3 }],
    'the first body stays; the others are counted',
  )
  t.equal(await count(database, jobs), 1)
})

t.test('two processes with the same events at once: each event once, no deadlock', async (t) => {
  const { store, database } = await openStore(t)
  const other = await openStore(t, database)
  const recorders = [createRecorder(store, patient), createRecorder(other.store, patient)]
  const ids = Array.from({ length: 60 }, (_, n) => `evt_${n}`)
  const results = await Promise.all(
    recorders.flatMap((recorder, n) =>
      (n === 0 ? ids : ids.toReversed()).map((id) => recorder.record(anEvent(id), body(id), 0)),
    ),
  )
  t.equal(results.filter((one) => one === 'first').length, ids.length)
  t.equal(results.filter((one) => one === 'duplicate').length, ids.length)
  t.equal(await count(database, jobs), ids.length)
})

t.test(
  'an event that cannot be recorded in time is refused, and never recorded later',
  async (t) => {
    const limits = { ...patient, statementMs: 250 }
    const { store, database } = await openStore(t, undefined, limits)
    const recorder = createRecorder(store, patient)
    const holder = await database.admin.connect()
    await holder.query('BEGIN; LOCK TABLE processed_events')
    await t.rejects(recorder.record(anEvent('late'), body('late'), 0), { code: /^(55P03|57014)$/ })
    await holder.query('COMMIT')
    holder.release()
    const next = () => recorder.record(anEvent('next'), body('next'), 0)
    // A busy machine may exceed the short limit once more.
    t.equal(await next().catch(next), 'first', 'recovers by itself')
    t.equal(await count(database, `SELECT FROM processed_events WHERE event_id = 'late'`), 0)
  },
)

t.test('a statement that the server begins too late records nothing', async (t) => {
  const { store, database } = await openStore(t, undefined, { ...patient, beginMs: -1 })
  await t.rejects(createRecorder(store, patient).record(anEvent('late'), body('late'), 0), {
    code: '57014',
  })
  t.equal(await count(database, 'SELECT FROM processed_events'), 0)
  t.equal(await count(database, jobs), 0)
})

t.test('a statement that would be sent too late is not sent', async (t) => {
  const { store, database } = await openStore(t)
  const recorder = createRecorder(store, { ...patient, sendMs: -1 })
  await t.rejects(recorder.record(anEvent('late'), body('late'), 0), { code: '57014' })
  t.equal(await count(database, 'SELECT FROM processed_events'), 0)
})

t.test(
  'a recorder with too many waiting events refuses new ones and records the others',
  async (t) => {
    const cases: [string, Partial<RecorderLimits>][] = [
      ['too many events wait', { waitingEvents: 3 }],
      ['too many bytes wait', { waitingBytes: 8 }],
    ]
    for (const [name, limits] of cases) {
      const { store, database } = await openStore(t)
      const recorder = createRecorder(store, { ...patient, ...limits })
      const results = await Promise.allSettled(
        Array.from({ length: 9 }, (_, n) => recorder.record(anEvent(`evt_${n}`), body('ab'), 0)),
      )
      const taken = results.filter(({ status }) => status === 'fulfilled').length
      const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      t.ok(taken > 0 && refused.length > 0, name)
      for (const reason of refused) t.match(reason, { code: 'unavailable', retryAfterSeconds: 1 })
      t.equal(await count(database, 'SELECT FROM received_events'), taken, name)
    }
  },
)

t.test('an event that has waited too long is refused', async (t) => {
  const { store, database } = await openStore(t)
  const recorder = createRecorder(store, { ...patient, waitMs: -1 })
  await t.rejects(recorder.record(anEvent('late'), body('late'), 0), { code: 'unavailable' })
  t.equal(await count(database, 'SELECT FROM received_events'), 0)
})

t.test('close resolves when every waiting event is recorded or refused', async (t) => {
  const { store } = await openStore(t)
  const recorder = createRecorder(store, patient)
  const answers: string[] = []
  for (const id of ['a', 'b', 'c']) {
    void recorder.record(anEvent(id), body(id), 0).then((recorded) => answers.push(recorded))
  }
  t.equal(recorder.waiting().events, 3)
  await recorder.close()
  t.strictSame(answers, ['first', 'first', 'first'])
  t.strictSame(recorder.waiting(), { events: 0, seconds: 0 })
})

t.test('kinds that are not processed are recorded without a job', async (t) => {
  const { store, database } = await openStore(t)
  const recorder = createRecorder(store, patient)
  t.equal(await recorder.record(anEvent('a', 'invoice.voided'), body('a'), 1), 'ignored')
  t.equal(await count(database, jobs), 0)
  const { rows } = await database.admin.query('SELECT status, secret_index FROM received_events')
  t.same(rows, [{ status: 'ignored', secret_index: 1 }])
})

const jobs = `SELECT FROM pgboss.job WHERE name = 'billing-event'`

function anEvent(id: string, type = 'charge.succeeded') {
  return parsed(bodyOf({ id, type, object: {} }))
}

function body(text: string): Buffer {
  return Buffer.from(text)
}

async function openStore(
  t: Test,
  given?: TestDatabase,
  limits: StoreLimits = patient,
): Promise<{ store: RecordStore; database: TestDatabase }> {
  const database = given ?? (await createDatabase(t))
  const store = openRecordStore(database.url, limits)
  t.teardown(() => store.close())
  return { store, database }
}

async function count(database: TestDatabase, sql: string): Promise<number> {
  const result: pg.QueryResult = await database.admin.query(sql)
  return result.rowCount ?? 0
}
