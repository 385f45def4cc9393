import t from 'tap'
import { maxEndpoints } from '#src/webhooks/endpoints/endpoints.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins, url } from '#test/support/callers/webhook-admin.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const members = [
  'createdAt',
  'description',
  'disabledAt',
  'eventTypes',
  'failingSince',
  'forecasts',
  'health',
  'id',
  'pausedAt',
  'payload',
  'rateLimit',
  'recoverWhenDisabled',
  'signature',
  'status',
  'url',
]

t.test('an endpoint is created, read, listed, changed and deleted', async (t) => {
  const { send } = await twoAdmins(shared)
  const created = await send('POST', '/webhook-endpoints', { url, description: 'Orders' })
  t.equal(created.statusCode, 201)
  t.equal(created.headers['cache-control'], 'no-store')
  const { secret, ...endpoint } = created.json()
  t.strictSame(Object.keys(endpoint).toSorted(), members)
  t.match(endpoint, {
    url,
    description: 'Orders',
    eventTypes: null,
    signature: 'spec',
    rateLimit: null,
    payload: 'full',
    recoverWhenDisabled: false,
    status: 'active',
    failingSince: null,
    disabledAt: null,
    forecasts: [],
    health: { state: 'healthy', since: endpoint.createdAt, reason: null, retrying: 0 },
  })
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)

  const one = `/webhook-endpoints/${endpoint.id}`
  const read = await send('GET', one)
  t.equal(read.statusCode, 200)
  t.strictSame(read.json(), endpoint)
  const list = await send('GET', '/webhook-endpoints')
  t.strictSame(list.json(), { data: [endpoint], nextCursor: null })

  const eventTypes = ['order.updated', 'invoice.created']
  const changed = await send('PATCH', one, { eventTypes, signature: 'both' })
  t.equal(changed.statusCode, 200)
  t.strictSame(changed.json(), { ...endpoint, eventTypes, signature: 'both' })
  const again = await send('PATCH', one, { eventTypes: null, description: null, url: `${url}/2` })
  t.strictSame(again.json(), {
    ...endpoint,
    eventTypes: null,
    signature: 'both',
    description: null,
    url: `${url}/2`,
  })

  const deleted = await send('DELETE', one)
  t.equal(deleted.statusCode, 204)
  t.equal(deleted.body, '')
  t.equal((await send('GET', one)).statusCode, 404)
  t.equal((await send('DELETE', one)).statusCode, 404)
})

t.test('an endpoint may have a rate limit and a thin payload', async (t) => {
  const { send } = await twoAdmins(shared)
  const limits = { rateLimit: { perSecond: 5 }, payload: 'thin' }
  const made = (await send('POST', '/webhook-endpoints', { url, ...limits })).json()
  t.match(made, { rateLimit: { perSecond: 5, burst: 1 }, payload: 'thin' })
  const one = `/webhook-endpoints/${made.id}`
  const rateLimit = { perSecond: 1_000, burst: 20 }
  t.match((await send('PATCH', one, { rateLimit })).json(), { rateLimit, payload: 'thin' })
  const without = await send('PATCH', one, { rateLimit: null, payload: 'full' })
  t.match(without.json(), { rateLimit: null, payload: 'full' })
  for (const odd of [{ perSecond: 0 }, { perSecond: 1_001 }, { burst: 1 }, { perSecond: 0.5 }, 1]) {
    t.equal((await send('PATCH', one, { rateLimit: odd })).statusCode, 400, JSON.stringify(odd))
  }
  t.equal((await send('PATCH', one, { payload: 'none' })).statusCode, 400)
})

t.test('the default profile comes from the settings', async (t) => {
  const { send } = await twoAdmins(await build(t, { OUTBOUND_SIGNATURE: 'standard' }))
  t.equal((await send('POST', '/webhook-endpoints', { url })).json().signature, 'standard')
})

t.test('only listed fields with valid values are accepted', async (t) => {
  const { send } = await twoAdmins(shared)
  const { id } = (await send('POST', '/webhook-endpoints', { url })).json()
  const fields = {
    id,
    tenantId: id,
    status: 'active',
    secret: 'whsec_x',
    previousSecret: 'whsec_x',
    createdAt: '2026-01-01T00:00:00Z',
    failingSince: null,
    disabledAt: null,
    enabledAt: '2026-01-01T00:00:00Z',
    headers: {},
    eventType: 'order.updated',
  }
  for (const [name, value] of Object.entries(fields)) {
    const body = { url, [name]: value }
    t.equal((await send('POST', '/webhook-endpoints', body)).statusCode, 400, `create ${name}`)
    const change = await send('PATCH', `/webhook-endpoints/${id}`, body)
    t.equal(change.statusCode, 400, `change ${name}`)
  }
  const wrong = [
    { eventTypes: [] },
    { eventTypes: ['order.created'] },
    { eventTypes: ['order.updated', 'order.updated'] },
    { eventTypes: 'order.updated' },
    { eventTypes: [null] },
    { signature: 'none' },
    { signature: null },
    { description: 'x'.repeat(501) },
    { description: '' },
    { description: 'a\u0000b' },
    { description: 5 },
    { url: null },
    { url: '' },
    { url: 5 },
  ]
  for (const body of wrong) {
    const name = JSON.stringify(body)
    t.equal((await send('POST', '/webhook-endpoints', { url, ...body })).statusCode, 400, name)
    t.equal((await send('PATCH', `/webhook-endpoints/${id}`, body)).statusCode, 400, name)
  }
  t.equal((await send('PATCH', `/webhook-endpoints/${id}`, {})).statusCode, 400, 'no change')
  t.equal((await send('POST', '/webhook-endpoints', {})).statusCode, 400, 'no url')
  const { data } = (await send('GET', '/webhook-endpoints')).json()
  t.equal(data.length, 1)
  t.match(data[0], { url, description: null, eventTypes: null })
})

t.test(
  'a URL is 400 with the rule that it broke; every refused host is the same 400',
  async (t) => {
    const { test, send } = await twoAdmins(await build(t, {}, { production: true }))
    const own = (await send('POST', '/webhook-endpoints', { url })).json()
    const byForm = {
      'must start with https://': ['http://8.8.8.8/', 'ftp://8.8.8.8/', 'javascript:alert(1)'],
      'must have port 443 or 8443': ['https://8.8.8.8:5432/'],
      'must not have a user name or password': ['https://user:pass@8.8.8.8/'],
      'must not have a fragment (#…)': ['https://8.8.8.8/#x'],
      'must be an absolute URL': ['not a url', 'https://8.8.8.8/a b'],
    }
    const hosts = [
      ...['https://127.0.0.1/', 'https://[::1]/', 'https://10.1.2.3/', 'https://0x7f.1/'],
      ...['https://169.254.169.254/latest/meta-data/', 'https://2130706433/'],
      ...['https://[::ffff:10.0.0.1]/', 'https://localhost/', 'https://db.internal/'],
      ...['https://intranet/', 'https://no-such-name.invalid/'],
    ]
    const ask = async (bad: string) => {
      const created = await send('POST', '/webhook-endpoints', { url: bad })
      const changed = await send('PATCH', `/webhook-endpoints/${own.id}`, { url: bad })
      t.strictSame([created.statusCode, changed.statusCode], [400, 400], bad)
      return [created, changed].map(({ body }) => body.replace(/"instance":"[^"]+"/, ''))
    }
    for (const [rule, urls] of Object.entries(byForm)) {
      for (const bad of urls) {
        for (const body of await ask(bad)) {
          t.ok(body.includes(`"detail":"The URL ${rule}`), bad)
          t.ok(body.includes(`"errors":[{"in":"body","pointer":"/url","detail":"${rule}`), bad)
        }
      }
    }
    const answers = new Set<string>()
    for (const bad of hosts) for (const body of await ask(bad)) answers.add(body)
    t.equal(answers.size, 1)
    t.match([...answers][0], 'The URL must have a host that is reachable from the public Internet.')
    const local = await ask('http://localhost:4000/')
    t.notMatch([...answers, ...local].join(), 'OUTBOUND_ALLOW', 'no setting of the operator')
    t.equal((await send('GET', `/webhook-endpoints/${own.id}`)).json().url, url)
    const logged = test.log.filter((line) => line.includes('endpoint URL refused'))
    const refused = [...Object.values(byForm).flat(), ...hosts, 'http://localhost:4000/']
    t.equal(logged.length, refused.length * 2, 'the operator sees why')
    t.match(logged.join(), /"reason":"scheme"/)
  },
)

t.test('outside production a refused local URL names the setting that allows it', async (t) => {
  const { send } = await twoAdmins(shared)
  const detailOf = async (bad: string) => {
    const answer = await send('POST', '/webhook-endpoints', { url: bad })
    t.match(answer.json(), { status: 400, errors: [{ pointer: '/url' }] }, bad)
    return String(answer.json().detail)
  }
  const local = {
    'http://localhost:4000/hook': 'localhost:4000',
    'https://LOCALHOST/': 'localhost:443',
    'http://10.0.0.1/': '10.0.0.1:80',
    'http://[::1]:4000/': '[::1]:4000',
    'http://receiver:8080/': 'receiver:8080',
  }
  for (const [bad, pair] of Object.entries(local)) {
    t.ok((await detailOf(bad)).endsWith(` start Gatehouse again with OUTBOUND_ALLOW=${pair}.`), bad)
  }
  const allowing = await twoAdmins(await build(t, { OUTBOUND_ALLOW: Object.values(local).join() }))
  for (const bad of Object.keys(local)) {
    const made = await allowing.send('POST', '/webhook-endpoints', { url: bad })
    // The name of the last one has no address here.
    t.equal(made.statusCode, bad.includes('receiver') ? 400 : 201, `${bad} with the setting`)
    t.notMatch(made.body, 'OUTBOUND_ALLOW')
  }
  const others = ['http://8.8.8.8/', 'ftp://localhost/', 'http://a:b@localhost/', 'no url']
  for (const bad of others) t.notMatch(await detailOf(bad), 'OUTBOUND_ALLOW', bad)
})

t.test('a receiver in OUTBOUND_ALLOW may have any address', async (t) => {
  const { send } = await twoAdmins(await build(t, { OUTBOUND_ALLOW: '127.0.0.1:4999' }))
  const local = { url: 'http://127.0.0.1:4999/hook' }
  t.equal((await send('POST', '/webhook-endpoints', local)).statusCode, 201)
  const next = { url: 'http://127.0.0.1:4998/hook' }
  t.equal((await send('POST', '/webhook-endpoints', next)).statusCode, 400)
})

t.test('a tenant has at most 50 endpoints, even with requests at once', async (t) => {
  const { test, one, send, sendAsOther } = await twoAdmins(shared)
  for (let number = 1; number < maxEndpoints; number += 1) {
    await createEndpoint(test.database, one, { url })
  }
  const answers = await Promise.all(
    [1, 2, 3].map((n) => send('POST', '/webhook-endpoints', { url: `${url}/${n}` })),
  )
  t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [201, 409, 409])
  const full = answers.find(({ statusCode }) => statusCode === 409)
  t.equal(full?.json().detail, 'A tenant has at most 50 endpoints.')
  t.equal((await sendAsOther('POST', '/webhook-endpoints', { url })).statusCode, 201)
})

t.test('a tenant has a URL once, also with requests at once and after a change', async (t) => {
  const { send, sendAsOther } = await twoAdmins(shared)
  const create = (wanted: string) => send('POST', '/webhook-endpoints', { url: wanted })
  const answers = await Promise.all([
    create(url),
    create(url),
    create(url.replace('https:', 'HTTPS:')),
  ])
  t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [201, 409, 409])
  const taken = answers.find(({ statusCode }) => statusCode === 409)
  t.equal(taken?.json().detail, 'Another endpoint of the tenant has this URL.')
  t.equal((await sendAsOther('POST', '/webhook-endpoints', { url })).statusCode, 201)

  const { id } = (await create(`${url}/2`)).json()
  const change = (wanted: string) => send('PATCH', `/webhook-endpoints/${id}`, { url: wanted })
  t.equal((await change(url)).statusCode, 409)
  t.equal((await change(`${url}/2`)).statusCode, 200, 'its own URL')
  t.equal((await change(`${url}/3`)).statusCode, 200)
})

t.test('the list is newest first and paged, without gaps or repeats', async (t) => {
  const { test, one, other, send, sendAsOther } = await twoAdmins(shared)
  for (let number = 0; number < 7; number += 1) await createEndpoint(test.database, one, { url })
  await createEndpoint(test.database, other, { url })
  // All have the same time: the id orders them.
  await test.database.admin.query(`UPDATE webhook_endpoints SET created_at = '2026-01-01'`)
  const whole = (await send('GET', '/webhook-endpoints')).json().data
  t.equal(whole.length, 7)
  const seen: string[] = []
  let cursor = ''
  do {
    const page = (await send('GET', `/webhook-endpoints?limit=3${cursor}`)).json()
    seen.push(...page.data.map(({ id }: { id: string }) => id))
    cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`
    if (seen.length === 3) await createEndpoint(test.database, one, { url })
  } while (cursor !== '')
  t.strictSame(
    seen,
    whole.map(({ id }: { id: string }) => id),
  )
  const first = (await send('GET', '/webhook-endpoints?limit=3')).json()
  const borrowed = await sendAsOther('GET', `/webhook-endpoints?cursor=${first.nextCursor}`)
  t.ok(borrowed.json().data.length <= 1, 'a cursor grants no access')
})
