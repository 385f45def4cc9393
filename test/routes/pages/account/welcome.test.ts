import t from 'tap'
import {
  type Browser,
  buildWithProvider,
  type Journey,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const accept = 'text/html,application/xhtml+xml'

/** Where a sign-in that was started with this query ends. */
async function signIn(
  { app, op }: Journey,
  browser: Browser,
  { returnTo, headers = { accept } }: { returnTo?: string; headers?: Record<string, string> },
) {
  const query = new URLSearchParams({ provider: 'demo', ...(returnTo && { return_to: returnTo }) })
  const start = await visit(app, browser, `/auth/login?${query}`, { headers })
  const approved = op.approve(new URL(String(start.headers.location)))
  const end = await visit(app, browser, `/auth/callback?${approved}`, { headers })
  return String(end.headers.location)
}

t.test('the first sign-in asks for the name of the tenant, and then leads on', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, database } = journey
  const browser = { cookie: '' }
  const asked = await signIn(journey, browser, { returnTo: '/app/orders?cursor=x' })
  t.equal(asked, '/app/welcome?return_to=%2Fapp%2Forders%3Fcursor%3Dx')
  const page = await visit(app, browser, asked, { headers: { accept } })
  t.equal(page.statusCode, 200)
  t.match(page.body, 'href="/app/orders?cursor=x">Skip</a>')
  const { rows: before } = await database.admin.query('SELECT name FROM tenants')
  t.match(page.body, `value="${before[0].name}"`, 'a name to begin with')

  const send = (fields: Record<string, string>) =>
    visit(app, browser, '/app/welcome', {
      method: 'POST',
      payload: new URLSearchParams(fields).toString(),
      headers: {
        accept,
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
      },
    })
  const foreign = await send({ name: 'Acme Ltd', return_to: 'https://evil.example/' })
  t.equal(foreign.headers.location, '/', 'any other path is the default')
  const saved = await send({ name: 'Acme Ltd', return_to: '/app/orders?cursor=x' })
  t.equal(saved.statusCode, 303)
  t.equal(saved.headers.location, '/app/orders?cursor=x')
  const { rows } = await database.admin.query('SELECT name FROM tenants')
  t.same(rows, [{ name: 'Acme Ltd' }])
  t.equal((await send({ name: '', return_to: '/' })).statusCode, 400)

  const again = await signIn(journey, browser, { returnTo: '/app/orders' })
  t.equal(again, '/app/orders', 'the second sign-in does not ask')
})

t.test('a program, and the way to an invitation, are not asked', async (t) => {
  const journey = await buildWithProvider(t)
  t.equal(await signIn(journey, { cookie: '' }, { headers: {} }), '/')
  const invited = await buildWithProvider(t)
  const path = '/app/invitations/0b9c1e5e-6c1b-4f0e-9a51-2f4a6f1a2b3c'
  t.equal(await signIn(invited, { cookie: '' }, { returnTo: path }), path)
})

t.test('the page leads nowhere else', async (t) => {
  const journey = await buildWithProvider(t)
  const browser = { cookie: '' }
  await signIn(journey, browser, {})
  for (const path of ['https://evil.example/', '//evil.example', 'javascript:alert(1)']) {
    const url = `/app/welcome?${new URLSearchParams({ return_to: path })}`
    const { body } = await visit(journey.app, browser, url, { headers: { accept } })
    t.match(body, 'href="/">Skip</a>')
    t.notMatch(body, 'evil.example')
  }
})
