import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { composeAround, composeOnce, nameStatements, oneStatement } from '#src/db/sql.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently, patient } from '#test/support/database/open.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'

/** More texts than a connection keeps. */
const texts = Array.from({ length: 450 }, (_, n) => Prisma.raw(`one_of_many_${n}`))
const kept = Prisma.sql`SELECT count(*)::integer AS kept FROM pg_prepared_statements`
const often = Prisma.sql`
  SELECT 'often' AS often, (SELECT (generic_plans + custom_plans)::integer FROM pg_prepared_statements
    WHERE statement LIKE '%often%') AS uses`

t.test('no name is given twice, and a text in use keeps its own', async (t) => {
  const nameOf = nameStatements('postgres://127.0.0.1/x')
  const name = nameOf('often')
  const names = new Set([name])
  for (let n = 0; n < 2_000; n += 1) {
    names.add(nameOf(`text ${n}`))
    if (n % 300 === 0) t.equal(nameOf('often'), name)
  }
  t.equal(names.size, 2_001)
  t.notOk(names.has(nameOf('text 0')), 'a text that was not used for long has another one')
  t.equal(nameStatements('postgres://127.0.0.1/x?pgbouncer=true')('often'), '')
})

t.test(
  'a statement that is composed once has the text and the values of a composed one',
  async (t) => {
    const compose = (id: number, name: string) =>
      Prisma.sql`SELECT ${Prisma.raw('x')} FROM y WHERE id = ${id} AND ${Prisma.sql`name = ${name}`}`
    const composed = composeOnce(compose)
    for (const [id, name] of [
      [1, 'a'],
      [2, 'b'],
    ] as const) {
      const { text, values } = compose(id, name)
      t.match(composed(id, name), { text, values })
    }
    const inAnother = ({ text, values }: Prisma.Sql) => ({ text, values })
    t.strictSame(
      inAnother(Prisma.sql`SELECT ${0} FROM (${composed(3, 'c')}) s`),
      inAnother(Prisma.sql`SELECT ${0} FROM (${compose(3, 'c')}) s`),
    )
    const withOther = composeOnce((id: number) => Prisma.sql`SELECT ${id}, ${'of no parameter'}`)
    t.throws(() => withOther(1), /not the values in their order/)
    const swapped = composeOnce((id: number, name: string) => Prisma.sql`SELECT ${name}, ${id}`)
    t.throws(() => swapped(1, 'a'), /not the values in their order/)
  },
)

t.test('a statement around one that is composed once is composed once for each', async (t) => {
  let composed = 0
  const wrap = (inner: Prisma.Sql, ...values: number[]) => {
    composed += 1
    return Prisma.sql`SELECT ${Prisma.join(values)} FROM (${inner}) s`
  }
  const around = composeAround(wrap)
  const inners = [
    composeOnce((id: number) => Prisma.sql`SELECT FROM x WHERE id = ${id}`),
    composeOnce((id: number) => Prisma.sql`SELECT FROM y WHERE id = ${id}`),
  ]
  for (const id of [1, 2]) {
    for (const inner of inners) {
      for (const values of [[3], [4, 5]]) {
        const { text, values: sent } = wrap(inner(id), ...values)
        t.match(around(inner(id), ...values), { text, values: sent })
      }
    }
  }
  const before = composed
  for (const inner of inners) around(inner(6), 7, 8)
  t.equal(composed, before)
  const inner = composeOnce((id: number) => Prisma.sql`SELECT ${id}`)
  const behind = composeAround(
    (one: Prisma.Sql, value: number) => Prisma.sql`SELECT FROM (${one}) s WHERE ${value}`,
  )
  t.throws(() => behind(inner(1), 2), /not the values in their order/)
})

t.test('a connection closes the statements that it used longest ago', async (t) => {
  const database = await createDatabase(t)
  const system = openSystemDatabase(database.url, 1, patient)
  t.teardown(() => system.close())
  for (const text of texts) {
    await system.sql(Prisma.sql`SELECT 1 AS ${text}`)
    await system.sql(often)
  }
  const [{ uses } = { uses: 0 }] = await system.sql<{ uses: number }>(often)
  t.equal(uses, texts.length + 1, 'planned once, whatever came between')
  t.strictSame(await system.sql(kept), [{ kept: 400 }])
  t.strictSame(await system.sql(Prisma.sql`SELECT 1 AS ${texts[0]}`), [{ one_of_many_0: 1 }])
})

t.test('so does one that sends packets, and one of transactions', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  const db = openPatiently(t, database.url, 1)
  const rows = <Row extends object>(statement: Prisma.Sql) =>
    db.read(
      entryOf(user),
      oneStatement<Row, unknown, Row[]>(statement, (found) => found),
    )
  for (const text of texts) {
    await rows(Prisma.sql`SELECT 1 AS ${text}`)
    await rows(often)
  }
  t.match(await rows(often), [{ uses: texts.length + 1 }])
  t.strictSame(await rows(kept), [{ kept: 400 }])
  t.strictSame(await rows(Prisma.sql`SELECT 1 AS ${texts[0]}`), [{ one_of_many_0: 1 }])

  await db.read(entryOf(user), async ({ sql }) => {
    for (const text of texts) await sql(Prisma.sql`SELECT 1 AS ${text}`)
    t.strictSame(await sql(kept), [{ kept: 400 }])
    await Promise.all(texts.map((text) => sql(Prisma.sql`SELECT 2 AS ${text}`)))
    t.strictSame(await sql(kept), [{ kept: 400 }], 'also those that do not wait for each other')
  })
})
