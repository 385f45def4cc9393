import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { notRecordedYet } from '#src/auth/operators/operators.ts'
import { createLogger } from '#src/observability/logger.ts'
import { indentJson } from '#src/pages/kit/html.ts'
import { startWorker } from '#src/worker.ts'
import { receive } from '#test/billing/received.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { untilTrue } from '#test/support/database/until.ts'

const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }

/** A user who opens the pages and submits their forms. */
function person({ app }: TestApp, cookie: string) {
  return {
    open: (url = '/app/billing') => app.inject({ url, headers: { ...form, cookie } }),
    send: (url: string, more: Record<string, string> = {}, fields = '') =>
      app.inject({
        method: 'POST',
        url,
        headers: { ...form, cookie, ...more },
        payload: `submission=${crypto.randomUUID()}&${fields}`,
      }),
  }
}

async function setUp(t: Test) {
  const test = await build(t, { OPERATORS: 'demo:olga' })
  const user = await createUser(test.database, { role: 'viewer' })
  await addIdentity(test, user.userId, 'olga')
  const { cookie } = await signIn(test, user)
  return { test, cookie, ...person(test, cookie) }
}

async function replaysOf({ database }: TestApp): Promise<number> {
  return (await database.admin.query('SELECT FROM billing_replays')).rowCount ?? 0
}

t.test('an operator whom no worker has recorded yet reads what to do', async (t) => {
  const { test, open, send } = await setUp(t)
  await receive(test.database, { id: 'a', status: 'dead' })
  await test.database.admin.query('DELETE FROM operators')
  for (const answer of [await open(), await send('/app/billing/a/dismiss', {}, 'reason=x')]) {
    t.equal(answer.statusCode, 403, answer.body)
    t.match(answer.body, notRecordedYet)
  }
  const { rows } = await test.database.admin.query('SELECT status FROM received_events')
  t.strictSame(rows, [{ status: 'dead' }])
})

t.test('only operators have the pages and the link; admins get a 403 too', async (t) => {
  const { test, open } = await setUp(t)
  await receive(test.database, { id: 'a', status: 'dead' })
  const admin = await createUser(test.database, { role: 'admin' })
  await addIdentity(test, admin.userId, 'ada')
  const other = person(test, (await signIn(test, admin)).cookie)
  const run = '/app/billing/replays/00000000-0000-4000-8000-000000000000'
  for (const url of ['/app/billing', '/app/billing/a', run, `${run}/events`]) {
    t.equal((await other.open(url)).statusCode, 403, url)
    const status = url.endsWith('/events') ? 401 : 302
    t.equal((await test.app.inject({ url, headers: form })).statusCode, status, url)
  }
  for (const url of ['/app/billing/replay', '/app/billing/a/replay']) {
    t.equal((await other.send(url)).statusCode, 403, url)
  }
  t.equal(await replaysOf(test), 0)
  for (const url of ['/', '/app/account', '/app/access', '/app/documents']) {
    t.notMatch((await other.open(url)).body, '/app/billing', url)
    t.match((await open(url)).body, 'href="/app/billing"', `an operator finds it on ${url}`)
  }
  t.equal((await open(`${run}/events`)).statusCode, 404)
})

t.test('events are listed newest first with status, attempts and error, escaped', async (t) => {
  const { test, open } = await setUp(t)
  await receive(test.database, { id: 'one', receivedAt: '2026-11-01T00:00:00Z' })
  await receive(test.database, { id: '<i>&"two/2', type: '<u>', status: 'dead', object: {} })
  await test.database.admin.query(
    `UPDATE received_events SET attempts = 3, last_error = 'no <b>customer</b>', other_bodies = 2
     WHERE status = 'dead'`,
  )
  const { body, statusCode, headers } = await open()
  t.equal(statusCode, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.ok(body.indexOf('two/2') < body.indexOf('>one<'), 'newest first')
  t.match(body, '&lt;i&gt;&amp;&quot;two/2')
  t.match(body, 'No &lt;b&gt;customer&lt;/b&gt;.')
  t.match(body, 'data-label="Attempts">3</td>')
  t.match(body, 'aria-label="1 dead"')
  t.match(body, 'aria-label="0 processed"')
  t.match(body, 'Replay the dead event')
  t.notMatch(body, /<i>|<u>|<b>/)

  const link = /href="(\/app\/billing\/[^"]*two[^"]*)"/.exec(body)?.[1] ?? ''
  const page = await open(link)
  t.equal(page.statusCode, 200, link)
  t.match(page.body, '2 duplicates of this event had a different body.')
  t.match(page.body, '&quot;object&quot;: {}')
  t.notMatch(page.body, /<i>|<u>|<b>/)
  t.equal((await open('/app/billing/none')).statusCode, 404)
})

t.test('the page of an event says whether the app has it', async (t) => {
  const { test, open } = await setUp(t)
  await receive(test.database, { id: 'one', status: 'processed' })
  t.notMatch((await open('/app/billing/one')).body, /posted to the app/i)
  const texts = {
    waiting: 'Not posted to the app yet, after 2 attempts. The app &lt;i&gt;answered 503.',
    failed: 'Not posted to the app: 2 attempts failed. Replay the event to post it again.',
    delivered: 'Posted to the app, after 2 attempts.',
  }
  for (const [forwarding, text] of Object.entries(texts)) {
    await test.database.admin.query(
      `UPDATE received_events SET forwarding = $1, forward_attempts = 2,
         forward_error = CASE WHEN $1 = 'delivered' THEN NULL ELSE 'the app <i>answered 503' END`,
      [forwarding],
    )
    t.ok((await open('/app/billing/one')).body.includes(text), forwarding)
  }
})

t.test('the list is filtered by status and type, and has a link to older events', async (t) => {
  const { test, open } = await setUp(t)
  for (let n = 10; n < 40; n++) await receive(test.database, { id: `evt-${n}`, type: 'a&b' })
  await receive(test.database, { id: 'evt-dead', status: 'dead' })
  const idsOf = (body: string) => [...body.matchAll(/>(evt-\w+)</g)].map(([, id]) => id)
  t.same(idsOf((await open('/app/billing?status=dead&type=')).body), ['evt-dead'])
  t.same(idsOf((await open('/app/billing?status=&type=charge.succeeded')).body), ['evt-dead'])
  const first = (await open('/app/billing?status=recorded&type=a%26b')).body
  const older = /href="([^"]+cursor=[^"]+)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const second = (await open(older)).body
  t.equal(idsOf(first).length, 25)
  t.same(idsOf(second), ['evt-14', 'evt-13', 'evt-12', 'evt-11', 'evt-10'])
  t.notMatch(second, 'rel="next"')
  t.match(second, 'rel="prev"')
  for (const body of [first, second]) t.match(body, '30 in all.')
  t.match((await open('/app/billing?status=dead')).body, '1 in all.')
  await test.database.admin.query(
    `UPDATE received_events SET forwarding = CASE event_id WHEN 'evt-11' THEN 'waiting'
       WHEN 'evt-12' THEN 'failed' WHEN 'evt-13' THEN 'delivered' END`,
  )
  const posted = { waiting: 'evt-11', failed: 'evt-12', delivered: 'evt-13' }
  for (const [forwarding, id] of Object.entries(posted)) {
    const { body } = await open(`/app/billing?status=&type=&forwarding=${forwarding}`)
    t.same(idsOf(body), [id], forwarding)
    t.match(body, `<option value="${forwarding}" selected>`)
  }
  for (const query of ['status=odd', 'forwarding=odd', 'cursor=x']) {
    t.equal((await open(`/app/billing?${query}`)).statusCode, 400, query)
  }
  t.equal((await open('/app/billing?odd=1')).statusCode, 200)
})

t.test('one event or all dead events are replayed; without scripts the page reloads', async (t) => {
  const { test, open, send } = await setUp(t)
  const customer = { object: { customer: 'nobody' } }
  await receive(test.database, { id: 'a', status: 'dead', ...customer })
  await receive(test.database, { id: 'b', status: 'dead', ...customer })
  await receive(test.database, { id: 'old', status: 'processed' })
  await test.database.admin.query(`UPDATE received_events SET body = NULL WHERE event_id = 'old'`)
  t.match((await open('/app/billing/old')).body, 'no longer stored')
  t.equal((await send('/app/billing/old/replay')).statusCode, 409)
  t.equal((await send('/app/billing/none/replay')).statusCode, 404)
  t.equal(await replaysOf(test), 0)

  const one = await send('/app/billing/a/replay')
  t.equal(one.statusCode, 303)
  const all = String((await send('/app/billing/replay')).headers.location)
  const running = await open(all)
  t.match(running.body, '0 of 2 events replayed')
  t.match(running.body, '<noscript><meta http-equiv="refresh" content="2"></noscript>')
  t.match(running.body, `data-follow="${all}/events"`)
  t.match(running.headers['content-security-policy'], /connect-src 'self'/)

  const worker = await startWorker(test.config, createLogger('silent'))
  t.teardown(() => worker.stop())
  for (const place of [String(one.headers.location), all]) {
    await untilTrue(async () => !(await open(place)).body.includes('http-equiv="refresh"'))
  }
  const words = 'Done: 2 of 2 events replayed, 2 failed again.'
  t.match((await open(all)).body, words)
  const { headers, body } = await open(`${all}/events`)
  t.equal(headers['content-type'], 'text/event-stream')
  const data = { value: 2, max: 2, words, isLast: true }
  t.equal(body, `event: progress\ndata: ${JSON.stringify(data)}\n\n`)
  t.equal((await open('/app/billing/replays/x')).statusCode, 400)
})

t.test('a cross-site form is refused', async (t) => {
  const { test, send } = await setUp(t)
  await receive(test.database, { id: 'a', status: 'dead' })
  for (const url of ['/app/billing/replay', '/app/billing/a/replay']) {
    t.equal((await send(url, { 'sec-fetch-site': 'cross-site' })).statusCode, 403, url)
  }
  t.equal(await replaysOf(test), 0)
})

t.test(
  'a body is indented if only whitespace changes, otherwise shown as received; long ones are cut',
  async (t) => {
    t.equal(indentJson('{"a" : [1, "x  y"]}'), '{\n  "a": [\n    1,\n    "x  y"\n  ]\n}')
    for (const raw of ['{"a":12345678901234567890}', '{"a":1,"a":2}', '{"a":1.0}', '{', 'text']) {
      t.equal(indentJson(raw), raw)
    }
    const { test, open } = await setUp(t)
    await receive(test.database, { id: 'long', object: { text: 'x'.repeat(30_000) } })
    const { body } = await open('/app/billing/long')
    t.match(body, /The first 20,000 of 30,\d{3} characters\./)
    t.notMatch(body, 'x'.repeat(20_001))
    t.ok(body.length < 30_000, 'the page is smaller than the event')
  },
)

t.test('a dead event has a form to dismiss it, and then shows the reason, escaped', async (t) => {
  const { test, cookie, open } = await setUp(t)
  await receive(test.database, { id: 'evt/1', status: 'dead' })
  const url = '/app/billing/evt%2F1'
  const page = await open(url)
  t.match(page.body, `action="${url}/dismiss"`)
  const submission = /dismiss">.*?name="submission" value="([^"]+)"/s.exec(page.body)?.[1]
  const submit = () =>
    test.app.inject({
      method: 'POST',
      url: `${url}/dismiss`,
      headers: { ...form, cookie },
      payload: new URLSearchParams({
        submission: String(submission),
        reason: '<b>test</b>',
      }).toString(),
    })
  for (const time of ['first', 'second']) {
    const { statusCode, headers } = await submit()
    t.match({ statusCode, location: headers.location }, { statusCode: 303, location: url }, time)
  }
  const after = (await open(url)).body
  t.match(after, 'Reason: &lt;b&gt;test&lt;/b&gt;')
  t.notMatch(after, '/dismiss"', 'it cannot be dismissed again')
  t.match((await open('/app/billing?status=dismissed')).body, 'evt/1')
})

t.test('the page shows what the last check of the ledger did not account for', async (t) => {
  const { test, open } = await setUp(t)
  t.match((await open()).body, 'has not been checked yet.')
  const check = (unaccounted: number, kinds: object) =>
    test.database.admin.query(
      `INSERT INTO ledger_checks (unaccounted, kinds, open_hours, checked_to)
       VALUES ($1, $2, '{}', now())`,
      [unaccounted, JSON.stringify(kinds)],
    )
  await check(0, {})
  t.match((await open()).body, 'unaccounted: 0, of all events and deliveries')
  await check(2, { 'event-without-job': 2 })
  t.match((await open()).body, 'unaccounted: 2 (2 event-without-job)')
})

t.test('the flow shows what became of the events, and the age of the oldest', async (t) => {
  const { test, open } = await setUp(t)
  const empty = (await open()).body
  t.match(empty, 'No data: no event has been received.')
  await receive(test.database, { id: 'a', status: 'dead' })
  await receive(test.database, { id: 'b', status: 'processed' })
  await receive(test.database, { id: 'c', status: 'processed' })
  await test.database.admin.query(
    `UPDATE received_events SET received_at = now() - interval '3 hours' WHERE event_id <> 'c'`,
  )
  const { body } = await open()
  const [, flow = ''] = /<figure class="chart flow">(.*?)<\/figure>/s.exec(body) ?? []
  t.match(flow, /aria-label="1 dead">1<\/a> <span[^>]*>dead<\/span> <span[^>]*>oldest 3 h</)
  t.match(flow, /aria-label="2 processed">2<\/a> <span[^>]*>processed<\/span><\/li>/)
  t.match(flow, /aria-label="0 failed">0<\/a> <span[^>]*>failed<\/span><\/li>/)
  t.equal(flow.match(/<path /g)?.length, 2, 'no line for nothing')
  t.match(flow, /<summary>Show as a table<\/summary><table/)
})
