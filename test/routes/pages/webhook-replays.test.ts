import t from 'tap'
import { webhookVisitors } from '#test/pages/webhook-visitors.ts'
import { createReplayOf } from '#test/support/webhook-admin.ts'
import { createEndpoint } from '#test/support/webhook-endpoint.ts'

async function withReplay(t: Parameters<typeof webhookVisitors>[0]) {
  const visitors = await webhookVisitors(t)
  const { test, one } = visitors
  const endpointId = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/' })
  const replayId = await createReplayOf(test.database, one, endpointId)
  const progress = (done: number, finished: boolean) =>
    test.database.admin.query(
      `UPDATE endpoint_replays SET total = 300, done = $1, finished_at = CASE WHEN $2 THEN now() END`,
      [done, finished],
    )
  await progress(120, false)
  return { ...visitors, path: `/app/webhooks/${endpointId}/replays/${replayId}`, progress }
}

t.test('a running replay shows its progress, with and without scripts', async (t) => {
  const { admin, path, progress } = await withReplay(t)
  const { body, headers } = await admin.open(path)
  t.match(body, /<progress[^>]* max="300" value="120">/)
  t.match(body, '120 of 300 deliveries scheduled')
  t.match(body, '<noscript><meta http-equiv="refresh" content="2"></noscript>')
  t.match(body, /<script src="\/assets\/gatehouse\.js\?v=\w+" defer><\/script>/)
  const policy = String(headers['content-security-policy'])
  t.match(policy, /script-src 'self'/)
  t.match(policy, /connect-src 'self'/)
  t.notMatch(policy, /unsafe/)
  const list = String((await admin.open('/app/webhooks')).headers['content-security-policy'])
  t.match(list, /script-src 'self'/)
  t.notMatch(list, /connect-src/, 'only a page that follows something sends requests')

  await progress(290, true)
  const finished = (await admin.open(path)).body
  t.match(finished, 'Done: 290 of 300 deliveries scheduled.')
  t.notMatch(finished, /refresh|<script(?! src="\/assets\/)|data-follow/)
})

t.test('the event stream of a replay ends when the replay is finished', async (t) => {
  const { admin, path, progress } = await withReplay(t)
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
  const { test, stranger, viewer, path } = await withReplay(t)
  for (const url of [path, `${path}/events`]) {
    t.equal((await stranger.open(url)).statusCode, 404)
    t.equal((await viewer.open(url)).statusCode, 403)
    const status = url === path ? 302 : 401
    const anyone = { url, headers: { accept: 'text/html' } }
    t.equal((await test.app.inject(anyone)).statusCode, status)
  }
})

t.test('event streams are live, limited in number, and do not delay a stop', async (t) => {
  const { test, admin, path, progress } = await withReplay(t)
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
  const { test, one, admin, path } = await withReplay(t)
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
