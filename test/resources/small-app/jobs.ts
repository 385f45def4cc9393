import t, { type Test } from 'tap'
import Type from 'typebox'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig, testSettings } from '#dev/testing/settings.ts'
import { readConfig } from '#src/config/config.ts'
import { openDatabase } from '#src/db/database.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { enqueue } from '#src/queue/app/enqueue.ts'
import { workSchedules } from '#src/queue/app/schedule.ts'
import { workAppJobs } from '#src/queue/app/worker.ts'
import { measureQueues } from '#src/queue/backlog.ts'
import { startDueJobs } from '#src/queue/due-jobs.ts'
import { type AnyJob, defineJob } from '#src/resources/define-job.ts'
import { defineSettings } from '#src/resources/define-settings.ts'
import { publishIn } from '#src/rows/own-events.ts'
import { startWorker } from '#src/worker.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { makeJobsDue } from '#test/support/database/due-jobs.ts'
import { openPatiently, patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'
import { addTask, closeTasks } from '#test/support/small-app/jobs.ts'

/* The jobs of the small app. */

const jobsOf = async ({ admin }: TestDatabase, name = 'app-job') =>
  (await admin.query('SELECT data, state::text FROM pgboss.job WHERE name = $1', [name])).rows
const titlesOf = async ({ admin }: TestDatabase, tenantId: string): Promise<string[]> =>
  (
    await admin.query('SELECT title FROM tasks WHERE tenant_id = $1 ORDER BY id', [tenantId])
  ).rows.map(({ title }) => title)

/** Two tenants, and a transaction of the web role in the first. */
async function world(t: Test) {
  const database = await createDatabase(t)
  const [ours, theirs] = [await createUser(database), await createUser(database)]
  const enter = await allowScopes(database)
  const db = openPatiently(t, database.url, 2)
  return { database, ours, theirs, db, enter, within: enter(ours) }
}

/** A worker of these jobs, with what it logs. */
async function work(
  t: Test,
  database: TestDatabase,
  jobs: readonly AnyJob[],
  { now = () => new Date(), transactionMs = 30_000, settings = {} } = {},
) {
  const lines: Record<string, unknown>[] = []
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const queue = await startQueue(t, database, 'worker')
  const due = await startDueJobs({ queue, listens: true, logger })
  const db = openDatabase(database.workerUrl, 4, { ...patient, transactionMs })
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  const metrics = createMetrics()
  const deps = { queue, due, logger, clock: { now } }
  const parts = [
    await workAppJobs(jobs, { ...deps, db, settings, publishIn, metrics: metrics.queues }),
    await workSchedules(jobs, { ...deps, systemDb }),
  ]
  t.teardown(async () => {
    await Promise.all([due, ...parts].map((part) => part.stop()))
    await Promise.all([db.close(), systemDb.close()])
  })
  const messages = () => lines.map(({ msg }) => msg)
  return { lines, messages, metrics }
}

t.test('a job exists if its transaction commits, and runs in its tenant alone', async (t) => {
  const { database, ours, theirs, db, within } = await world(t)
  const add = (title: string, fails: boolean) =>
    db.write(within, async (tx) => {
      await enqueue(tx, addTask, { title })
      if (fails) throw new Error('the change failed')
    })
  await t.rejects(add('never', true), /the change failed/)
  t.strictSame(await jobsOf(database), [])
  await add('once', false)
  const worker = await startWorker(testConfig(database), createLogger('silent'))
  t.teardown(() => worker.stop())
  await untilTrue(async () => (await titlesOf(database, ours.tenantId)).length > 0)
  t.strictSame(await titlesOf(database, ours.tenantId), ['once'])
  t.strictSame(await titlesOf(database, theirs.tenantId), [])
})

t.test('a job of one tenant neither sees nor writes rows of another', async (t) => {
  const { database, ours, theirs, db, within } = await world(t)
  await database.admin.query(
    `INSERT INTO tasks (tenant_id, title, status) VALUES ($1, 'theirs', 'open'), ($2, 'ours', 'open')`,
    [theirs.tenantId, ours.tenantId],
  )
  const seen: object[][] = []
  const prying = {
    ...addTask,
    async run({ tx, tenant }: Parameters<typeof addTask.run>[0]) {
      seen.push(
        await tx.sql`SELECT title FROM tasks`,
        await tx.sql`UPDATE tasks SET title = 'taken' WHERE tenant_id <> ${tenant.id}::uuid RETURNING id`,
        await tx.sql`DELETE FROM tasks WHERE tenant_id = ${theirs.tenantId}::uuid RETURNING id`,
      )
      await tx.sql`INSERT INTO tasks (tenant_id, title, status) VALUES (${theirs.tenantId}::uuid, 'planted', 'open')`
    },
  }
  const { lines } = await work(t, database, [prying])
  await db.write(within, (tx) => enqueue(tx, addTask, { title: theirs.tenantId }))
  await untilTrue(() => lines.some(({ msg }) => String(msg).startsWith('job of the app failed')))
  t.strictSame(seen, [[{ title: 'ours' }], [], []])
  t.match(JSON.stringify(lines), /row-level security/, 'what it inserts is refused')
  t.strictSame(await titlesOf(database, theirs.tenantId), ['theirs'])
})

t.test('a job adds another in its own commit, once, and each line names both', async (t) => {
  const { database, ours, db, within } = await world(t)
  const { lines } = await work(t, database, [addTask])
  await db.write(within, (tx) => enqueue(tx, addTask, { title: 'one', again: 'two' }))
  await untilTrue(async () => (await titlesOf(database, ours.tenantId)).length === 2)
  t.strictSame(await titlesOf(database, ours.tenantId), ['one', 'two'])
  await untilTrue(() => lines.filter(({ msg }) => msg === 'job of the app done').length === 2)
  const own = lines.filter(({ msg }) => msg === 'task added')
  const facts = { job: 'add-task', tenantId: ours.tenantId, length: 3 }
  t.match(own, [facts, facts])
})

t.test('a job has the settings of the app', async (t) => {
  const { database, db, within } = await world(t)
  const own = defineSettings({ GREETING: Type.String({ description: 'Of mails' }) })
  const { settings } = readConfig({ ...testSettings(database), GREETING: 'Dear' }, own.schema)
  const greetings: string[] = []
  const greeting = {
    ...addTask,
    async run(work: Parameters<typeof addTask.run>[0]) {
      greetings.push(own.of(work).GREETING)
    },
  }
  await work(t, database, [greeting], { settings })
  await db.write(within, (tx) => enqueue(tx, addTask, { title: 'x' }))
  await untilTrue(() => greetings.length > 0)
  t.strictSame(greetings, ['Dear'])
})

t.test('a job that throws or never ends is tried again, and then dead', async (t) => {
  const { database, ours, db, within } = await world(t)
  let runs = 0
  const failing = {
    ...addTask,
    async run({ tx, tenant }: Parameters<typeof addTask.run>[0]) {
      runs += 1
      await tx.sql`INSERT INTO tasks (tenant_id, title, status) VALUES (${tenant.id}::uuid, 'x', 'open')`
      if (runs > 1) throw new Error('the mail server is away')
      await new Promise(() => {})
    },
  }
  const { lines, messages, metrics } = await work(t, database, [failing], { transactionMs: 500 })
  await db.write(within, (tx) => enqueue(tx, addTask, { title: 'x' }))
  await untilTrue(() => messages().includes('job of the app failed'))
  t.match(
    lines.find(({ msg }) => msg === 'job of the app failed'),
    { job: 'add-task', err: { message: /took too long/ } },
  )
  await untilTrue(async () => {
    await makeJobsDue(database, `name = 'app-job' AND state = 'retry'`)
    return messages().includes('job of the app is dead')
  })
  await until(database, `SELECT FROM pgboss.job WHERE name = 'app-job-dead'`)
  t.equal(runs, 2, 'the job says how often')
  t.strictSame(await titlesOf(database, ours.tenantId), [], 'nothing of it is left')
  const systemDb = openSystemDatabase(database.url, 1, patient)
  t.teardown(() => systemDb.close())
  await measureQueues(systemDb, metrics.queues)
  const text = await metrics.registry.metrics()
  t.match(text, 'gatehouse_app_jobs{job="add-task",state="dead"} 1')
  t.match(text, 'gatehouse_app_jobs{job="close-tasks",state="scheduled"} 0')
  t.match(text, 'gatehouse_app_job_runs_total{job="add-task",outcome="dead"} 1')
})

t.test('an operator sees the jobs, and how many are dead', async (t) => {
  const test = await build(t, { OPERATORS: 'demo:olga' })
  const user = await createUser(test.database)
  await addIdentity(test, user.userId, 'olga')
  const { cookie } = await signIn(test, user)
  await test.database.admin.query(
    `INSERT INTO pgboss.job (name, data, policy) VALUES
     ('app-job-dead', '{"job": "add-task"}', NULL), ('app-job', '{"job": "close-tasks"}', NULL)`,
  )
  const { body } = await test.app.inject({ url: '/app/operations/work', headers: { cookie } })
  t.match(body, /<code>add-task<\/code>.*?When enqueued.*?data-label="Dead">.*?>1</s)
  t.match(body, /<code>close-tasks<\/code>.*?<code>0 7 \* \* \*<\/code>.*?data-label="Due">1</s)
})

t.test('a schedule adds one job for each open tenant, whatever workers there are', async (t) => {
  const { database, ours, theirs } = await world(t)
  const closed = await createUser(database)
  const { admin } = database
  await admin.query('UPDATE tenants SET closed_at = now() WHERE id = $1', [closed.tenantId])
  for (const { tenantId } of [ours, theirs, closed]) {
    await admin.query(`INSERT INTO tasks (tenant_id, title, status) VALUES ($1, 'open', 'open')`, [
      tenantId,
    ])
  }
  // More than a page, one of whose jobs runs at a time.
  await admin.query(
    `INSERT INTO tenants (id, name) SELECT gen_random_uuid(), 'x' FROM generate_series(1, 600)`,
  )
  const now = () => new Date(Date.now() - 86_400_000) // so that the next time of the schedule has come
  await Promise.all([
    work(t, database, [closeTasks], { now }),
    work(t, database, [closeTasks], { now }),
  ])
  const added = async () => {
    const { rows } = await admin.query(
      `SELECT count(*)::int AS jobs, count(DISTINCT data->>'tenantId')::int AS tenants
       FROM pgboss.job WHERE name = 'app-job'`,
    )
    return rows[0]
  }
  const open = await admin.query('SELECT FROM tenants WHERE closed_at IS NULL')
  await untilTrue(async () => (await added()).jobs >= Number(open.rowCount))
  t.strictSame(await added(), { jobs: open.rowCount, tenants: open.rowCount })
  await untilTrue(async () => (await titlesOf(database, theirs.tenantId))[0] !== 'open')
  await untilTrue(async () => (await titlesOf(database, ours.tenantId))[0] !== 'open')
  t.strictSame(await titlesOf(database, ours.tenantId), ['closed: open'], 'once')
  t.strictSame(await titlesOf(database, closed.tenantId), ['open'])
  await until(
    database,
    `SELECT FROM pgboss.job WHERE name = 'app-schedule' AND state = 'completed' AND EXISTS (
       SELECT FROM pgboss.job n WHERE n.name = 'app-schedule' AND n.state < 'active')`,
  )
})

t.test('a schedule that was changed is not followed any more', async (t) => {
  const { database } = await world(t)
  await work(t, database, [closeTasks])
  const queue = await startQueue(t, database, 'worker')
  const at = new Date().toISOString()
  const after = '00000000-0000-0000-0000-000000000000'
  await queue.send('app-schedule', { job: 'close-tasks', schedule: '0 5 * * *', at, after })
  await until(
    database,
    `SELECT FROM pgboss.job WHERE name = 'app-schedule' AND data->>'schedule' = '0 5 * * *'
     AND state = 'completed'`,
  )
  t.strictSame(await jobsOf(database), [])
})

t.test('what cannot be a job of the app is refused when it is enqueued', async (t) => {
  const { db, within, enter, ours, database } = await world(t)
  const unknown = defineJob({ name: 'unknown', run: async () => {} })
  await t.rejects(
    db.write(within, (tx) => enqueue(tx, unknown, null)),
    /The app does not list the job unknown: add it to jobs in defineApp\./,
  )
  await t.rejects(
    db.write(within, (tx) => enqueue(tx, addTask, { title: '' })),
    /The input of the job add-task /,
  )
  await t.rejects(
    db.write(within, (tx) => enqueue(tx, addTask, { title: 'x'.repeat(9_000) })),
    /has more than 8192 bytes/,
  )
  await t.rejects(
    db.write(enter({ userId: ours.userId }), (tx) => enqueue(tx, addTask, { title: 'x' })),
    /The job add-task needs a tenant, and there is none\./,
  )
  t.strictSame(await jobsOf(database), [])
})
