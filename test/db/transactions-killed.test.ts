import { setImmediate as immediately } from 'node:timers/promises'
import t from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { enterCredential } from '#src/auth/sessions/enter.ts'
import { openDatabase, type Tx } from '#src/db/database.ts'
import { type Entry, withoutScope } from '#src/db/entry.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { rowsOf } from '#test/support/database/rows-of.ts'
import { chosenSeed, randomOf } from '#test/support/models/seeded.ts'
import { addSession, idleSeconds } from './credentials.ts'

const rules = { idleSeconds, operators: new Set<string>(), onStale() {} }
const rounds = 60
const atOnce = 16
const seed = chosenSeed()

t.test(
  'backends killed at random: no foreign row, no lost write, no dirty connection',
  async (t) => {
    t.comment(`TEST_SEED=${seed}`)
    const random = randomOf(seed)
    const database = await createDatabase(t)
    const users = await Promise.all(Array.from({ length: 6 }, () => createUser(database)))
    for (const { tenantId } of users) await createTestInvoice(database, tenantId)
    const entries = new Map<TestUser, Entry<unknown>>()
    for (const user of users) {
      const hash = await addSession(database, user)
      entries.set(user, enterCredential({ kind: 'session', hash }, rules))
    }
    const entryOf = (user: TestUser) => entries.get(user) ?? withoutScope
    const transactions = new Set<string>()
    const db = openDatabase(database.url, 6, patient)
    const systemDb = openSystemDatabase(database.url, 3, patient)
    t.teardown(() => Promise.all([db.close(), systemDb.close()]))
    const seen = { done: 0, killed: 0, foreign: 0, dirty: 0, other: 0 }
    const written: string[] = []

    async function work(index: number): Promise<void> {
      const user = users[random(users.length)]
      if (user === undefined) throw new Error('no user')
      const title = `post ${index}`
      const kind = random(5)
      if (kind === 0) await db.read(entryOf(user), (tx) => look(tx, user, 'read'))
      if (kind === 1) {
        await db.write(entryOf(user), async (tx) => {
          await look(tx, user, 'write')
          const { tenantId, userId } = user
          await tx.team.create({ data: { tenantId, name: `${userId} ${title}` } })
        })
        written.push(title)
      }
      if (kind === 2) {
        const [row] = await systemDb.transaction(
          { statementTimeoutMs: 500 },
          (tx) => tx.sql<{ id: string; people: number }>`
            SELECT ${user.userId}::bigint AS id, (SELECT count(*)::int FROM users) AS people`,
        )
        if (Number(row?.id) !== user.userId || row?.people !== 0) seen.foreign += 1
      }
      if (kind === 3) {
        const rows = await db.read(entryOf(user), rowsOf<Invoice>(everyInvoice))
        if (rows.length === 0) seen.foreign += 1
        seen.foreign += rows.filter((row) => row.tenant_id !== user.tenantId).length
      }
      if (kind === 4) {
        await db.write(entryOf(user), async (connection) => {
          await connection.sql`
            INSERT INTO posts (tenant_id, author_id, title, body)
            VALUES (${user.tenantId}, ${user.userId}, ${title}, '')`
        })
        written.push(title)
      }
    }

    /** Without WHERE: only row-level security limits the rows. */
    async function look(
      tx: Tx,
      { tenantId, userId }: TestUser,
      access: 'read' | 'write',
    ): Promise<void> {
      const [state] = await tx.sql<State>({ text: transactionState })
      const { number = null } = state ?? {}
      // A write has a number already, because its entry has locked rows; none is seen twice.
      const isFresh =
        access === 'read' ? number === null : number !== null && !transactions.has(number)
      if (number !== null) transactions.add(number)
      const isScoped = state?.tenant === tenantId && state.user === String(userId)
      if (!isFresh || !isScoped) seen.dirty += 1
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
    t.match(seen, { foreign: 0, dirty: 0, other: 0 }, `TEST_SEED=${seed}`)
    t.ok(seen.killed > 0, 'some transactions were killed')
    t.ok(seen.done > seen.killed, 'most were not')
    const { rows } = await database.admin.query<{ title: string; own: boolean }>(
      `SELECT title, tenant_id = (SELECT tenant_id FROM memberships WHERE user_id = author_id) AS own
       FROM (
         SELECT tenant_id, author_id, title FROM posts UNION ALL
         SELECT tenant_id, split_part(name, ' ', 1)::bigint, substr(name, strpos(name, ' ') + 1) FROM teams
       ) written`,
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

type Invoice = { tenant_id: string }

const everyInvoice = Prisma.sql`SELECT tenant_id FROM invoices`

type State = { number: string | null; tenant: string; user: string }

const transactionState = `SELECT pg_current_xact_id_if_assigned()::text AS number,
  current_tenant_id()::text AS tenant, current_user_id()::text AS "user"`
