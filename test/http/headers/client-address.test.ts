import { readdirSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { clientAddressOf, networkOf, normalizeAddress } from '#src/http/headers/client-address.ts'
import {
  buildWithProvider,
  type Journey,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

/** Texts of `X-Forwarded-For` and of sockets, each with the address it means. */
const texts: [text: string | undefined, address: string | null, network: string | null][] = [
  ['203.0.113.9', '203.0.113.9', '203.0.113.0/24'],
  ['203.0.113.9:40017', '203.0.113.9', '203.0.113.0/24'],
  ['203.0.113.9:', '203.0.113.9', '203.0.113.0/24'],
  ['  203.0.113.9\t', '203.0.113.9', '203.0.113.0/24'],
  ['"203.0.113.9:40017"', '203.0.113.9', '203.0.113.0/24'],
  ['[203.0.113.9]:40017', '203.0.113.9', '203.0.113.0/24'],
  ['::ffff:203.0.113.9', '203.0.113.9', '203.0.113.0/24'],
  ['::FFFF:CB00:7109', '203.0.113.9', '203.0.113.0/24'],
  ['[::ffff:203.0.113.9]:40017', '203.0.113.9', '203.0.113.0/24'],
  ['2001:db8::1', '2001:db8::1', '2001:db8::/48'],
  ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1', '2001:db8::/48'],
  ['[2001:db8::1]', '2001:db8::1', '2001:db8::/48'],
  ['[2001:DB8::1]:40017', '2001:db8::1', '2001:db8::/48'],
  ['"[2001:db8::1]:40017"', '2001:db8::1', '2001:db8::/48'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['fe80::1%eth0', 'fe80::1', 'fe80::/48'],
  ['[fe80::1%eth0]:40017', 'fe80::1', 'fe80::/48'],
  ['unknown', null, null],
  ['_hidden', null, null],
  ['client.example', null, null],
  ['203.0.113.256', null, null],
  ['203.0.113.9:40017:1', null, null],
  ['203.0.113.9 203.0.113.10', null, null],
  ['<script>', null, null],
  ['', null, null],
  [undefined, null, null],
]

t.test('every way to write an address is one address, and everything else is none', async (t) => {
  for (const [text, address, network] of texts) {
    t.equal(normalizeAddress(text), address, JSON.stringify(text))
    t.equal(address && networkOf(address), network, `the network of ${text}`)
  }
})

t.test('the client is the outermost hop that is an address', async (t) => {
  t.equal(clientAddressOf({ ip: '::ffff:192.0.2.1' }), '192.0.2.1')
  t.equal(clientAddressOf({ ips: ['10.0.0.1', '203.0.113.9:1'] }), '203.0.113.9')
  t.equal(clientAddressOf({ ips: ['10.0.0.1', '10.0.0.2:80', 'unknown'] }), '10.0.0.2')
  t.equal(clientAddressOf({ ips: ['10.0.0.1', ''] }), '10.0.0.1')
  t.equal(clientAddressOf({ ip: undefined }), 'unknown', 'of a connection that is gone')
})

t.test('no other file reads the address of a request', async (t) => {
  const folders = ['src', 'plugins', 'routes']
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  const readers = files
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => /request\.ip\b|this\.ip\b|remoteAddress/.test(readFileSync(file, 'utf8')))
  t.strictSame(readers.sort(), [
    'plugins/http/parser-answers.ts',
    'plugins/limits/connection-limit.ts',
    'src/webhooks/client/connection.ts',
  ])
})

/** Requests of one client through two proxies, which write down its address in different ways. */
const forwarded = [
  '203.0.113.9',
  '203.0.113.9:40017',
  '203.0.113.9:40018',
  '[::ffff:203.0.113.9]:40019',
  '203.0.113.9:40020, 10.0.0.7',
  ' 203.0.113.9 ,10.0.0.7:51000',
  '198.51.100.1, 203.0.113.9:40021, [::ffff:10.0.0.7]:443',
]

const behindProxies = { TRUST_PROXY: '127.0.0.1, 10.0.0.0/16' }

async function statusesOf(
  t: Test,
  url: string,
  settings: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const { app } = await buildWithProvider(t, { ...behindProxies, ...settings })
  const statuses: number[] = []
  for (const address of forwarded) {
    const { statusCode } = await app.inject({
      method: url.startsWith('/webhooks/') ? 'POST' : 'GET',
      url,
      headers: { ...headers, 'x-forwarded-for': address },
    })
    statuses.push(statusCode)
  }
  const other = { ...headers, 'x-forwarded-for': '203.0.113.10:40017, 10.0.0.7:1' }
  const { statusCode } = await app.inject({ url: '/auth/login', headers: other })
  t.equal(statusCode, 302, 'another address has a count of its own')
  return statuses
}

t.test('a port is not another address: limits per address hold', async (t) => {
  const two = '2/60'
  const left = forwarded.slice(2).map(() => 429)
  t.strictSame(
    await statusesOf(t, '/auth/login', { RATE_LIMIT_SIGN_IN: two }),
    [302, 302, ...left],
    'sign-in',
  )
  t.strictSame(
    await statusesOf(t, '/webhooks/billing', { RATE_LIMIT_WEBHOOKS: two }),
    [400, 400, ...left],
    'webhooks',
  )
  t.strictSame(
    await statusesOf(t, '/unknown', { RATE_LIMIT_API: two }),
    [404, 404, ...left],
    'unknown paths',
  )
})

t.test('made-up tokens from one address with many ports are limited', async (t) => {
  const { app } = await buildWithProvider(t, { ...behindProxies, RATE_LIMIT_API: '2/60' })
  const statuses: number[] = []
  for (const [index, address] of forwarded.entries()) {
    const authorization = `Bearer gh_${String(index).padStart(43, 'a')}`
    const headers = { authorization, 'x-forwarded-for': address }
    statuses.push((await app.inject({ url: '/me', headers })).statusCode)
    await app.refusals.close()
  }
  t.strictSame(statuses.slice(0, 2), [401, 401])
  t.ok(
    statuses.slice(4).every((status) => status === 429),
    statuses.join(),
  )
})

t.test('only the network of the client is stored and logged', async (t) => {
  for (const [address, network] of [
    ['203.0.113.9:40017', '203.0.113.0/24'],
    ['[2001:DB8:1:2::3]:40017', '2001:db8:1::/48'],
    ['203.0.113.9:40017, unknown', '127.0.0.0/24'],
  ] as const) {
    const journey = await buildWithProvider(t, behindProxies)
    const stored = await networksOf(journey, address)
    t.strictSame(stored, [network], address)
    const lines = journey.log.join('')
    t.match(lines, `"network":"${network}"`)
    t.notMatch(lines, /:40017/)
  }
})

/** The networks that the database has after a sign-in from that address. */
async function networksOf(journey: Journey, address: string): Promise<string[]> {
  const browser = { cookie: '' }
  const headers = { 'x-forwarded-for': address }
  const start = await visit(journey.app, browser, '/auth/login', { headers })
  const answer = journey.op.approve(new URL(String(start.headers.location)))
  await visit(journey.app, browser, `/auth/callback?${answer}`, { headers })
  const { rows } = await journey.database.admin.query<{ ip: string }>(
    'SELECT ip FROM sessions WHERE user_id IS NOT NULL UNION SELECT ip FROM audit_log',
  )
  return rows.map(({ ip }) => ip)
}

t.test('BASE_URL decides the scheme, whatever a trusted proxy forwards', async (t) => {
  const settings = { ...behindProxies, BASE_URL: 'https://app.example.com' }
  const schemes = [
    'https',
    'HTTPS',
    'https,http',
    'https, http',
    'http',
    'https://',
    'on',
    'wss',
    '',
    undefined,
  ]
  const journey = await buildWithProvider(t, settings)
  for (const scheme of schemes) {
    const headers = scheme === undefined ? {} : { 'x-forwarded-proto': scheme }
    const browser = { cookie: '' }
    const start = await visit(journey.app, browser, '/auth/login', { headers })
    t.equal(start.statusCode, 302, `sign-in starts with ${scheme}`)
    t.match(String(start.headers['set-cookie']), /^sid=[^;]+;.*; HttpOnly; Secure; SameSite=Lax$/)
    const answer = journey.op.approve(new URL(String(start.headers.location)))
    const end = await visit(journey.app, browser, `/auth/callback?${answer}`, { headers })
    t.match(end, { statusCode: 302, headers: { location: '/' } })
    t.match(String(end.headers['set-cookie']), /; Secure; /)
    const me = await visit(journey.app, browser, '/me', { headers })
    t.equal(me.statusCode, 200, 'and the session is live')
  }
  const plain = await buildWithProvider(t, behindProxies)
  const start = await visit(plain.app, { cookie: '' }, '/auth/login', {
    headers: { 'x-forwarded-proto': 'https' },
  })
  t.notMatch(String(start.headers['set-cookie']), /Secure/, 'an http BASE_URL stays http')
  t.equal((await signInThrough(plain, { cookie: '' })).statusCode, 302)
})
