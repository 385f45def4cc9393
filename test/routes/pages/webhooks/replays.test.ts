import t from 'tap'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { createReplayOf } from '#test/support/callers/webhook-admin.ts'
import { createDelivery, exhaustedDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

async function withReplay(app: TestApp) {
  const visitors = await webhookVisitors(app)
  const { test, one } = visitors
  const endpointId = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/' })
  const replayId = await createReplayOf(test.database, one, endpointId)
  const progress = (done: number, finished: boolean) =>
    test.database.admin.query(
      'UPDATE endpoint_replays SET total = 300, done = $1, finished_at = $2',
      [done, finished ? new Date() : null],
    )
  await progress(120, false)
  return {
    ...visitors,
    endpointId,
    path: `/app/webhooks/${endpointId}/replays/${replayId}`,
    progress,
  }
}

t.test('a running replay shows its progress, with and without scripts', async (t) => {
  const { test, one, admin, path, endpointId, progress } = await withReplay(shared)
  const { body, headers } = await admin.open(path)
  t.match(body, /<progress[^>]* max="300" value="120">/)
  t.match(body, '120 of 300 deliveries scheduled')
  t.match(body, 'The outcome is shown when all deliveries are scheduled')
  t.notMatch(body, 'id="outcome"')
  t.match(body, '<noscript><meta http-equiv="refresh" content="2"></noscript>')
  t.match(body, /<script src="\/assets\/gatehouse\.js\?v=\w+" defer blocking="render"><\/script>/)
  const policy = String(headers['content-security-policy'])
  t.match(policy, /script-src 'self'/)
  t.match(policy, /connect-src 'self'/)
  t.notMatch(policy, /unsafe/)
  t.equal(policy.split('connect-src').length, 2, 'once')

  await progress(290, true)
  const { tenantId } = one
  await createDelivery(test.database, { tenantId, endpointId, attempts: 0 })
  await test.database.admin.query(
    `UPDATE deliveries SET series = 1;
     UPDATE endpoint_replays SET replay_to = now() + interval '1 minute'`,
  )
  const finished = (await admin.open(path)).body
  t.match(finished, 'Done: 290 of 300 deliveries scheduled.')
  t.match(finished, /<h2 id="outcome">Outcome<\/h2>[\s\S]*<dt>Failed<\/dt><dd>1<\/dd>/)
  t.notMatch(finished, /refresh|<script(?! src="\/assets\/)|data-follow/)
})

t.test('the event stream of a replay ends when the replay is finished', async (t) => {
  const { admin, path, progress } = await withReplay(shared)
  await progress(300, true)
  const { statusCode, headers, body } = await admin.open(`${path}/events`)
  t.equal(statusCode, 200)
  t.equal(headers['content-type'], 'text/event-stream')
  const data = {
    value: 300,
    max: 300,
    words: 'Done: 300 of 300 deliveries scheduled.',
    isLast: true,
  }
  t.equal(body, `event: progress\ndata: ${JSON.stringify(data)}\n\n`)
})

t.test('a replay of another tenant and its event stream are a 404', async (t) => {
  const { test, stranger, viewer, path } = await withReplay(shared)
  for (const url of [path, `${path}/events`]) {
    t.equal((await stranger.open(url)).statusCode, 404)
    t.equal((await viewer.open(url)).statusCode, 403)
    const status = url === path ? 302 : 401
    const anyone = { url, headers: { accept: 'text/html' } }
    t.equal((await test.app.inject(anyone)).statusCode, status)
  }
})

t.test('event streams are live, limited in number, and do not delay a stop', async (t) => {
  const { test, admin, path, progress } = await withReplay(await build(t))
  const address = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const follow = () => fetch(`${address}${path}/events`, { headers: { cookie: admin.cookie } })
  const open = await Promise.all(Array.from({ length: 8 }, follow))
  t.equal((await follow()).status, 429)
  const [first, ...others] = open
  const reader = first?.body?.getReader()
  const next = async () => new TextDecoder().decode((await reader?.read())?.value)
  t.match(await next(), '"value":120')
  await progress(200, false)
  let seen = ''
  while (!seen.includes('"value":200')) seen = await next()
  await test.app.close()
  for (const response of others) t.match(await response.text(), /^(event: progress\n.*\n\n)+$/)
})

t.test('an event stream ends when its session ends, or the right to the replay', async (t) => {
  const { test, one, admin, path } = await withReplay(await build(t))
  const { admin: database } = test.database
  const address = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const changes: [string, string][] = [
    ['demoted', `UPDATE memberships SET role = 'viewer' WHERE user_id = $1`],
    ['signed out', 'DELETE FROM sessions WHERE user_id = $1'],
  ]
  for (const [name, change] of changes) {
    await database.query(`UPDATE memberships SET role = 'admin' WHERE user_id = $1`, [one.userId])
    const headers = { cookie: admin.cookie }
    const response = await fetch(`${address}${path}/events`, { headers })
    t.equal(response.status, 200)
    await database.query(change, [one.userId])
    const text = await response.text()
    t.match(text, /^(event: progress\n.*\n\n)+$/, name)
    t.notMatch(text, /"isLast":true/, name)
    t.ok(text.split('event: ').length < 6, `${name}: long before the limit of a stream`)
  }
})

/** An endpoint with five failed deliveries, one a day. */
async function withDeliveries() {
  const visitors = await webhookVisitors(await build(t))
  const { database } = visitors.test
  const endpointId = await createEndpoint(database, visitors.one, { url: 'https://8.8.8.8/' })
  const ids: string[] = []
  for (let number = 1; number <= 5; number += 1) {
    const createdAt = `2026-01-0${number}T00:00:00.000Z`
    ids.push(await createDelivery(database, { ...visitors.one, endpointId, createdAt }))
  }
  return { ...visitors, ids, path: `/app/webhooks/${endpointId}` }
}

/** The fields of the form that confirms a replay. */
function confirmation(body: string): string[][] {
  const [, form = ''] =
    /<form method="post" action="[^"]*\/replays">(.*?)<\/form>/s.exec(body) ?? []
  return [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
    ([, name = '', value = '']) => [name, value],
  )
}

t.test('the number is shown before anything is sent; then exactly these are', async (t) => {
  const { test, admin, ids, path } = await withDeliveries()
  const custom = 'from=2026-01-02T00:00&to=2026-01-04T00:00&status=exhausted'
  const review = await admin.open(`${path}/replays/new?${custom}&httpStatus=5xx&eventType=`)
  t.equal(review.statusCode, 200)
  t.match(review.body, '<h1>Replay 2 deliveries?</h1>')
  const { rowCount } = await test.database.admin.query('SELECT FROM endpoint_replays')
  t.equal(rowCount, 0, 'nothing was started')
  const fields = confirmation(review.body)
  const started = await admin.send(`${path}/replays`, fields)
  t.match(started.headers.location, new RegExp(`^${path}/replays/[\\w-]{36}$`))
  const again = await admin.send(`${path}/replays`, fields)
  t.equal(again.headers.location, started.headers.location, 'the form counts once')
  const progress = (await admin.open(String(started.headers.location))).body
  t.match(progress, '0 of 2 deliveries scheduled')
  t.match(progress, 'status failed, HTTP status 5xx')

  const rows = `delivery=${ids[0]}&delivery=${ids[4]}&rows=selected`
  const selected = await admin.open(`${path}/replays/new?${rows}`)
  t.match(selected.body, '<h1>Replay 2 deliveries?</h1>')
  const two = await admin.send(`${path}/replays`, confirmation(selected.body))
  t.equal(two.statusCode, 303)
  const { rows: stored } = await test.database.admin.query(
    'SELECT delivery_ids FROM endpoint_replays ORDER BY created_at DESC LIMIT 1',
  )
  t.same(stored[0].delivery_ids, [ids[0], ids[4]])
})

t.test('nothing selected and nothing found offer nothing to send', async (t) => {
  const { admin, path } = await withDeliveries()
  for (const query of ['rows=selected', 'httpStatus=302', 'range=hour']) {
    const { body } = await admin.open(`${path}/replays/new?${query}`)
    t.match(body, 'No delivery matches', query)
    t.same(confirmation(body), [], query)
  }
})

t.test('a range that is none is explained, and what was typed is kept', async (t) => {
  const { admin, path } = await withDeliveries()
  const own = { from: '2026-01-01T00:00', to: '2026-01-02T00:00' }
  for (const bad of [{ from: '' }, { to: '' }, { to: own.from }, { to: '2026-05-01T00:00' }]) {
    const query = new URLSearchParams({ ...own, ...bad, range: 'hour', status: '' })
    const { statusCode, body } = await admin.open(`${path}/replays/new?${query.toString()}`)
    t.equal(statusCode, 400)
    t.match(body, 'Enter a start and a later end')
    t.match(body, /<details open>\s*<summary>Custom range/)
  }
  for (const bad of ['from=2026', 'range=year', 'delivery=x', 'event=%00', 'httpStatus=4x']) {
    t.equal((await admin.open(`${path}/replays/new?${bad}`)).statusCode, 400, bad)
  }
  for (const bad of [{}, { from: '2026-01-01T00:00:00Z' }, { delivery: 'x' }]) {
    t.equal((await admin.submit(`${path}/replays`, bad)).statusCode, 400, JSON.stringify(bad))
  }
})

t.test('deliveries of another tenant or endpoint are neither counted nor sent', async (t) => {
  const { test, one, other, admin, ids, path } = await withDeliveries()
  const foreign = await exhaustedDelivery(test.database, other)
  const elsewhere = await exhaustedDelivery(test.database, one)
  for (const { id } of [foreign, elsewhere]) {
    const rows = `delivery=${ids[0]}&delivery=${id}&rows=selected`
    const { body } = await admin.open(`${path}/replays/new?${rows}`)
    t.match(body, '<h1>Replay 1 delivery?</h1>')
    const sent = await admin.send(`${path}/replays`, confirmation(body))
    t.equal(sent.statusCode, 404, 'a selection is sent as a whole or not at all')
  }
  const { rowCount } = await test.database.admin.query('SELECT FROM endpoint_replays')
  t.equal(rowCount, 0)
})

t.test('a disabled endpoint and too many replays are explained', async (t) => {
  const { test, one, admin, path } = await withDeliveries()
  const { body } = await admin.open(`${path}/replays/new`)
  const endpointId = path.split('/').at(-1) ?? ''
  for (let open = 0; open < 2; open++) await createReplayOf(test.database, one, endpointId)
  const fields = confirmation(body)
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const tooMany = await admin.submit(`${path}/replays`, range)
  t.equal(tooMany.statusCode, 429)
  t.ok(tooMany.headers['retry-after'])
  t.match(tooMany.body, 'Too many replays are in progress')
  await test.database.admin.query(
    `UPDATE endpoint_states SET status = 'disabled', disabled_at = now()`,
  )
  const refused = await admin.submit(`${path}/replays`, range)
  t.equal(refused.statusCode, 409)
  t.match(refused.body, 'The endpoint is disabled, so nothing was replayed')
  const review = await admin.open(`${path}/replays/new?from=2026-01-01T00:00&to=2026-01-03T00:00`)
  t.match(review.body, 'Enable the endpoint</a> first')
  t.same(confirmation(review.body), [])
  t.same(fields, [], 'the default range has no deliveries')
})

t.test('a replay is cancelled while it runs, by those who may start one', async (t) => {
  const { admin, viewer, stranger, path } = await withReplay(shared)
  t.match((await admin.open(path)).body, `action="${path}/cancel"`)
  t.equal((await viewer.send(`${path}/cancel`)).statusCode, 403)
  t.equal((await stranger.send(`${path}/cancel`)).statusCode, 404)
  const { body } = await admin.open(path)
  t.match(body, '120 of 300 deliveries scheduled<', 'it still runs')
  const cancelled = await admin.send(`${path}/cancel`)
  t.equal(cancelled.headers.location, path)
  const after = (await admin.open(path)).body
  t.match(after, 'Cancelled: 120 of 300 deliveries scheduled. The rest is not sent.')
  t.notMatch(after, '/cancel"')
})
