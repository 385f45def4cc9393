import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { startErasures } from '#src/auth/erasure/work.ts'
import { withQueue } from '#src/commands/kit/queue.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

t.test('a large erasure does not hold up that of another tenant', async (t) => {
  const test = await build(t)
  const { database } = test
  const remove = async (posts: number) => {
    const { user, send } = await owner(test, { role: 'admin' })
    const member = await createUser(database, { role: 'admin' })
    await database.admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`,
      [user.tenantId, member.userId],
    )
    await database.admin.query(
      `INSERT INTO posts (tenant_id, author_id, title, body)
       SELECT $1, $2, 'x', 'x' FROM generate_series(1, $3::int)`,
      [user.tenantId, member.userId, posts],
    )
    t.equal((await send('DELETE', `/users/${member.userId}`)).statusCode, 204)
    const { rows } = await database.admin.query<{ id: string }>(
      `SELECT id FROM erasures WHERE tenant_id = $1`,
      [user.tenantId],
    )
    return rows[0]?.id
  }
  const large = await remove(12_000)
  const small = await remove(1)
  await database.admin.query('ANALYZE posts')
  const finished: unknown[] = []
  const done = Promise.withResolvers<void>()
  const logger = {
    info(entry: object) {
      finished.push(Object(entry).erasureId)
      if (finished.length === 2) done.resolve()
    },
    error: (entry: object) => done.reject(entry),
  }
  await withQueue(database.workerUrl, async ({ systemDb, queue }) => {
    const erasures = startErasures(systemDb, queue, createMetrics().identity, logger)
    await done.promise.finally(() => erasures.stop())
  })
  t.strictSame(finished, [small, large])
  t.equal((await database.admin.query('SELECT FROM erasures')).rowCount, 0)
})
