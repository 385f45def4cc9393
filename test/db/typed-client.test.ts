import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { PrismaClient } from '#src/db/generated/client.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'

/* A generated client in a transaction of the program. The one of the program stands for that of an app. */

t.test('the typed client of an app works in the scope of the transaction', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 2)
  const entryOf = await allowScopes<TestScope>(database)
  const mine = await createUser(database)
  const other = await createUser(database)
  await createTestInvoice(database, mine.tenantId)
  for (const access of [db.read, db.write]) {
    const counts = await access(entryOf(mine), (outer) =>
      access(entryOf(other), (inner) =>
        Promise.all([outer, inner].map((tx) => tx.prisma(PrismaClient).invoice.count())),
      ),
    )
    t.strictSame(counts, [1, 0], 'each row-level security lets through, whichever runs first')
    const foreign = await access(entryOf(other), (tx) =>
      tx.prisma(PrismaClient).invoice.findMany({ where: { tenantId: mine.tenantId } }),
    )
    t.strictSame(foreign, [], 'also if it asks for them')
    const kept = await access(entryOf(mine), async (tx) => ({ prisma: tx.prisma(PrismaClient) }))
    await t.rejects(kept.prisma.invoice.count(), /has ended/)
    await access(entryOf(mine), () => t.rejects(kept.prisma.invoice.count(), /has ended/))
  }
  const write = db.read(entryOf(mine), (tx) =>
    tx.prisma(PrismaClient).team.create({ data: { tenantId: mine.tenantId, name: 'Ours' } }),
  )
  await t.rejects(write, /read-only transaction/)
  const foreign = db.write(entryOf(mine), (tx) =>
    tx.prisma(PrismaClient).team.create({ data: { tenantId: other.tenantId, name: 'Theirs' } }),
  )
  await t.rejects(foreign, /row-level security/)
})

t.test('nothing of it leaves the transaction', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 2)
  const entryOf = await allowScopes<TestScope>(database)
  const mine = await createUser(database)
  const refused = [
    ...['$connect', '$disconnect', '$transaction', '$extends', '$on'],
    ...['$executeRaw', '$executeRawUnsafe', '$queryRaw', '$queryRawUnsafe', '$queryRawTyped'],
  ]
  await db.write(entryOf(mine), async (tx) => {
    const prisma = tx.prisma(PrismaClient)
    const { team } = prisma
    for (const name of refused) {
      t.throws(() => Reflect.get(prisma, name), { message: /not available.*Use tx\.sql/ }, name)
    }
    t.throws(() => Reflect.get(team, '$parent'), /not available/, 'the client itself')
    for (const name of ['findUnique', 'findUniqueOrThrow']) {
      t.throws(() => Reflect.get(team, name), /use findFirst/, name)
    }
    t.equal(Reflect.get(prisma, '_engine'), undefined, 'and nothing but models')
  })
  const client = new Set<unknown>()
  class Counted extends PrismaClient {
    constructor(options: ConstructorParameters<typeof PrismaClient>[0]) {
      super(options)
      client.add(this)
    }
  }
  for (let n = 0; n < 2; n++) {
    await db.read(entryOf(mine), (tx) => tx.prisma(Counted).team.count())
  }
  t.equal(client.size, 1, 'one client for all transactions')
})

t.test('a write of several parts that fails is not committed in part', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 2)
  const entryOf = await allowScopes<TestScope>(database)
  const { tenantId, ...rest } = await createUser(database)
  const entry = entryOf({ tenantId, ...rest })
  const { id } = await db.write(entry, (tx) =>
    tx.prisma(PrismaClient).team.create({ data: { tenantId, name: 'Before' } }),
  )
  const folders = {
    update: { where: { tenantId_id: { tenantId, id: 4711n } }, data: { name: 'Missing' } },
  }
  const failed = db.write(entry, async (tx) => {
    const update = tx.prisma(PrismaClient).team.update({
      where: { tenantId_id: { tenantId, id } },
      data: { name: 'After', folders },
    })
    await t.rejects(update, { code: 'P2025' })
  })
  await t.rejects(failed, /rolled back/, 'although its error was caught')
  const team = await db.read(entry, (tx) => tx.prisma(PrismaClient).team.findFirst())
  t.equal(team?.name, 'Before')
})
