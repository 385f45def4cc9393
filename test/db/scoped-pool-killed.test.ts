import { setImmediate as immediately } from 'node:timers/promises'
import t from 'tap'
import { openDatabase, type Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { isDatabaseUnavailable } from '#src/http/problems.ts'
import {
  createDatabase,
  createTestInvoice,
  createUser,
  type TestUser,
} from '#test/support/helper.ts'
import { randomOf } from '#test/support/seeded.ts'

const rounds = 60
const atOnce = 16
const seed = Number(process.env.POOL_SEED ?? Math.floor(Math.random() * 2 ** 31))

t.test(
  'backends killed at random: no foreign row, no lost write, no dirty connection',
  async (t) => {
    t.comment(`POOL_SEED=${seed}`)
    const random = randomOf(seed)
    const database = await createDatabase(t)
    const users = await Promise.all(Array.from({ length: 6 }, () => createUser(database)))
    for (const { tenantId } of users) await createTestInvoice(database, tenantId)
    const db = openDatabase(database.url, 6)
    const systemDb = openSystemDatabase(database.url, 3)
    t.teardown(() => Promise.all([db.close(), systemDb.close()]))
    const seen = { done: 0, killed: 0, foreign: 0, dirty: 0, other: 0 }
    const written: string[] = []

    async function work(index: number): Promise<void> {
      const user = users[random(users.length)]
      if (user === undefined) throw new Error('no user')
      const title = `post ${index}`
      const kind = random(4)
      if (kind === 0) await db.read(user, (tx) => look(tx, user))
      if (kind === 1) {
        await db.write(user, async (tx) => {
          await look(tx, user)
          const { tenantId, userId: authorId } = user
          await tx.post.create({ data: { tenantId, authorId, title, body: '' } })
        })
        written.push(title)
      }
      if (kind === 2) {
        const { rows } = await systemDb.transaction({ statementTimeoutMs: 500 }, (tx) =>
          tx.query<{ id: string }>({
            name: 'find-user',
            text: 'SELECT id FROM users WHERE id = $1',
            values: [user.userId],
          }),
        )
        if (Number(rows[0]?.id) !== user.userId) seen.foreign += 1
      }
      if (kind === 3) {
        const rows = await db.readRows<{ tenant_id: string }>(user, everyInvoice)
        if (rows.length === 0) seen.foreign += 1
        seen.foreign += rows.filter((row) => row.tenant_id !== user.tenantId).length
      }
    }

    /** Without WHERE: only row-level security limits the rows. */
    async function look(tx: Tx, { tenantId, userId }: TestUser): Promise<void> {
      const [state] = await tx.$queryRawUnsafe<State[]>(transactionState)
      const clean = state?.fresh && state.tenant === tenantId && state.user === String(userId)
      if (!clean) seen.dirty += 1
      const rows = await tx.invoice.findMany()
      seen.foreign += rows.filter((row) => row.tenantId !== tenantId).length
      if (rows.length === 0) seen.foreign += 1
    }

    for (let round = 0; round < rounds; round += 1) {
      const running = Promise.all(
        Array.from({ length: atOnce }, (_, index) =>
          work(round * atOnce + index).then(
            () => (seen.done += 1),
            (error: unknown) => {
              if (isDatabaseUnavailable(error)) seen.killed += 1
              else {
                seen.other += 1
                t.comment(String(error))
              }
            },
          ),
        ),
      )
      for (let turns = random(300); turns > 0; turns -= 1) await immediately()
      await database.admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND usename = 'test_app' AND pid % 3 = $1`,
        [random(3)],
      )
      await running
    }
    t.comment(JSON.stringify(seen))
    t.match(seen, { foreign: 0, dirty: 0, other: 0 }, `POOL_SEED=${seed}`)
    t.ok(seen.killed > 0, 'some transactions were killed')
    t.ok(seen.done > seen.killed, 'most were not')
    const { rows } = await database.admin.query<{ title: string; own: boolean }>(
      `SELECT title, tenant_id = (SELECT tenant_id FROM memberships WHERE user_id = author_id) AS own
     FROM posts`,
    )
    const kept = new Set(rows.map(({ title }) => title))
    t.strictSame(
      written.filter((title) => !kept.has(title)),
      [],
      'every committed row exists',
    )
    t.equal(kept.size, rows.length, 'once')
    t.ok(
      rows.every(({ own }) => own),
      'in its own tenant',
    )
  },
)

const everyInvoice = Prisma.sql`SELECT tenant_id FROM invoices`

type State = { fresh: boolean; tenant: string; user: string }

const transactionState = `SELECT pg_current_xact_id_if_assigned() IS NULL AS fresh,
  current_setting('app.tenant_id', true) AS tenant, current_setting('app.user_id', true) AS "user"`
