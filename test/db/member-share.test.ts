import t from 'tap'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { createTestPost } from '#test/support/callers/objects.ts'

const budget = 40
const share = budget / 4

/** Changes a post of the tenant, which publishes an event without a delivery. */
async function editor(test: TestApp, user: TestUser) {
  const send = as(test, await signIn(test, user))
  const post = await createTestPost(test.database, user.tenantId)
  let n = 0
  return () => {
    n += 1
    return send('PATCH', `/posts/${post}`, { title: `title ${n}` })
  }
}

/** How many changes succeed until one is refused, and that answer. */
async function publishUntilRefused(change: Awaited<ReturnType<typeof editor>>) {
  for (let done = 0; ; done += 1) {
    const answer = await change()
    if (answer.statusCode !== 200 || done > budget) return { done, answer }
  }
}

t.test('a member publishes a share of the events of a tenant, and others the rest', async (t) => {
  const test = await build(t, { QUOTA_EVENTS: `${budget}/1` })
  const [one, other] = [
    await createUser(test.database, { role: 'admin' }),
    await createUser(test.database, { role: 'admin' }),
  ]
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'admin')`,
    [one.tenantId, other.userId],
  )
  const { done, answer } = await publishUntilRefused(await editor(test, one))
  t.equal(done, share)
  t.equal(answer.statusCode, 409)
  t.match(answer.json(), { type: '/docs/errors/quota-exceeded', detail: /your share/ })
  const change = await editor(test, { ...other, tenantId: one.tenantId })
  t.equal((await change()).statusCode, 200, 'the other member goes on')

  await test.database.admin.query(`UPDATE member_usage SET counted_at = now() - interval '45 days'`)
  const later = await publishUntilRefused(await editor(test, one))
  t.equal(later.done, share / 2, 'half of the retention later half of the share is free')
})

t.test('what was published while another writer counted is part of the share', async (t) => {
  const test = await build(t, { QUOTA_EVENTS: `${budget}/1` })
  const user = await createUser(test.database, { role: 'admin' })
  await createUser(test.database, { tenantId: user.tenantId })
  const change = await editor(test, user)
  t.equal((await change()).statusCode, 200)
  const other = await test.database.admin.connect()
  t.teardown(() => other.release())
  await other.query('BEGIN')
  await other.query('SELECT pg_advisory_xact_lock(usage_lock($1))', [user.tenantId])
  for (const _ of Array.from({ length: 3 })) t.equal((await change()).statusCode, 200)
  await other.query('ROLLBACK')
  t.equal((await publishUntilRefused(change)).done, share - 4)
})

t.test('a share is free again although another writer counts now', async (t) => {
  const test = await build(t, { QUOTA_EVENTS: `${budget}/1` })
  const user = await createUser(test.database, { role: 'admin' })
  await createUser(test.database, { tenantId: user.tenantId })
  const change = await editor(test, user)
  t.equal((await publishUntilRefused(change)).done, share)
  const other = await test.database.admin.connect()
  t.teardown(() => other.release())
  await other.query('BEGIN')
  await other.query('SELECT pg_advisory_xact_lock(usage_lock($1))', [user.tenantId])
  t.equal((await change()).statusCode, 409, 'not before')
  await other.query(`UPDATE member_usage SET counted_at = now() - interval '45 days'`)
  await other.query('COMMIT')
  await other.query('BEGIN')
  await other.query('SELECT pg_advisory_xact_lock(usage_lock($1))', [user.tenantId])
  t.equal((await publishUntilRefused(change)).done, share / 2)
  await other.query('ROLLBACK')
})

t.test('what waits to be counted is added to a bucket that is emptied first', async (t) => {
  const test = await build(t, { QUOTA_EVENTS: `${budget}/1` })
  const user = await createUser(test.database, { role: 'admin' })
  await createUser(test.database, { tenantId: user.tenantId })
  const change = await editor(test, user)
  t.equal((await publishUntilRefused(change)).done, share)
  await test.database.admin.query(
    `UPDATE member_usage SET counted_at = now() - interval '200 days'`,
  )
  const other = await test.database.admin.connect()
  t.teardown(() => other.release())
  await other.query('BEGIN')
  await other.query('SELECT pg_advisory_xact_lock(usage_lock($1))', [user.tenantId])
  t.equal((await publishUntilRefused(change)).done, share, 'a share after a long rest')
  const fold = () => other.query('SELECT add_waiting_usage($1)', [user.tenantId])
  const waiting = async () => (await other.query('SELECT FROM usage_changes')).rowCount
  await fold()
  t.ok(await waiting(), 'without the budgets no bucket can be emptied')
  const quota = [500_000, 1_073_741_824, budget, 1_048_576, 90 * 86_400]
  await other.query(`SELECT set_config('app.quota', $1, true)`, [`{${quota}}`])
  await fold()
  t.equal(await waiting(), 0)
  await other.query('COMMIT')
  t.equal((await publishUntilRefused(change)).done, 0, 'and not a second one')
})

t.test('who is alone in a tenant has the whole budget', async (t) => {
  const test = await build(t, { QUOTA_EVENTS: `${budget}/1` })
  const user = await createUser(test.database, { role: 'admin' })
  const { done, answer } = await publishUntilRefused(await editor(test, user))
  t.equal(done, budget)
  t.match(answer.json(), { detail: /^Your tenant has used up/ })
})

t.test('changes at once count too', async (t) => {
  const test = await build(t, { QUOTA_EVENTS: `${budget}/1` })
  const user = await createUser(test.database, { role: 'admin' })
  await createUser(test.database, { tenantId: user.tenantId })
  const changes = await Promise.all(Array.from({ length: 4 }, () => editor(test, user)))
  await Promise.all(changes.map((change) => change()))
  let refused = 0
  for (let round = 0; round < budget / 4; round += 1) {
    const answers = await Promise.all(changes.map((change) => change()))
    refused += answers.filter(({ statusCode }) => statusCode === 409).length
  }
  t.ok(refused > 0, `${refused} refused`)
  const { rows } = await test.database.admin.query('SELECT count(*)::int FROM outbound_events')
  t.ok(rows[0]?.count < budget / 2, `${rows[0]?.count} events`)
})

/** How many posts are created until one is refused, and that answer. */
async function createUntilRefused(send: ReturnType<typeof as>) {
  for (let done = 0; ; done += 1) {
    const answer = await send('POST', '/posts', { title: `Post ${done}`, body: 'x' })
    if (answer.statusCode !== 201 || done > budget) return { done, answer }
  }
}

t.test(
  'a member stores a share of the second half of the budget of resources, and others the rest',
  async (t) => {
    const test = await build(t, { QUOTA_RESOURCES: `${budget}/1` })
    const user = await createUser(test.database, { role: 'admin' })
    const colleague = await createUser(test.database, { tenantId: user.tenantId, role: 'editor' })
    const [admin, editor] = [
      as(test, await signIn(test, user)),
      as(test, await signIn(test, colleague)),
    ]
    const { done, answer } = await createUntilRefused(editor)
    t.equal(done, budget / 2 + share)
    t.equal(answer.statusCode, 409)
    t.match(answer.json(), { type: '/docs/errors/quota-exceeded', detail: /your share/ })

    const { data: posts } = (await editor('GET', '/posts?limit=100')).json()
    t.equal(posts.length, done)
    for (const { id } of posts.slice(0, 5)) {
      t.equal((await admin('DELETE', `/posts/${id}`)).statusCode, 204)
    }
    t.equal((await createUntilRefused(editor)).done, 0, 'deletions of others free no share')
    const free = share + 5
    for (let n = 0; n < free; n += 1) {
      t.equal(
        (await admin('POST', '/posts', { title: 'Ours', body: 'x' })).statusCode,
        n < share ? 201 : 409,
      )
    }
    await test.database.admin.query(
      `UPDATE member_usage SET counted_at = now() - interval '45 days'`,
    )
    t.equal((await createUntilRefused(editor)).done, share / 2, 'half of the share is free again')
  },
)

t.test(
  'a member’s own deletions free their share, and changes of equal size are none',
  async (t) => {
    const test = await build(t, { QUOTA_RESOURCES: `${budget}/1` })
    const user = await createUser(test.database, { role: 'admin' })
    await createUser(test.database, { tenantId: user.tenantId })
    const send = as(test, await signIn(test, user))
    await createUntilRefused(send)
    const { data: posts } = (await send('GET', '/posts')).json()
    t.equal((await send('PATCH', `/posts/${posts[0].id}`, { title: 'Post X' })).statusCode, 200)
    for (const { id } of posts.slice(0, 3)) await send('DELETE', `/posts/${id}`)
    t.equal((await createUntilRefused(send)).done, 3)
  },
)

t.test('who is alone in a tenant stores the whole budget', async (t) => {
  const test = await build(t, { QUOTA_RESOURCES: `${budget}/1` })
  const send = as(test, await signIn(test, await createUser(test.database, { role: 'admin' })))
  const { done, answer } = await createUntilRefused(send)
  t.equal(done, budget)
  t.match(answer.json(), { detail: /^Your tenant has used up/ })
})

t.test(
  'what was stored while another writer counted is part of the share of resources',
  async (t) => {
    const test = await build(t, { QUOTA_RESOURCES: `${budget}/1` })
    const user = await createUser(test.database, { role: 'admin' })
    await createUser(test.database, { tenantId: user.tenantId })
    const send = as(test, await signIn(test, user))
    const create = async () =>
      (await send('POST', '/posts', { title: 'Ours', body: 'x' })).statusCode
    for (let n = 0; n <= budget / 2; n += 1) t.equal(await create(), 201)
    const other = await test.database.admin.connect()
    t.teardown(() => other.release())
    await other.query('BEGIN')
    await other.query('SELECT pg_advisory_xact_lock(usage_lock($1))', [user.tenantId])
    t.equal((await createUntilRefused(send)).done, share - 1)
    await other.query('ROLLBACK')
    const { done } = await createUntilRefused(send)
    t.ok(done < share / 2, `${done} more before what waited was counted`)
  },
)
