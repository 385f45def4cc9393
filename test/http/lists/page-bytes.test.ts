import t, { type Test } from 'tap'
import { maxPageBytes } from '#src/db/keyset.ts'
import { connect } from '#test/db/credentials.ts'
import { descriptions } from '#test/resources/index.ts'
import { insertion } from '#test/schema/table-rows.ts'
import { build } from '#test/support/app/app.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { untilBlocked } from '#test/support/database/until.ts'
import { untilInFeed } from '#test/support/receiver/until-in-feed.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

/*
 * Every list of rows that people fill ends a page at 1 MiB, whatever `limit` says, and goes on from
 * there: 30 rows of 200 kB each.
 */

const rows = 30
const rowBytes = 200_000
// The row that reaches the budget is whole, and JSON adds names and quotes.
const most = maxPageBytes + rowBytes + 100_000
const large = `repeat('a', ${rowBytes})`

type Send = Awaited<ReturnType<typeof owner>>['send']

async function setUp() {
  const { user, send } = await owner(test, { role: 'admin' })
  const { admin } = test.database
  const fill = (text: string, values: unknown[] = []) =>
    admin.query(text.replace('FROM n', `FROM generate_series(1, ${rows}) AS n`), [
      user.tenantId,
      ...values,
    ])
  return { user, send, fill }
}

/** Walks a list to its end and back. */
async function walk<Item>(
  t: Test,
  send: Send,
  path: string,
  idOf: (item: Item) => unknown,
  { fewest = 5, cursorName = 'cursor' } = {},
) {
  const ids: unknown[] = []
  let pages = 0
  let cursor: string | null = null
  let back: string | undefined
  do {
    const query: string = cursor === null ? '' : `&${cursorName}=${encodeURIComponent(cursor)}`
    const answer = await send('GET', `${path}?limit=100${query}`)
    t.equal(answer.statusCode, 200, answer.body.slice(0, 300))
    t.ok(Buffer.byteLength(answer.body) < most, `${path}: ${Buffer.byteLength(answer.body)} bytes`)
    const page = answer.json()
    ids.push(...page.data.map(idOf))
    back = /<([^>]*)>; rel="prev"/.exec(String(answer.headers.link))?.[1]
    cursor = page.data.length === 0 ? null : page.nextCursor
    pages += 1
  } while (cursor !== null)
  t.ok(pages >= fewest, `${path}: ${pages} pages`)
  t.equal(ids.length, rows, path)
  t.equal(new Set(ids).size, rows, `${path}: each row once`)
  return { ids, back }
}

t.test('pages of the feed end at a byte budget, and the cursor goes on', async (t) => {
  const { send, fill } = await setUp()
  await fill(
    `INSERT INTO outbound_events (tenant_id, id, type, body)
     SELECT $1, 'msg_' || lpad(n::text, 16, '0'), 'post.updated',
       json_build_object('id', n, 'type', 'post.updated', 'createdAt', now(), 'data', json_build_object('body', ${large}))
     FROM n`,
  )
  await untilInFeed(test.database)
  await walk(t, send, '/events', ({ id }: { id: number }) => id, { cursorName: 'after' })
})

t.test('pages of deliveries end at a byte budget, and the cursor goes on', async (t) => {
  const { user, send, fill } = await setUp()
  const endpointId = await createEndpoint(test.database, user, { url: 'https://a.example/' })
  await fill(
    `WITH event AS (
       INSERT INTO outbound_events (tenant_id, id, type, body)
       SELECT $1, 'msg_' || lpad(n::text, 16, '0'), 'post.updated', '{}' FROM n RETURNING id
     ), delivery AS (
       INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type, status, finished_at, created_at, stored_bytes)
       SELECT $1, id, $2, 'post.updated', 'succeeded', now(), date_trunc('milliseconds', now()), 40 * 2048 FROM event
       RETURNING id
     )
     INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at, duration_ms, status_code, response_excerpt)
     SELECT $1, id, series, 1, now(), 1, 200, repeat('a', 2048)
     FROM delivery CROSS JOIN generate_series(0, 39) AS series`,
    [endpointId],
  )
  const path = `/webhook-endpoints/${endpointId}/deliveries`
  await walk(t, send, path, ({ id }: { id: string }) => id, { fewest: 3 })
})

t.test('pages of every declared resource end at a byte budget', async (t) => {
  const { user, send } = await setUp()
  const chain = await createChain(test.database, user)
  const tried: string[] = []
  for (const { path, table, row } of descriptions) {
    const sample = row({ ...user, ...chain, department: null })
    const { rows: texts } = await test.database.admin.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute
       WHERE attrelid = $1::regclass AND atttypid = 'text'::regtype AND attname = ANY ($2)
         AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c'
                         AND attnum = ANY (conkey))`,
      [table, Object.keys(sample)],
    )
    const [{ name } = { name: null }] = texts
    if (name === null) continue
    tried.push(path)
    const [text, values] = insertion(table, { ...sample, [name]: 'a'.repeat(rowBytes) })
    await test.database.admin.query(`DELETE FROM ${table}`)
    for (let n = 0; n < rows; n += 1) await test.database.admin.query(text, values)
    await walk(t, send, path, ({ id }: { id: number }) => id)
  }
  t.ok(tried.includes('/posts') && tried.includes('/documents'), String(tried))
})

t.test('pages of JSON end at a byte budget, and the cursors go on and back', async (t) => {
  const { user, send, fill } = await setUp()
  await fill(
    `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
     SELECT $1, $2, json_build_array(json_build_object('sku', ${large}, 'quantity', 1, 'unitPrice', 1)),
       '{"name": "a", "line1": "b", "city": "c", "postalCode": "d", "country": "PT"}', '4242' FROM n`,
    [user.userId],
  )
  const { ids, back } = await walk(t, send, '/orders', ({ id }: { id: number }) => id)
  t.strictSame(
    ids,
    ids.toSorted((a, b) => Number(b) - Number(a)),
    'newest first',
  )
  const previous = (await send('GET', String(back))).json().data
  const newest = previous.map(({ id }: { id: number }) => id)
  t.ok(newest.length > 0 && newest.length < rows / 4, `${newest.length} rows`)
  const start = ids.indexOf(newest[0])
  t.strictSame(newest, ids.slice(start, start + newest.length), 'the page before')
})

t.test('pages of a download end at a byte budget, and nothing is left out', async (t) => {
  const { user, send, fill } = await setUp()
  await fill(
    `INSERT INTO posts (tenant_id, author_id, title, body) SELECT $1, $2, n::text, ${large} FROM n`,
    [user.userId],
  )
  const ownerClient = await connect(t, test.database.ownerUrl)
  const { rows: first } = await ownerClient.query(
    `SELECT key, more FROM export_page('person', 'posts', $1, $2, NULL, 500)`,
    [user.userId, user.tenantId],
  )
  t.equal(first.length, 6, 'the sixth reaches 1 MiB')
  t.equal(first.at(-1)?.more, true)
  const answer = await send('GET', '/auth/account/export')
  const titles = answer.json().posts.map(({ title }: { title: string }) => title)
  t.strictSame(new Set(titles).size, rows)
  t.equal(titles.length, rows)
})

t.test('a person has one download at a time', async (t) => {
  const { send } = await setUp()
  const holder = await test.database.admin.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN; LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE')
  const first = send('GET', '/auth/account/export').then(({ statusCode }) => statusCode)
  await untilBlocked(test.database)
  t.equal((await send('GET', '/auth/account/export')).statusCode, 429)
  await holder.query('COMMIT')
  t.equal(await first, 200)
  t.equal((await send('GET', '/auth/account/export')).statusCode, 200, 'the next one after it')
})
