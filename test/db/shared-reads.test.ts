import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import type { Principal } from '#src/access/caller.ts'
import { enterCredential } from '#src/auth/sessions/enter.ts'
import { withoutScope } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { pgbouncer, startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { rowsAndFactsOf, rowsOf } from '#test/support/database/rows-of.ts'
import { addSession, addToken, idleSeconds, randomCredential } from './credentials.ts'

/*
 * Reads that arrive together share one packet and one transaction. Each must find what it would find
 * alone: its own rows, its own refusal, and nothing of those beside it.
 */

const skip = pgbouncer === null && 'no pgbouncer on this machine: npm does not bring one along'
const ownOrders = Prisma.sql`SELECT id::int AS id FROM orders ORDER BY id`
const tenants = Prisma.sql`SELECT id FROM tenants`
const failing = Prisma.sql`SELECT 1 / 0 AS id`
const rules = { idleSeconds, operators: new Set<string>(), onStale() {} }

t.test('reads that arrive together leave in one packet, and each finds its own rows', async (t) => {
  const { db, proxy, people, session } = await setUp(t)
  const read = () =>
    Promise.all(people.map((person) => db.read(session(person), rowsOf(ownOrders))))
  const expected = people.map(({ order }) => [{ id: order }])
  t.strictSame(await read(), expected)
  proxy.reset()
  t.strictSame(await read(), expected)
  t.equal(proxy.roundTrips(), 1)
})

t.test('more reads than a packet holds leave in several', async (t) => {
  const { db, people, session } = await setUp(t)
  const turns = Array.from({ length: 200 }, (_, turn) => people[turn % people.length])
  await Promise.all(
    turns.map(async (person) => {
      if (person === undefined) return
      const { rows, facts } = await db.read(
        session(person),
        rowsAndFactsOf<Principal | null>(ownOrders),
      )
      t.strictSame(rows, [{ id: person.order }])
      t.equal(facts?.userId, person.userId)
    }),
  )
})

t.test('a credential that is not live finds nothing between two that are', async (t) => {
  const { database, db, people, session } = await setUp(t)
  const [first, second] = people
  if (first === undefined || second === undefined) throw new Error('no people')
  const dead = {
    unknown: randomCredential(),
    expired: await addSession(database, first, { expired: true }),
    idle: await addSession(database, first, { idleSeconds: idleSeconds + 1 }),
    anonymous: await addSession(database, null),
  }
  const deadTokens = {
    'unknown token': randomCredential(),
    'expired token': await addToken(database, first, { expired: true }),
  }
  for (const [kind, secrets] of [
    ['session', dead],
    ['token', deadTokens],
  ] as const) {
    for (const [name, hash] of Object.entries(secrets)) {
      const entry = enterCredential({ kind, hash }, rules)
      for (const statement of [ownOrders, tenants]) {
        const [before, between, after] = await Promise.all([
          db.read(session(first), rowsOf(statement)),
          db.read(entry, rowsAndFactsOf(statement)),
          db.read(session(second), rowsOf(statement)),
        ])
        t.strictSame(between, { facts: null, rows: [] }, name)
        t.equal(before.length, 1)
        t.equal(after.length, 1)
      }
    }
  }
})

t.test('an entry that does not replace the scope shares no transaction', async (t) => {
  const { db, people, session } = await setUp(t)
  const results = await Promise.all(
    people.flatMap((person) => [
      db.read(session(person), rowsOf(ownOrders)),
      db.read(withoutScope, rowsOf(ownOrders)),
    ]),
  )
  t.strictSame(
    results.map((rows) => rows.length),
    people.flatMap(() => [1, 0]),
  )
  const unscoped = {
    ...withoutScope,
    statement: () => ownOrders,
    admit: (rows: readonly object[]) => rows,
  }
  const entered = await Promise.all(
    people.flatMap((person) => [db.read(session(person)), db.read(unscoped)]),
  )
  for (const [n, rows] of entered.entries()) if (n % 2 === 1) t.strictSame(rows, [], 'alone')
})

t.test('a read that fails fails alone', async (t) => {
  const { db, people, session } = await setUp(t)
  for (const bad of people.keys()) {
    const results = await Promise.allSettled(
      people.map((person, index) =>
        db.read(session(person), rowsOf(index === bad ? failing : ownOrders)),
      ),
    )
    for (const [index, result] of results.entries()) {
      if (index === bad) t.match(result, { status: 'rejected', reason: { code: '22012' } })
      else t.match(result, { status: 'fulfilled', value: [{ id: people[index]?.order }] })
    }
  }
  const unsendable = { ...ownOrders, text: 'SELECT $1::text', values: [{}] } as never
  const [mine, broken] = await Promise.allSettled([
    db.read(session(people[0]), rowsOf(ownOrders)),
    db.read(session(people[0]), rowsOf(unsendable)),
  ])
  t.match(mine, { status: 'fulfilled' })
  t.match(broken, { status: 'rejected', reason: TypeError })
})

for (const through of ['PostgreSQL', 'PgBouncer'] as const) {
  const options = { skip: through === 'PgBouncer' && skip }
  t.test(`any mixture finds what each would find alone: ${through}`, options, async (t) => {
    const { database, people, session } = await setUp(t)
    const url =
      through === 'PgBouncer'
        ? (await startPgbouncer(t, database.url, 2)).through(database.url)
        : database.url
    const db = openPatiently(t, url, 2)
    const kinds = fc.constantFrom('live', 'dead', 'without', 'failing', 'enter')
    const reads = fc.array(fc.tuple(kinds, fc.nat({ max: people.length - 1 })), { maxLength: 50 })
    const run = async ([kind, index]: [string, number]) => {
      const person = people[index]
      if (person === undefined) throw new Error('no such person')
      switch (kind) {
        case 'live':
          return await db.read(session(person), rowsOf(ownOrders))
        case 'dead': {
          const entry = enterCredential({ kind: 'session', hash: randomCredential() }, rules)
          return await db.read(entry, rowsOf(ownOrders))
        }
        case 'without':
          return await db.read(withoutScope, rowsOf(ownOrders))
        case 'failing':
          return db.read(session(person), rowsOf(failing)).catch(({ code }) => code)
        default:
          return (await db.read(session(person)))?.userId
      }
    }
    const expected = ([kind, index]: [string, number]) => {
      if (kind === 'live') return [{ id: people[index]?.order }]
      if (kind === 'failing') return '22012'
      return kind === 'enter' ? people[index]?.userId : []
    }
    await fc.assert(
      fc.asyncProperty(reads, async (mixture) => {
        t.strictSame(await Promise.all(mixture.map(run)), mixture.map(expected))
      }),
      { numRuns: 30 },
    )
  })
}

async function setUp(t: Test) {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const db = openPatiently(t, proxy.through(database.url), 1)
  const people = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const user = await createUser(database)
      const order = await createOrder(database, user)
      return { ...user, order, credential: await addSession(database, user) }
    }),
  )
  const session = (person: { credential: Buffer } | undefined) =>
    enterCredential({ kind: 'session', hash: person?.credential ?? randomCredential() }, rules)
  return { database, db, proxy, people, session }
}
