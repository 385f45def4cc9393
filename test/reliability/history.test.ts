import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { createTestPost } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { findAnomalies, type Operation } from '#test/support/models/history.ts'
import { chosenSeed } from '#test/support/models/seeded.ts'

const runs = Number(process.env.HISTORY_RUNS ?? 12)
const seed = chosenSeed()

/** What clients do at once. A post is a list: its body is changed as it was read, or the change fails. */
const work = fc.record({
  clients: fc.array(
    fc.array(
      fc.record({
        process: fc.nat(1),
        post: fc.nat(1),
        kind: fc.constantFrom('append', 'append', 'read'),
        pause: fc.nat(20),
      }),
      { minLength: 3, maxLength: 8 },
    ),
    { minLength: 3, maxLength: 6 },
  ),
  /** After how many turns the connections of the database are cut. */
  cuts: fc.array(fc.nat(200), { maxLength: 3 }),
})
type Work = typeof work extends fc.Arbitrary<infer Value> ? Value : never

async function setUp(t: Test) {
  const database = await createDatabase(t)
  const config = testConfig(database)
  const processes = await Promise.all([0, 1].map(() => buildApp(config, createLogger('silent'))))
  t.teardown(() => Promise.all(processes.map((app) => app.close())))
  return { database, config, processes }
}

type Setting = Awaited<ReturnType<typeof setUp>>

/**
 * Lets the clients work and records what they see.
 * @param careful change a post only as it was read
 */
async function record(setting: Setting, plan: Work, careful: boolean): Promise<Operation[]> {
  const { database, config, processes } = setting
  const user = await createUser(database, { role: 'admin' })
  const { cookie } = await signIn({ config, database }, user)
  const posts = await Promise.all([0, 1].map(() => createTestPost(database, user.tenantId)))
  await database.admin.query(`UPDATE posts SET body = 'list' WHERE tenant_id = $1`, [user.tenantId])
  const history: Operation[] = []
  let done = 0
  let time = 0
  const tick = () => {
    time += 1
    return time
  }
  const clients = plan.clients.map(async (steps, client) => {
    for (const [index, { process, post, kind, pause }] of steps.entries()) {
      for (let turn = 0; turn < pause; turn += 1) await nextTurn()
      const app = processes[process]
      const id = posts[post]
      if (app === undefined) throw new Error('no process')
      const send = (method: 'GET' | 'PATCH', headers: object, payload?: object) =>
        app.inject({
          ...{ method, url: `/posts/${id}`, headers: { cookie, ...headers } },
          ...(payload && { payload }),
        })
      const name = `client ${client}, step ${index}`
      const key = `post ${post}`
      const from = tick()
      const read = await send('GET', {})
      const readAt = tick()
      if (read.statusCode !== 200) continue
      const { body } = read.json<{ body: string }>()
      const seen = [key, body.split(',').slice(1)] as const
      history.push({
        ...{ name: `${name}, read`, from, to: readAt, outcome: 'ok', appends: [], reads: [seen] },
      })
      if (kind === 'read') continue
      const value = `${client}.${index}`
      const match = careful ? { 'if-match': String(read.headers.etag) } : {}
      const before = tick()
      const changed = await send('PATCH', match, { body: `${body},${value}` })
      const outcome =
        changed.statusCode === 200 ? 'ok' : changed.statusCode === 412 ? 'failed' : 'unknown'
      const reads = outcome === 'ok' ? [seen] : []
      history.push({
        ...{ name: `${name}, append`, from: before, to: tick(), outcome, reads },
        appends: [[key, value]],
      })
    }
    done += 1
  })
  const cutter = (async () => {
    for (const turns of plan.cuts) {
      for (let turn = 0; turn < turns && done < clients.length; turn += 1) await nextTurn()
      await database.admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'gatehouse%'
           AND pid <> pg_backend_pid()`,
      )
    }
  })()
  await Promise.all([...clients, cutter])
  const { rows } = await database.admin.query<{ id: string; body: string }>(
    'SELECT id, body FROM posts WHERE tenant_id = $1',
    [user.tenantId],
  )
  const reads = rows.map(
    ({ id, body }) => [`post ${posts.indexOf(Number(id))}`, body.split(',').slice(1)] as const,
  )
  const last = { name: 'at the end', from: tick(), to: tick(), outcome: 'ok' } as const
  return [...history, { ...last, appends: [], reads }]
}

t.test(
  'whatever two processes answer while connections break, one order explains it',
  async (t) => {
    t.comment(`TEST_SEED=${seed} HISTORY_RUNS=${runs}`)
    const setting = await setUp(t)
    const seen = { ok: 0, failed: 0, unknown: 0 }
    await fc.assert(
      fc.asyncProperty(work, async (plan) => {
        const history = await record(setting, plan, true)
        for (const { outcome } of history) seen[outcome] += 1
        const anomalies = findAnomalies(history)
        if (anomalies.length > 0) throw new Error(anomalies.join('\n'))
      }),
      { numRuns: runs, seed, endOnFailure: true },
    )
    t.comment(JSON.stringify(seen))
    t.ok(seen.ok > 100 && seen.failed > 0, 'changes succeed, and collide')
  },
)

t.test('without If-Match writes are lost, and the checker finds them', async (t) => {
  const setting = await setUp(t)
  const found: string[] = []
  for (const plan of fc.sample(work, { numRuns: 5, seed })) {
    found.push(...findAnomalies(await record(setting, { ...plan, cuts: [] }, false)))
  }
  t.match(found.join('\n'), /is lost|is stale|different orders/)
})
