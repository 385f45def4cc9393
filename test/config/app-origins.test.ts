import t from 'tap'
import { testSettings } from '#dev/testing/settings.ts'
import { readAppOrigins } from '#src/config/allowed-origins.ts'
import { readAudiences } from '#src/config/audiences.ts'
import { readConfig } from '#src/config/config.ts'
import { requireSameSite } from '#src/config/same-site.ts'
import { createLogger } from '#src/observability/logger.ts'
import { start } from '#src/server.ts'

function read(value: string, baseUrl = 'https://auth.example.co.uk') {
  const faults: string[] = []
  return { origins: readAppOrigins(value, baseUrl, faults), faults }
}

t.test('exact origins of the site of BASE_URL are accepted', async (t) => {
  t.same(read(''), { origins: [], faults: [] })
  const siblings = ['https://app.example.co.uk', 'https://example.co.uk:8443']
  t.same(read(siblings.join(', ')), { origins: siblings, faults: [] })
  const alike: [string, string][] = [
    ['https://a.b.example.com', 'https://example.com'],
    ['https://mine.github.io:8443', 'https://mine.github.io'],
    ['https://gatehouse:8443', 'https://gatehouse'],
    ['https://192.0.2.1:8443', 'https://192.0.2.1'],
    ['http://localhost:5173', 'http://localhost:3000'],
    ['http://127.0.0.1:5173', 'http://127.0.0.1:3000'],
    ['http://[::1]:5173', 'http://[::1]:3000'],
  ]
  for (const [origin, baseUrl] of alike) {
    t.same(read(origin, baseUrl).faults, [], origin)
    await t.resolves(requireSameSite({ appOrigins: [origin], baseUrl }), origin)
  }
})

t.test('an origin of another site is refused at start, with its remedy', async (t) => {
  const foreign: [string, string][] = [
    ['https://app.example.com', 'https://auth.example.net'],
    ['https://app.example.com.evil.example', 'https://auth.example.com'],
    ['https://evilexample.com', 'https://auth.example.com'],
    ['https://other.co.uk', 'https://mine.co.uk'],
    ['https://other.github.io', 'https://mine.github.io'],
    ['https://co.uk', 'https://mine.co.uk'],
    ['https://192.0.2.2', 'https://192.0.2.1'],
    ['https://app.gatehouse', 'https://gatehouse'],
    ['http://127.0.0.1:5173', 'http://localhost:3000'],
    ['http://[::1]:5173', 'http://localhost:3000'],
  ]
  for (const [origin, baseUrl] of foreign) {
    t.same(read(origin, baseUrl).faults, [], origin)
    const own = new URL(baseUrl).origin
    const { faults } = await requireSameSite({ appOrigins: [own, origin], baseUrl }).then(
      () => ({ faults: [] }),
      (error) => error,
    )
    t.equal(faults.length, 1, origin)
    t.match(faults[0], /^APP_ORIGINS: .+ browsers send the session cookie only within a site/)
    t.match(faults[0], /Use CORS_ORIGINS and API tokens, or serve both under one domain\.$/)
  }
})

t.test('another scheme is another site', async (t) => {
  const others: [string, string, RegExp][] = [
    ['http://app.example.com', 'https://auth.example.com', /must be https/],
    ['http://localhost:5173', 'https://auth.example.com', /must be https/],
    ['http://localhost:5173', 'https://localhost:3000', /must be https/],
    ['https://localhost:5173', 'http://localhost:3000', /must be http,/],
    ['ftp://app.example.com', 'https://auth.example.com', /must be https/],
  ]
  for (const [origin, baseUrl, reason] of others) {
    t.match(read(origin, baseUrl).faults, [reason], origin)
  }
})

t.test('what is not an origin as browsers send it is refused', async (t) => {
  const refused: Record<string, RegExp> = {
    '*': /“\*” is a wildcard; list every origin/,
    'https://*.example.co.uk': /is a wildcard/,
    'https://app.example.co.uk/': /no path/,
    'https://app.example.co.uk/app': /no path/,
    'https://app.example.co.uk#x': /no path/,
    'https://user@app.example.co.uk': /is not an origin/,
    'https://App.example.co.uk': /lower case/,
    'https://app.example.co.uk:443': /a port only if it is not the default/,
    'app.example.co.uk': /is not an origin/,
    null: /is not an origin/,
  }
  for (const [value, reason] of Object.entries(refused)) {
    const { faults } = read(`https://app.example.co.uk,${value}`)
    t.equal(faults.length, 1, value)
    t.match(faults[0], /^APP_ORIGINS: /)
    t.match(faults[0], reason, value)
  }
})

t.test('the program does not start with such an origin', async (t) => {
  const url = 'postgresql://a@127.0.0.1/a'
  const urls = { url, workerUrl: url, ownerUrl: url, superuserUrl: url }
  const settings = { ...testSettings(urls), APP_ORIGINS: 'http://evil.example' }
  const starting = start(readConfig(settings), createLogger('silent'))
  await t.rejects(starting, /APP_ORIGINS: “http:\/\/evil\.example” is of the site/)
})

t.test('origins behind an audience are of the host of BASE_URL', async (t) => {
  const base = 'https://example.com'
  const readAll = (value: string) => {
    const faults: string[] = []
    return { audiences: readAudiences(value, base, faults), faults }
  }
  t.same(readAll('orders https://example.com,reports  https://example.com:8443 , https://wiki'), {
    audiences: [
      { name: 'orders', origins: ['https://example.com'] },
      { name: 'reports', origins: ['https://example.com:8443'] },
      { name: 'https://wiki', origins: [] },
    ],
    faults: [],
  })
  for (const origin of [
    'https://app.example.com:8443',
    'https://example.com.evil.example',
    'https://evil.example',
    'http://example.com',
    'https://example.com/',
    'https://EXAMPLE.com',
    'https://*.example.com',
    'reports',
  ]) {
    const { faults } = readAll(`orders ${origin}`)
    t.equal(faults.length, 1, origin)
    t.match(faults[0], /^IDENTITY_AUDIENCE: “/)
  }
  const twice = ['IDENTITY_AUDIENCE: names an audience twice.']
  t.same(readAll('orders,reports,orders https://example.com').faults, twice)
})
