import fc from 'fast-check'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import type { Principal } from '#src/access/caller.ts'
import { enterCredential } from '#src/auth/sessions/enter.ts'
import { createLatestRows } from '#src/auth/sessions/latest-rows.ts'
import type { Limits } from '#src/db/connections/pool-options.ts'
import { openDatabase, type ShortWork } from '#src/db/database.ts'
import { withSettings } from '#src/db/entry.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { changeAndPublish } from '#src/webhooks/events/publish.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently, patient } from '#test/support/database/open.ts'
import { pgbouncer, startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { rowsOf } from '#test/support/database/rows-of.ts'
import { untilBlocked } from '#test/support/database/until.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { addSession, idleSeconds, randomCredential } from './credentials.ts'

/*
 * Inserts and changes of different requests that arrive together share one packet and one commit. Each must do
 * what it would do alone: write its own row once, be refused for its own reason, and see nothing of those beside
 * it.
 */

const skip = pgbouncer === null && 'no pgbouncer on this machine: npm does not bring one along'
const rows = 1_000_000_000
const database = await createDatabase(t)
const budgets = `{${[rows, rows, rows, rows, 86_400].join()}}`

t.test('inserts that arrive together leave in one packet and share a commit', async (t) => {
  const { proxy, people, insert } = await setUp(t)
  proxy.reset()
  const titles = await Promise.all(people.map((person) => insert(person)))
  t.equal(proxy.roundTrips(), 1)
  t.strictSame(await titlesOf(), titles.flat().sort())
  const { rows } = await database.admin.query('SELECT DISTINCT xmin::text FROM posts')
  t.equal(rows.length, 1, 'one transaction')
  const [first] = people
  proxy.reset()
  await insert(first)
  t.equal(proxy.roundTrips(), 1, 'one that arrives alone waits for nothing else')
})

t.test('each row belongs to the credential that inserted it', async (t) => {
  const { people, insert } = await setUp(t)
  await Promise.all(people.flatMap((person) => [insert(person), insert(person)]))
  const { rows } = await database.admin.query('SELECT tenant_id, author_id, title FROM posts')
  t.equal(rows.length, 2 * people.length)
  for (const { tenant_id, author_id, title } of rows) {
    const person = people.find(({ userId }) => String(userId) === author_id)
    t.match(person, { tenantId: tenant_id })
    t.match(title, `of ${author_id} `)
  }
})

t.test(
  'a packet inserts in the order of tenants, so that two do not wait for each other',
  async (t) => {
    const { people, insert } = await setUp(t)
    for (const order of [people, people.toReversed()]) {
      await database.admin.query('DELETE FROM posts')
      await Promise.all(order.map((person) => insert(person)))
      const { rows } = await database.admin.query('SELECT tenant_id FROM posts ORDER BY id')
      const tenants = rows.map(({ tenant_id }) => tenant_id)
      t.strictSame(tenants, tenants.toSorted())
    }
  },
)

t.test(
  'inserts that publish have their events, deliveries and one job for each endpoint',
  async (t) => {
    const { people, insert } = await setUp(t)
    for (const { tenantId } of people) {
      await createEndpoint(database, { tenantId }, { url: 'https://receiver.example' })
    }
    const turns = people.flatMap((person) => [person, person])
    await Promise.all(turns.map((person) => insert(person, { publishes: true })))
    const { rows } = await database.admin.query(
      `SELECT p.tenant_id, count(DISTINCT p.id)::int AS posts, count(DISTINCT e.id)::int AS events,
       count(DISTINCT d.id)::int AS deliveries, count(a.delivery_id)::int AS due,
       count(DISTINCT j.id)::int AS jobs
     FROM posts p
     JOIN outbound_events e ON e.tenant_id = p.tenant_id AND e.body::json -> 'data' ->> 'title' = p.title
       AND e.cause::json ->> 'requestId' = 'of-' || p.author_id
     JOIN deliveries d ON d.tenant_id = e.tenant_id AND d.event_id = e.id
     JOIN due_attempts a ON a.tenant_id = d.tenant_id AND a.delivery_id = d.id
     LEFT JOIN pgboss.job j ON j.name = 'endpoint-turn' AND j.data ->> 'tenantId' = p.tenant_id::text
     GROUP BY p.tenant_id`,
    )
    t.equal(rows.length, people.length)
    for (const { tenant_id: _, ...counts } of rows) {
      t.strictSame(counts, { posts: 2, events: 2, deliveries: 2, due: 2, jobs: 1 })
    }
    const { rowCount } = await database.admin.query('SELECT DISTINCT xmin::text FROM posts')
    t.ok(Number(rowCount) < turns.length, `${rowCount} commits`)
  },
)

t.test(
  'changes that arrive together share a commit with each other and with inserts',
  async (t) => {
    const { proxy, people, insert, change } = await setUp(t)
    const [first, second, ...others] = people
    await Promise.all([insert(first), insert(second)])
    const posts = await postsOf()
    proxy.reset()
    const changed = posts.map((post) => change(personOf(people, post), { id: post.id }))
    const titles = await Promise.all([...changed, ...others.map((one) => insert(one))])
    t.equal(proxy.roundTrips(), 1)
    t.strictSame(await titlesOf(), titles.flat().sort())
    const { rows } = await database.admin.query('SELECT DISTINCT xmin::text FROM posts')
    t.equal(rows.length, 1, 'one transaction')
  },
)

t.test('a packet changes the rows of a tenant in one order, whichever came first', async (t) => {
  const { people, insert, change } = await setUp(t, 6)
  const [person] = people
  for (let n = 0; n < 4; n += 1) await insert(person)
  const ids = (await postsOf()).map(({ id }) => id)
  for (const order of [ids, ids.toReversed(), [...ids.slice(2), ...ids.slice(0, 2)]]) {
    const body = Prisma.sql`clock_timestamp()::text`
    await Promise.all(order.map((id) => change(person, { id, body })))
    const { rows } = await database.admin.query('SELECT id::int FROM posts ORDER BY body')
    t.strictSame(
      rows.map(({ id }) => id),
      ids.toSorted((a, b) => (`post ${a}` < `post ${b}` ? -1 : 1)),
    )
  }
})

t.test('what does not say that it may share shares nothing', async (t) => {
  const { people, insert } = await setUp(t)
  await Promise.all(people.map((person) => insert(person, { isAlone: true })))
  const { rows } = await database.admin.query('SELECT DISTINCT xmin::text FROM posts')
  t.equal(rows.length, people.length)
})

t.test('large bodies leave in several packets', async (t) => {
  const { people, insert } = await setUp(t)
  const body = 'x'.repeat(100_000)
  await Promise.all(people.map((person) => insert(person, { body })))
  const { rows } = await database.admin.query('SELECT DISTINCT xmin::text FROM posts')
  t.equal(rows.length, 3, 'two at a time')
})

type Trouble = {
  /** Makes the insert of this person fail. */
  arrange?(person: Person): Promise<unknown>
  changes?: Changes
  outcome: object
  /** Whether it is then written in a transaction of its own. */
  isWritten?: true
}

/** Why one insert of a packet fails. */
const troubles: Readonly<Record<string, Trouble>> = {
  'a constraint': { changes: { title: null }, outcome: refusal('23502') },
  'a statement that fails': {
    changes: { body: Prisma.sql`(1 / 0)::text` },
    outcome: refusal('22012'),
  },
  'row-level security': {
    changes: { tenantId: '00000000-0000-4000-8000-000000000000' },
    outcome: refusal('42501'),
  },
  'a parameter that cannot be sent': {
    changes: { body: Prisma.sql`${{}}` },
    outcome: { status: 'rejected' },
  },
  'a quota': {
    arrange: ({ tenantId }) =>
      database.admin.query(
        'UPDATE tenant_usage SET max_resource_rows = 0, max_resource_bytes = 0 WHERE tenant_id = $1',
        [tenantId],
      ),
    outcome: refusal('QU001'),
  },
  'facts that have changed': {
    arrange: ({ userId }) =>
      database.admin.query(`UPDATE memberships SET role = 'viewer' WHERE user_id = $1`, [userId]),
    outcome: { status: 'fulfilled', value: ['written as viewer'] },
    isWritten: true,
  },
  'a session that has ended': {
    arrange: ({ userId }) =>
      database.admin.query('DELETE FROM sessions WHERE user_id = $1', [userId]),
    outcome: { status: 'fulfilled', value: ['nobody'] },
  },
  'a membership that has ended': {
    arrange: ({ userId }) =>
      database.admin.query('DELETE FROM memberships WHERE user_id = $1', [userId]),
    outcome: { status: 'fulfilled', value: ['nobody'] },
  },
}

for (const [name, { arrange, changes = {}, outcome }] of Object.entries(troubles)) {
  t.test(`${name} takes no change of another along`, async (t) => {
    for (const bad of [0, 2, 4]) {
      const { people, insert, change } = await setUp(t)
      const before = (await Promise.all(people.map((one) => insert(one)))).flat()
      const posts = await postsOf()
      const person = people[bad]
      if (person === undefined) throw new Error('no such person')
      await arrange?.(person)
      const results = await Promise.allSettled(
        people.map((one, index) => {
          const id = posts.find(({ author_id }) => author_id === String(one.userId))?.id
          return change(one, { id, ...(index === bad && changes) })
        }),
      )
      for (const [index, result] of results.entries()) {
        t.match(result, index === bad ? outcome : { status: 'fulfilled' }, `${bad}, ${index}`)
      }
      for (const { title, times, author_id } of await postsOf()) {
        const index = people.findIndex(({ userId }) => String(userId) === author_id)
        const result = results[index]
        const isChanged = result?.status === 'fulfilled' && result.value[0] === title
        t.equal(times, isChanged ? 1 : 0, 'changed once or not at all')
        t.ok(isChanged || title === before[index] || index === bad)
        if (index !== bad) t.ok(isChanged, 'each of the others')
      }
    }
  })
}

for (const [name, { arrange, changes = {}, outcome, isWritten }] of Object.entries(troubles)) {
  t.test(`${name} takes nothing of the others along`, async (t) => {
    for (const bad of [0, 2, 4]) {
      const { people, insert } = await setUp(t)
      const person = people[bad]
      if (person === undefined) throw new Error('no such person')
      await arrange?.(person)
      const results = await Promise.allSettled(
        people.map((one, index) => insert(one, index === bad ? changes : {})),
      )
      const expected = results.flatMap((result, index) => {
        t.match(result, index === bad ? outcome : { status: 'fulfilled' }, `${bad}, ${index}`)
        return result.status === 'fulfilled' && index !== bad ? result.value : []
      })
      const written = await titlesOf()
      t.strictSame(
        written.filter((title) => title !== 'written as viewer'),
        expected.sort(),
        'each of the others is written once',
      )
      t.equal(written.length - expected.length, isWritten ? 1 : 0)
    }
  })
}

t.test('one that waits for a lock does not hold up the others', async (t) => {
  const { people, insert } = await setUp(t, 3)
  const [first, ...others] = people
  const holder = await database.admin.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN')
  await holder.query('SELECT FROM memberships WHERE user_id = $1 FOR UPDATE', [first?.userId])
  const waiting = insert(first)
  const done = await Promise.all(others.map((person) => insert(person)))
  t.strictSame(await titlesOf(), done.flat().sort(), 'the others are committed')
  await untilBlocked(database)
  await holder.query('ROLLBACK')
  const all = [...(await waiting), ...done.flat()]
  t.strictSame(await titlesOf(), all.sort())
})

t.test('a locked row does not hold up the changes of other rows', async (t) => {
  const { people, insert, change } = await setUp(t, 3)
  await Promise.all(people.map((person) => insert(person)))
  const [locked, ...others] = await postsOf()
  const holder = await database.admin.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN')
  await holder.query('SELECT FROM posts WHERE id = $1 FOR UPDATE', [locked?.id])
  const changing = (post: PostRow | undefined) =>
    change(personOf(people, post), { id: post?.id ?? 0 })
  const waiting = changing(locked)
  const done = await Promise.all(others.map(changing))
  await untilBlocked(database)
  await holder.query('ROLLBACK')
  const titles = [...(await waiting), ...done.flat()]
  t.strictSame(await titlesOf(), titles.sort())
  t.ok((await postsOf()).every(({ times }) => times === 1))
})

t.test('packets that change the same rows do not stop each other', async (t) => {
  const { people, insert, change } = await setUp(t, 9)
  const [person] = people
  for (let n = 0; n < 6; n += 1) await insert(person)
  const ids = (await postsOf()).map(({ id }) => id)
  const turns = Array.from({ length: 10 }, (_, turn) => (turn % 2 === 0 ? ids : ids.toReversed()))
  const results = await Promise.all(turns.flat().map((id) => change(person, { id })))
  t.equal(results.flat().length, turns.flat().length)
  t.ok((await postsOf()).every(({ times }) => times === turns.length))
})

t.test('after a refusal the next writes of its tenant are sent alone', async (t) => {
  const { people, insert } = await setUp(t)
  const [first, ...others] = people
  await Promise.allSettled([insert(first, { title: null }), ...others.map((one) => insert(one))])
  const commitsOf = async (writers: readonly (Person | undefined)[]) => {
    await database.admin.query('DELETE FROM posts')
    await Promise.all(writers.map((one) => insert(one)))
    const { rowCount } = await database.admin.query('SELECT DISTINCT xmin::text FROM posts')
    return rowCount
  }
  t.equal(await commitsOf(people), 2, 'the others share theirs')
  for (let sent = 1; sent < 32; sent += 1) await insert(first)
  t.equal(await commitsOf(people), 1, 'then it shares again')
})

t.test('a lock that is not released is an error of its request alone', async (t) => {
  const { people, insert } = await setUp(t, 3, { lockMs: 200 })
  const [first, ...others] = people
  const holder = await database.admin.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN')
  await holder.query('SELECT FROM memberships WHERE user_id = $1 FOR UPDATE', [first?.userId])
  const results = await Promise.allSettled([first, ...others].map((person) => insert(person)))
  await holder.query('ROLLBACK')
  t.match(results[0], refusal('55P03'))
  t.ok(results.slice(1).every(({ status }) => status === 'fulfilled'))
})

t.test('the short wait for locks ends with the packet', async (t) => {
  const { people, insert } = await setUp(t)
  const waitOf = (person: Person | undefined) =>
    insert(person, { body: Prisma.sql`current_setting('lock_timeout')`, returning: 'body' })
  const shared = await Promise.all(people.map(waitOf))
  t.strictSame(new Set(shared.flat()), new Set(['50ms']))
  t.strictSame(await waitOf(people[0]), ['2s'])
})

t.test('writes whose connection is lost are not sent again', async (t) => {
  const { proxy, people, insert } = await setUp(t)
  proxy.cutAt('of the cut packet')
  const results = await Promise.allSettled(
    people.map((person) => insert(person, { body: 'of the cut packet' })),
  )
  for (const result of results) {
    t.ok(result.status === 'rejected' && isDatabaseUnavailable(result.reason))
  }
  proxy.cutAt('never sent')
  t.strictSame(await titlesOf(), [])
  const titles = await Promise.all(people.map((person) => insert(person)))
  t.strictSame(await titlesOf(), titles.flat().sort(), 'the next packet goes on')
})

t.test('writes are not sent again if the connection is lost after a refusal', async (t) => {
  const { proxy, people, insert } = await setUp(t)
  // The server may have committed them, and been shut down before it said so.
  proxy.cutAt('is the transaction over?')
  const results = await Promise.allSettled(
    people.map((person, index) => insert(person, index === 1 ? { title: null } : {})),
  )
  for (const result of results) {
    t.ok(result.status === 'rejected' && isDatabaseUnavailable(result.reason))
  }
  t.strictSame(await titlesOf(), [])
})

for (const through of ['PostgreSQL', 'PgBouncer'] as const) {
  const options = { skip: through === 'PgBouncer' && skip }
  t.test(
    `what is committed is not sent again if a row cannot be read: ${through}`,
    options,
    async (t) => {
      const { people, insertWith } = await setUp(t)
      const url =
        through === 'PgBouncer'
          ? (await startPgbouncer(t, database.url, 2)).through(database.url)
          : database.url
      const db = openPatiently(t, url, 1)
      const insert = insertWith(db)
      const circle: number = 718
      const parse = pg.types.getTypeParser(circle, 'text')
      pg.types.setTypeParser(circle, () => {
        throw new Error('unreadable')
      })
      t.teardown(() => pg.types.setTypeParser(circle, parse))
      const unreadable = { returning: `'<(0,0),1>'::circle AS title, title AS t` }
      const results = await Promise.allSettled(
        people.map((person, index) => insert(person, index === 1 ? unreadable : {})),
      )
      for (const result of results) {
        t.match(result, { status: 'rejected', reason: { message: 'unreadable' } })
      }
      t.equal((await titlesOf()).length, people.length, 'each is written once')
    },
  )
}

for (const through of ['PostgreSQL', 'PgBouncer'] as const) {
  const options = { skip: through === 'PgBouncer' && skip }
  t.test(`any mixture does what each would do alone: ${through}`, options, async (t) => {
    const { people, insertWith, writeWith, session, latest } = await setUp(t)
    const url =
      through === 'PgBouncer'
        ? (await startPgbouncer(t, database.url, 2)).through(database.url)
        : database.url
    let db = openDatabase(url, 2, patient)
    t.teardown(() => db.close())
    const insert: ReturnType<typeof insertWith> = (...given) => insertWith(db)(...given)
    const changeOrder = (person: Person, id: number, address: Prisma.Sql) =>
      writeWith(db)(person, changedOrder(id, address), `order ${id}`)
    const kinds = fc.constantFrom(
      ...['insert', 'look', 'meddle', 'foreign', 'fail', 'dead', 'read'],
      ...['change', 'change of another', 'failing change'],
    )
    const work = fc.array(fc.tuple(kinds, fc.nat({ max: people.length - 1 })), { maxLength: 50 })
    const see = Prisma.sql`concat_ws(' ', current_user_id(), current_tenant_id(),
      current_setting('app.cause', true), current_setting('app.quota', true), (SELECT json_agg(id) FROM orders), (SELECT count(*) FROM tenants))`
    // What SQL of an attacker could leave behind for the next in the packet.
    const meddle = Prisma.sql`concat_ws(' ', set_config('app.scope', '', true),
      set_config('app.cause', 'somebody else', true), set_config('app.quota', '', true))`
    const run = async ([kind, index]: [string, number]) => {
      const person = people[index]
      const other = people[(index + 1) % people.length]
      if (person === undefined || other === undefined) throw new Error('no such person')
      const codeOf = ({ code }: { code?: string }) => [String(code)]
      switch (kind) {
        case 'insert':
          return (await insert(person)).map((title) => title.replace(/ \d+$/, ''))
        case 'look':
          return insert(person, { body: see, returning: 'body' })
        case 'meddle':
          return insert(person, { after: meddle }).then(({ length }) => [`${length} changed`])
        case 'change':
          return changeOrder(person, person.order, Prisma.sql`jsonb_build_object('seen', ${see})`)
        case 'change of another':
          return changeOrder(person, other.order, Prisma.sql`'{"seen": "by another"}'`)
        case 'failing change':
          return changeOrder(person, person.order, Prisma.sql`NULL`).catch(codeOf)
        case 'foreign':
          return insert(person, { tenantId: other.tenantId }).catch(codeOf)
        case 'fail':
          return insert(person, { title: null }).catch(codeOf)
        case 'dead': {
          const hash = randomCredential()
          const [row] = [latest.get(person.credential)]
          latest.set(hash, row) // facts of somebody for a credential that is not live
          return insert({ ...person, credential: hash })
        }
        default:
          return (await db.read(session(person), rowsOf<{ id: number }>(ownOrders))).map(({ id }) =>
            String(id),
          )
      }
    }
    const expected = ([kind, index]: [string, number]) => {
      const person = people[index]
      if (person === undefined) throw new Error('no such person')
      const { userId, tenantId, order } = person
      if (kind === 'change of another') return []
      const seen = `${userId} ${tenantId} ${causeOf(person)} ${budgets} [${order}] 1`
      const results: Record<string, string> = {
        insert: `of ${userId}`,
        look: seen,
        meddle: '1 changed',
        change: seen,
        'failing change': '23502',
        foreign: '42501',
        fail: '23502',
        dead: 'nobody',
        read: String(order),
      }
      return [results[kind]]
    }
    await fc.assert(
      fc.asyncProperty(work, async (mixture) => {
        // Without what it knows of earlier refusals, after which a tenant writes alone.
        await db.close()
        db = openDatabase(url, 2, patient)
        await database.admin.query('DELETE FROM posts')
        await database.admin.query(`UPDATE orders SET shipping_address = '{}'`)
        t.strictSame(await Promise.all(mixture.map(run)), mixture.map(expected))
        const { rows } = await database.admin.query(
          `SELECT id::int, (shipping_address ->> 'times')::int AS times FROM orders ORDER BY id`,
        )
        const timesOf = (id: number) =>
          mixture.filter(([kind, index]) => kind === 'change' && people[index]?.order === id).length
        t.strictSame(
          rows,
          rows.map(({ id }) => ({ id, times: timesOf(id) || null })),
        )
        const isWritten = ([kind]: [string, number]) => ['insert', 'look', 'meddle'].includes(kind)
        t.equal((await titlesOf()).length, mixture.filter(isWritten).length)
        const { rowCount: wrong } = await database.admin.query(
          `SELECT FROM posts p WHERE NOT EXISTS (
             SELECT FROM memberships m WHERE m.tenant_id = p.tenant_id AND m.user_id = p.author_id)`,
        )
        t.equal(wrong, 0, 'no row is in a foreign tenant')
      }),
      { numRuns: 30 },
    )
  })
}

const ownOrders = Prisma.sql`SELECT id::int AS id FROM orders ORDER BY id`

type Person = { userId: number; tenantId: string; order: number; credential: Buffer }

/** How an insert differs from that of a post of the caller. */
type Changes = {
  tenantId?: string
  title?: string | null
  body?: string | Prisma.Sql
  /** An expression that is evaluated with the rows that are returned. */
  after?: Prisma.Sql
  returning?: string
  isAlone?: true
  /** Publishes an event with the title. */
  publishes?: true
}

/** How a change differs from that of a title. */
type Change = Pick<Changes, 'tenantId' | 'title' | 'body'> & {
  id: number | undefined
}

/** A post; its body has a plus for each change. */
type PostRow = { id: number; author_id: string; title: string; times: number }

/** @param size of the pool: with one connection whatever arrives together shares its packet */
/** Five people, each in a tenant of their own, and no posts. */
async function setUp(t: Test, size = 1, limits: Partial<Limits> = {}) {
  await database.admin.query('DELETE FROM posts')
  const proxy = await startProxy(t, database.url)
  const db = openDatabase(proxy.through(database.url), size, {
    limits: { ...patient.limits, ...limits },
  })
  t.teardown(() => db.close())
  const people: Person[] = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const user = await createUser(database, { role: 'admin' })
      const order = await createOrder(database, user)
      return { ...user, order, credential: await addSession(database, user) }
    }),
  )
  const latest = createLatestRows()
  const rules = { idleSeconds, operators: new Set<string>(), onStale() {}, latest }
  const session = (person: Person) =>
    withSettings(enterCredential({ kind: 'session', hash: person.credential }, rules), () => ({
      'app.quota': budgets,
      'app.cause': causeOf(person),
    }))
  let written = 0

  function titleOf({ userId }: Person): string {
    written += 1
    return `of ${userId} ${String(written).padStart(6, '0')}`
  }

  /** Writes a statement as a person; resolves to the first column of its rows. */
  const writeWith =
    (to: Pick<typeof db, 'write'>) =>
    (
      person: Person,
      statement: Prisma.Sql,
      sharedAs: string | undefined,
      asAnother: (role: string | null) => Prisma.Sql = () => statement,
    ): Promise<string[]> => {
      const read = (rows: object[]) => rows.map((row) => String(Object.values(row)[0]))
      const work: ShortWork<Principal | null, string[]> = {
        short: async () => ({ statement, ...(sharedAs !== undefined && { sharedAs }), read }),
        async whole(tx, caller) {
          if (caller === null) return ['nobody']
          return read(await tx.sql(caller.role === 'admin' ? statement : asAnother(caller.role)))
        },
      }
      return to.write(session(person), work)
    }

  /** The insert of a person; resolves to its titles, or to what it returns instead. */
  const insertWith =
    (to: Pick<typeof db, 'write'>) =>
    async (person: Person | undefined, changes: Changes = {}): Promise<string[]> => {
      if (person === undefined) throw new Error('no such person')
      const change = insertion(person, { title: titleOf(person), ...changes })
      const data = Prisma.sql`json_build_object('title', changed.title)`
      const statement = changes.publishes
        ? await changeAndPublish(person, { type: 'post.updated', change, data }, new Date())
        : change
      const asAnother = (role: string | null) =>
        insertion(person, { ...changes, title: `written as ${role}` })
      return writeWith(to)(person, statement, changes.isAlone ? undefined : '', asAnother)
    }

  /** The change of a post by a person; resolves to its title. */
  const change = async (person: Person | undefined, changes: Change): Promise<string[]> => {
    if (person === undefined || changes.id === undefined) throw new Error('no such post')
    const statement = changedPost({ title: titleOf(person), ...changes })
    const asAnother = (role: string | null) =>
      changedPost({ ...changes, title: `written as ${role}` })
    return writeWith(db)(person, statement, `post ${changes.id}`, asAnother)
  }

  const insert = insertWith(db)
  // What was seen last, and the plans of the connections.
  for (const person of people) await db.read(session(person))
  await Promise.all(people.map((person) => insert(person)))
  await insert(people[0])
  await database.admin.query('DELETE FROM posts')
  return { proxy, people, session, latest, insert, insertWith, change, writeWith }
}

function changedPost({ id, tenantId, title = '', body }: Change): Prisma.Sql {
  const moved = tenantId === undefined ? Prisma.empty : Prisma.sql`tenant_id = ${tenantId}::uuid, `
  return Prisma.sql`
    UPDATE posts SET ${moved}title = ${title}, body = ${body ?? Prisma.sql`body || '+'`}
    WHERE id = ${id} RETURNING title`
}

/** Counts the changes; resolves to what was seen. Row-level security alone says whose order it is. */
function changedOrder(id: number, address: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    UPDATE orders SET shipping_address = ${address} || jsonb_build_object('times',
      coalesce((shipping_address ->> 'times')::int, 0) + 1)
    WHERE id = ${id} RETURNING shipping_address ->> 'seen' AS seen`
}

function insertion(person: Person, changes: Changes): Prisma.Sql {
  const { tenantId = person.tenantId, title = '', body = '', returning = 'title', after } = changes
  const last = after === undefined ? Prisma.empty : Prisma.sql`, ${after} AS after`
  return Prisma.sql`
    INSERT INTO posts (tenant_id, author_id, title, body)
    VALUES (${tenantId}::uuid, ${person.userId}, ${title}, ${body})
    RETURNING ${Prisma.raw(returning)}${last}`
}

function causeOf({ userId }: Person): string {
  return `{"requestId":"of-${userId}"}`
}

function refusal(code: string) {
  return { status: 'rejected', reason: { code } }
}

async function postsOf(): Promise<PostRow[]> {
  const { rows } = await database.admin.query<PostRow>(
    `SELECT id::int, author_id, title, (length(body) - length(replace(body, '+', '')))::int AS times
     FROM posts ORDER BY id`,
  )
  return rows
}

function personOf(people: readonly Person[], post: PostRow | undefined): Person | undefined {
  return people.find(({ userId }) => String(userId) === post?.author_id)
}

async function titlesOf(): Promise<string[]> {
  const { rows } = await database.admin.query<{ title: string }>(
    'SELECT title FROM posts ORDER BY title',
  )
  return rows.map(({ title }) => title)
}
