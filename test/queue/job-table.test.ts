import { glob, readFile } from 'node:fs/promises'
import t from 'tap'
import { orderedId } from '#src/crypto/hash.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import {
  isJobActive,
  isTimely,
  jobCompletion,
  jobInsert,
  lookAtJobs,
  measureJobs,
  openJobs,
  postponeJob,
  requireOne,
} from '#src/queue/job-table.ts'
import { type Jobs, queueNames } from '#src/queue/queue.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'

const name = 'billing-replay'

t.test(
  'one file knows the tables of pg-boss; others name their privileges and their place on a cluster',
  async (t) => {
    const found: string[] = []
    for await (const path of glob('{src,plugins,routes}/**/*.ts')) {
      const text = await readFile(path, 'utf8')
      if (/\bpgboss\./.test(text)) found.push(path)
      t.notMatch(text, /\bfromPrisma\b/, path)
    }
    t.strictSame(found.toSorted(), [
      'src/queue/job-table.ts',
      'src/schema/citus/verify.ts',
      'src/schema/tables.ts',
    ])
    for await (const path of glob('{src,prisma}/**/*.{ts,sql}')) {
      if (path === 'src/queue/job-table.ts') continue
      t.notMatch(await readFile(path, 'utf8'), /INSERT INTO\s+"?pgboss/i, path)
    }
  },
)

t.test(
  'a job that a statement inserts is the one that pg-boss sends, in every queue',
  async (t) => {
    const database = await createDatabase(t)
    const systemDb = openSystemDatabase(database.url, 1, patient)
    t.teardown(() => systemDb.close())
    const queue = await startQueue(t, database, 'worker')
    const groups = ['a', 'b', 'c']
    const data = `jsonb_build_object('a', 1)`
    const columns = {
      ...{ id: 'id', data, priority: 'length(key)', groupId: 'key', singletonKey: 'key' },
      startAfter: `interval '1 minute'`,
    }
    for (const name of queueNames as readonly (keyof Jobs)[]) {
      const ids = groups.map(() => orderedId())
      const source = Prisma.sql`unnest(${ids}::uuid[], ${groups}::text[]) AS job (id, key)`
      await systemDb.sql(jobInsert(name, columns)(source))
      const inserted = await rowsOf(name)
      t.strictSame(inserted.map(({ id }) => id).toSorted(), ids.toSorted(), name)
      await database.admin.query('DELETE FROM pgboss.job')
      for (const key of groups) {
        const options = { group: { id: key }, singletonKey: key, priority: 1, startAfter: 60 }
        await queue.send(name, { a: 1 }, options)
      }
      t.strictSame(jobsOf(inserted), jobsOf(await rowsOf(name)), name)
      await database.admin.query('DELETE FROM pgboss.job')

      await systemDb.sql(jobInsert(name, { data })(Prisma.sql`(SELECT 1) AS one`))
      const plain = await rowsOf(name)
      await database.admin.query('DELETE FROM pgboss.job')
      await queue.send(name, { a: 1 })
      t.strictSame(jobsOf(plain), jobsOf(await rowsOf(name)), `${name}, without options`)
      t.equal(plain.length, 1)
      await database.admin.query('DELETE FROM pgboss.job')
    }

    /** Times as distances from the creation. */
    async function rowsOf(name: string): Promise<{ id: string; job: object }[]> {
      const { rows } = await database.admin.query(
        `SELECT id, jsonb_build_object(
         'job', to_jsonb(j) - '{id,created_on,start_after,keep_until}'::text[],
         'waits', round(extract(epoch FROM start_after - created_on)),
         'kept', round(extract(epoch FROM keep_until - created_on))) AS job
       FROM pgboss.job j WHERE name = $1 ORDER BY group_id`,
        [name],
      )
      return rows
    }

    function jobsOf(rows: readonly { job: object }[]): object[] {
      return rows.map(({ job }) => job)
    }
  },
)

t.test('a job is found while it waits and while it is active, and not after its end', async (t) => {
  const database = await createDatabase(t)
  const systemDb = openSystemDatabase(database.workerUrl, 1, patient)
  const queue = await startQueue(t, database, 'worker')
  t.teardown(() => systemDb.close())
  const id = await queue.send(name, { replayId: 'one' }, { group: { id: 'a group' } })
  const look = async () => {
    const rows = await systemDb.sql(openJobs(name))
    const [size] = await measureJobs(systemDb, [name], 10)
    const active = await isJobActive(systemDb, name, 'replayId', 'one')
    return { open: rows, due: size?.due, scheduled: size?.scheduled, active }
  }
  const open = { open: [{ id, group_id: 'a group' }] }
  t.strictSame(await look(), { ...open, due: 1, scheduled: 0, active: false })
  const [job] = await queue.fetch<{ replayId: string }>(name, { includeMetadata: true })
  if (job === undefined) throw new Error('it was not fetched')
  t.strictSame(await look(), { ...open, due: 0, scheduled: 0, active: true })
  t.equal(await isJobActive(systemDb, name, 'replayId', 'another'), false)
  t.equal(await isTimely(systemDb, job, 60), true)
  t.equal(await isTimely(systemDb, { ...job, retryCount: 1 }, 60), false, 'of another try')

  const postpone = (of: typeof job, seconds: number) => postponeJob(systemDb, of, seconds)
  await t.rejects(postpone({ ...job, retryCount: 1 }, 60), { name: 'JobGone' })
  t.strictSame(await look(), { ...open, due: 0, scheduled: 0, active: true }, 'of another try')
  await postpone(job, 60)
  t.strictSame(await look(), { ...open, due: 0, scheduled: 1, active: false })
  await t.rejects(postpone(job, 0), { name: 'JobGone' })
  t.strictSame(await look(), { ...open, due: 0, scheduled: 1, active: false }, 'it is not active')

  await database.admin.query(`UPDATE pgboss.job SET start_after = now() WHERE id = $1`, [id])
  const [again] = await queue.fetch<object>(name, { includeMetadata: true })
  if (again === undefined) throw new Error('it was not fetched again')
  t.equal(again.retryCount, job.retryCount, 'no try is used up')
  requireOne(again, await queue.complete(name, again))
  const twice = await queue.complete(name, again)
  t.throws(() => requireOne(again, twice), { name: 'JobGone' })
  const gone = { open: [], due: 0, scheduled: 0, active: false }
  t.strictSame(await look(), gone)
})

t.test('a statement completes jobs as pg-boss does, and only those of this try', async (t) => {
  const database = await createDatabase(t)
  const systemDb = openSystemDatabase(database.workerUrl, 1, patient)
  t.teardown(() => systemDb.close())
  const queue = await startQueue(t, database, 'worker')
  const start = async () => {
    await queue.send('endpoint-turn', { a: 1 }, { group: { id: 'an endpoint' } })
    const [job] = await queue.fetch<object>('endpoint-turn')
    if (job === undefined) throw new Error('it was not fetched')
    return job
  }
  const complete = (id: string, retryCount: number) =>
    systemDb.sql(
      jobCompletion(
        'endpoint-turn',
        [id],
        Prisma.sql`SELECT ${id}::uuid AS id, ${retryCount}::int AS retry_count`,
      ),
    )
  const rowOf = async (id: string) => {
    const { rows } = await database.admin.query<{ state: string }>(
      `SELECT state, to_jsonb(j) - '{id,state,created_on,start_after,keep_until,started_on,heartbeat_on,completed_on}'::text[] AS rest,
         completed_on > started_on AS ended
       FROM pgboss.job j WHERE id = $1`,
      [id],
    )
    return rows[0]
  }
  const [own, theirs] = [await start(), await start()]
  await complete(own.id, 1)
  t.match(await rowOf(own.id), { state: 'active' }, 'of another try')
  await complete(own.id, 0)
  await queue.complete('endpoint-turn', theirs)
  t.match(await rowOf(own.id), { state: 'completed', ended: true })
  t.strictSame(await rowOf(own.id), await rowOf(theirs.id))
  await queue.send('endpoint-turn', {})
  const [waiting] = (await systemDb.sql<{ id: string }>(openJobs('endpoint-turn'))).map(
    ({ id }) => id,
  )
  await complete(waiting ?? '', 0)
  t.match(await rowOf(waiting ?? ''), { state: 'created' }, 'it was not in progress')
})

t.test(
  'a job whose heartbeat has stopped is found, in queues with groups and without',
  async (t) => {
    const database = await createDatabase(t)
    const queue = await startQueue(t, database, 'worker')
    for (const queueName of ['endpoint-turn', name] as const) {
      const group = queueName === 'endpoint-turn' && { group: { id: 'an endpoint' } }
      await queue.send(queueName, {}, { heartbeatSeconds: 10, ...group })
      await queue.fetch(queueName, {})
    }
    const find = async () => (await lookAtJobs(queue, [], 5_000)).lapsed
    t.strictSame(await find(), [])
    t.equal((await lookAtJobs(queue, [], 5_000)).isActive, true)
    await database.admin.query(`UPDATE pgboss.job SET heartbeat_on = now() - interval '6 s'`)
    const names = (await find()).map((job) => job.name)
    t.strictSame(names.toSorted(), [name, 'endpoint-turn'])
  },
)
