import t from 'tap'
import { admit } from '#src/auth/oidc/admission.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import { createProviderFetch } from '#src/auth/oidc/fetch.ts'
import { fetchProfile } from '#src/auth/oidc/oauth2.ts'

/* The API of a provider without OpenID Connect. What is only additional never stops a sign-in. */

const profile = {
  url: 'https://api.example.com/user',
  subject: 'id',
  names: ['login'],
  emailsUrl: 'https://api.example.com/user/emails',
}
const person = { id: 7, login: 'ada' }
const primary = { email: 'ada@example.com', primary: true, verified: true }
const others = Array.from({ length: 30 }, (_, n) => ({
  email: `a${n}@example.com`,
  verified: true,
}))

type Answer = () => Response | Promise<Response>

/** Reads the profile from an API with these answers; resolves with what was asked and missed, too. */
async function read(answers: Record<string, Answer>) {
  const asked: string[] = []
  const missed: string[] = []
  const api: typeof globalThis.fetch = async (input) => {
    asked.push(String(input))
    if (String(input) === profile.url) return Response.json(person)
    return answers[String(input)]?.() ?? new Response(null, { status: 404 })
  }
  const fetch = createProviderFetch({ fetch: api })
  const claims = await fetchProfile({ profile }, 'access', fetch, (reason) => missed.push(reason))
  return { claims, asked, missed }
}

const json = (body: unknown, headers = {}) => Response.json(body, { headers })
const emails = profile.emailsUrl

t.test('addresses that cannot be read are left out', async (t) => {
  for (const [what, reason, answer] of [
    ['403', 'profile-rejected', () => new Response('{}', { status: 403 })],
    ['404', 'profile-rejected', () => new Response('{}', { status: 404 })],
    ['401', 'profile-rejected', () => new Response('{}', { status: 401 })],
    ['a page', 'profile-malformed', () => new Response('<html>')],
    [
      'no JSON',
      'profile-malformed',
      () => new Response('x', { headers: { 'content-type': 'application/json' } }),
    ],
    ['an object', 'profile-malformed', () => json({ message: 'no' })],
    ['500', 'server-error', () => new Response(null, { status: 500 })],
    ['429', 'server-error', () => new Response(null, { status: 429 })],
    ['broken off', 'network', () => Promise.reject(new TypeError('fetch failed'))],
  ] as const) {
    const { claims, missed } = await read({ [emails]: answer })
    t.match(claims, { sub: '7', name: 'ada', email: null, email_verified: false }, what)
    t.strictSame(missed, [reason], what)
  }
  const { claims, missed } = await read({ [emails]: () => json([primary]) })
  t.match(claims, { email: 'ada@example.com', email_verified: true })
  t.strictSame(missed, [])
})

t.test('the profile itself is not left out', async (t) => {
  const fetch = createProviderFetch({ fetch: async () => new Response(null, { status: 500 }) })
  await t.rejects(
    fetchProfile({ profile }, 'access', fetch, () => {}),
    ProviderUnavailable,
  )
})

const orgs = {
  claim: 'organizations',
  url: 'https://api.example.com/orgs',
  member: 'id',
  scope: 'read:org',
}

t.test('a required list is a claim of the ids on all its pages', async (t) => {
  const second = `${orgs.url}?page=2`
  const entries = [{ id: 1, login: 'example' }, 'no', { login: 'without id' }]
  const api: typeof globalThis.fetch = async (input) => {
    if (String(input) === orgs.url) return json(entries, { link: `<${second}>; rel="next"` })
    if (String(input) === second) return json([{ id: 2 }])
    // What the person writes does not take the place of the list.
    return json({ ...person, organizations: ['9'] })
  }
  const { claims } = await readLists(api)
  t.strictSame(claims.organizations, [1, undefined, 2])
  t.equal(admit(claims, rules('2')), null)
  for (const other of ['9', 'example', 'undefined', '12']) {
    t.equal(admit(claims, rules(other)), 'claim-required', other)
  }
})

t.test('a required list that cannot be read refuses the sign-in', async (t) => {
  const rows = [
    [new Response('{}', { status: 403 }), { reason: 'profile-rejected' }],
    [json({ message: 'no' }), { reason: 'profile-malformed' }],
    [new Response(null, { status: 503 }), { reason: 'server-error' }],
  ] as const
  for (const [answer, error] of rows) {
    const reading = readLists(async (input) => (String(input) === orgs.url ? answer : json(person)))
    t.match(await reading.catch((thrown) => thrown), error)
  }
})

function readLists(api: typeof globalThis.fetch) {
  const { emailsUrl: _, ...plain } = profile
  const fetch = createProviderFetch({ fetch: api })
  const missed: string[] = []
  const endpoints = { profile: { ...plain, lists: [orgs] } }
  return fetchProfile(endpoints, 'access', fetch, (reason) => missed.push(reason)).then(
    (claims) => ({ claims, missed }),
  )
}

const rules = (value: string) => ({
  tenants: [],
  require: [{ claim: 'organizations', values: [value] }],
})

t.test('the primary address is found on a later page', async (t) => {
  const second = `${emails}?page=2`
  for (const link of [
    `<${second}>; rel="next", <${emails}?page=9>; rel="last"`,
    `<${emails}?page=1>; rel="prev", <${second}>; rel="next"`,
    `<${second}>; title="x"; rel=next`,
    '</user/emails?page=2>; rel="next"',
  ]) {
    const { claims, asked } = await read({
      [emails]: () => json(others, { link }),
      [second]: () => json([primary]),
    })
    t.strictSame(asked, [profile.url, emails, second], link)
    t.match(claims, { email: 'ada@example.com', email_verified: true }, link)
  }
})

t.test('pages end: within a bound, and before another origin', async (t) => {
  const again = await read({ [emails]: () => json(others, { link: `<${emails}>; rel="next"` }) })
  t.equal(again.asked.length, 1 + 5)
  t.match(again.claims, { email: null, email_verified: false })
  for (const link of [
    '<https://evil.example/emails>; rel="next"',
    '<http://api.example.com/user/emails>; rel="next"',
    '<//evil.example/>; rel="next"',
    `<${emails}?page=2>; rel="nextish"`,
    'next',
  ]) {
    const { asked } = await read({ [emails]: () => json(others, { link }) })
    t.strictSame(asked, [profile.url, emails], link)
  }
})
