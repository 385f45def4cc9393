import t from 'tap'
import { readCorsOrigins, readFrameOrigins } from '#src/config/allowed-origins.ts'

function read(value: string, production = true) {
  const faults: string[] = []
  return { origins: readCorsOrigins(value, production, faults), faults }
}

t.test('exact origins are accepted', async (t) => {
  t.same(read(''), { origins: [], faults: [] })
  const listed = 'https://app.example.com, https://b.example:8443'
  t.same(read(listed), {
    origins: ['https://app.example.com', 'https://b.example:8443'],
    faults: [],
  })
  t.same(read('http://localhost:5173', false).faults, [])
})

t.test('anything else is refused at start, with its reason', async (t) => {
  const refused: Record<string, RegExp> = {
    '*': /“\*” is a wildcard; list every origin/,
    'https://*.example.com': /is a wildcard/,
    'https://app.example.com/': /no path/,
    'https://app.example.com/app': /no path/,
    'https://app.example.com?x=1': /no path/,
    'https://user@app.example.com': /is not an origin/,
    'https://App.example.com': /lower case/,
    'https://app.example.com:443': /a port only if it is not the default/,
    'app.example.com': /is not an origin/,
    null: /is not an origin/,
    'https://app.example.com;frame-src': /is not an origin/,
    'ftp://app.example.com': /must be https/,
    'http://app.example.com': /must be https/,
    'http://localhost:5173': /must be https/,
    'file:///tmp': /is not an origin/,
  }
  for (const [value, reason] of Object.entries(refused)) {
    const { faults } = read(`https://good.example,${value}`)
    t.equal(faults.length, 1, value)
    t.match(faults[0], /^CORS_ORIGINS: /)
    t.match(faults[0], reason, value)
  }
})

t.test('the origins that may frame the portal are read in the same way', async (t) => {
  const faults: string[] = []
  const listed = 'https://app.example.com, https://*.example.com, http://app.example.com'
  readFrameOrigins(listed, true, faults)
  t.match(faults, [
    /^PORTAL_FRAME_ORIGINS: “https:\/\/\*\.example\.com” is a wildcard/,
    /^PORTAL_FRAME_ORIGINS: “http:\/\/app\.example\.com” must be https/,
  ])
  t.equal(faults.length, 2)
})
