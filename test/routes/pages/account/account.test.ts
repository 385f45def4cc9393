import t, { type Test } from 'tap'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { refusalReasons, unavailableReasons } from '#src/auth/oidc/errors.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { addIdentity, authenticatedAgo, owners } from '#test/support/callers/account.ts'

const html = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }

/** A user who opens the page and submits its forms. */
function person({ app }: TestApp, cookie: string) {
  return {
    open: (url = '/app/account') => app.inject({ url, headers: { ...html, cookie } }),
    send: (url: string, form: string, more: Record<string, string> = {}) =>
      app.inject({ method: 'POST', url, headers: { ...html, cookie, ...more }, payload: form }),
  }
}

async function setUp(t: Test) {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'editor', email: '<b>@x.example' })
  await addIdentity(test, user.userId, 'a-subject')
  const { cookie } = await signIn(test, user)
  return { test, user, cookie, ...person(test, cookie) }
}

async function sessionsOf({ database }: TestApp, { userId }: TestUser): Promise<string[]> {
  const { rows } = await database.admin.query<{ id: string }>(
    'SELECT id FROM sessions WHERE user_id = $1 ORDER BY created_at',
    [userId],
  )
  return rows.map(({ id }) => id)
}

t.test('the page shows only the user’s own account, escaped', async (t) => {
  const { test, open } = await setUp(t)
  const other = await createUser(test.database)
  await addIdentity(test, other.userId, 'somebody-else')
  const page = await open()
  t.equal(page.statusCode, 200)
  t.equal(page.headers['cache-control'], 'no-store')
  t.match(page.body, '&lt;b&gt;@x.example')
  t.match(page.body, 'a-subject')
  t.match(page.body, 'This device')
  t.notMatch(page.body, /<b>@|somebody-else/)
  t.notMatch(page.body, '/app/account/identities/remove', 'the last way to sign in has no button')
})

t.test('a user with several tenants can switch between them', async (t) => {
  const { test, user, open, send } = await setUp(t)
  t.notMatch((await open()).body, '/session/tenant')
  const other = await createUser(test.database)
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [other.tenantId, user.userId],
  )
  const { body } = await open()
  t.match(body, 'Your tenants')
  t.match(body, `name="tenantId" value="${other.tenantId}"`)
  t.notMatch(body, `name="tenantId" value="${user.tenantId}"`, 'there they are already')
  const moved = await send('/session/tenant', `tenantId=${other.tenantId}`)
  t.equal(moved.statusCode, 303)
})

t.test('the user’s own activity is shown page by page', async (t) => {
  const { test, user, open } = await setUp(t)
  await test.database.admin.query(
    `INSERT INTO audit_log (action, outcome, reason, user_id)
     SELECT 'sign-in', 'refused', 'old-' || n, $1 FROM generate_series(1, 27) n`,
    [user.userId],
  )
  const newest = (await open('/app/account/activity')).body
  t.match(newest, 'Old 27.')
  t.notMatch(newest, 'Old 2.')
  const older = /href="(\/app\/account\/activity\?cursor=[^"]+)"/.exec(newest)?.[1] ?? ''
  const { body } = await open(older)
  t.match(body, 'Old 2.')
  t.match(body, 'rel="prev"')
  t.notMatch(body, 'rel="next"')
  t.equal((await open('/app/account/activity?cursor=x')).statusCode, 400)
})

t.test('the user’s own activity is filtered by action and time, and counted', async (t) => {
  const { test, user, open } = await setUp(t)
  await test.database.admin.query(
    `INSERT INTO audit_log (action, outcome, reason, user_id, at)
     SELECT 'link', 'refused', 'old-' || n, $1::bigint, '2026-01-01'::timestamptz + n * interval '1 hour'
     FROM generate_series(1, 3) n
     UNION ALL SELECT 'unlink', 'refused', 'other-1', $1, now()`,
    [user.userId],
  )
  const other = await createUser(test.database)
  await test.database.admin.query(
    `INSERT INTO audit_log (action, outcome, reason, user_id) VALUES ('link', 'refused', 'theirs', $1)`,
    [other.userId],
  )
  const activity = async (query: string) => (await open(`/app/account/activity?${query}`)).body
  const all = await activity('action=link')
  t.match(all, '3 in all.')
  for (const reason of ['Old 1.', 'Old 2.', 'Old 3.']) t.match(all, reason)
  t.notMatch(all, /Other 1|Theirs/)
  const ranged = await activity('from=2026-01-01T02:00&to=2026-01-01T03:00')
  t.match(ranged, 'Old 2.')
  t.match(ranged, '1 in all.')
  t.notMatch(ranged, /Old [13]/)
  const recent = await activity('since=hour')
  t.match(recent, 'Other 1.')
  t.notMatch(recent, /Old \d/)
  const oldest = await activity('sort=at')
  t.ok(oldest.indexOf('Old 1.') < oldest.indexOf('Old 3.'))
  t.match(await activity('action=sign-out'), 'No matching entries.')
  for (const bad of ['action=X', 'since=year', 'from=2026-02-30T00:00', 'user=1'])
    t.equal((await open(`/app/account/activity?${bad}`)).statusCode, bad === 'user=1' ? 200 : 400)
})

t.test('a reason is shown in words, never as its code', async (t) => {
  const { test, user, open } = await setUp(t)
  const codes = [
    ...Object.keys(refusalReasons),
    ...Object.keys(unavailableReasons),
    ...['bad-state', 'email-known', 'last-sign-in-method', 'answer-lost', 'logout-token-issuer'],
    ...['revocation-rejected', 'seal-unknown-key', 'of-a-later-version'],
  ]
  for (const code of codes) {
    await test.database.admin.query('TRUNCATE audit_log')
    await test.database.admin.query(
      `INSERT INTO audit_log (action, outcome, reason, user_id) VALUES ('sign-in', 'refused', $1, $2)`,
      [code, user.userId],
    )
    const [, shown = ''] =
      /Refused<\/span> <span class="quiet">([^<]+)</.exec(
        (await open('/app/account/activity')).body,
      ) ?? []
    t.match(shown, /^[A-Z].*\.$/, code)
    t.notMatch(shown, code, code)
  }
})

t.test('the page requires a session; a token is refused', async (t) => {
  const { test, cookie } = await setUp(t)
  t.equal((await test.app.inject({ url: '/app/account', headers: html })).statusCode, 302)
  const made = await as(test, { cookie })('POST', '/auth/tokens', {
    name: 'program',
    permissions: null,
  })
  const headers = { ...html, authorization: `Bearer ${made.json().token}` }
  t.equal((await test.app.inject({ url: '/app/account', headers })).statusCode, 403)
})

t.test('a cross-site form is refused', async (t) => {
  const { test, user, send } = await setUp(t)
  await signIn(test, user)
  const answer = await send('/app/account/sessions/end-others', '', {
    'sec-fetch-site': 'cross-site',
  })
  t.equal(answer.statusCode, 403)
  t.equal((await sessionsOf(test, user)).length, 2)
})

t.test('a user signs out one device or all others, never those of another user', async (t) => {
  const { test, user, open, send } = await setUp(t)
  await signIn(test, user)
  await signIn(test, user)
  const stranger = await createUser(test.database)
  await signIn(test, stranger)
  const [, second] = await sessionsOf(test, user)
  const [foreign] = await sessionsOf(test, stranger)

  const ended = await send('/app/account/sessions/end', `id=${second}`)
  t.equal(ended.statusCode, 303)
  t.equal(ended.headers.location, '/app/account?done=session-ended')
  t.match((await open('/app/account?done=session-ended')).body, 'Signed out of that device.')
  t.equal((await sessionsOf(test, user)).length, 2)

  t.equal((await send('/app/account/sessions/end', `id=${foreign}`)).statusCode, 404)
  t.equal((await send('/app/account/sessions/end', 'id=x')).statusCode, 400)
  t.equal((await send('/app/account/sessions/end-others', '')).statusCode, 303)
  t.equal((await sessionsOf(test, user)).length, 1)
  t.equal((await sessionsOf(test, stranger)).length, 1)
})

t.test(
  'a token is shown once, has at most the permissions of its owner, and can be revoked',
  async (t) => {
    const { test, open, send } = await setUp(t)
    const create = (form: string) =>
      send('/app/account/tokens/new', `${form}&submission=${crypto.randomUUID()}`)
    const form = 'name=nightly&days=7&extent=these&permissions=post%3Aread&permissions=order%3Aread'
    const made = await create(form)
    t.equal(made.statusCode, 303)
    const { body } = await open(String(made.headers.location))
    const token = /gth_[\w-]+/.exec(body)?.[0] ?? ''
    t.match(body, 'API token “<bdi>nightly</bdi>”</h2>')
    const me = await as(test, { authorization: `Bearer ${token}` })('GET', '/me')
    t.same(me.json().permissions, ['post:read', 'order:read'])
    const page = await open('/app/account/tokens')
    t.match(page.body, 'nightly')
    t.notMatch(page.body, token)

    t.equal((await create('name=x&days=7&extent=these&permissions=user:manage')).statusCode, 403)
    const all = 'name=x&days=7&extent=all'
    for (const bad of [
      ...[
        'name=&days=7&extent=all',
        'name=x&days=8&extent=all',
        'name=x&extent=all',
        `${all}&userId=1`,
      ],
      ...['name=x&days=7', 'name=x&days=7&extent=these', `${all}&permissions=post:read`],
    ]) {
      t.equal((await create(bad)).statusCode, 400, bad)
    }
    const { rows } = await test.database.admin.query('SELECT id FROM api_tokens')
    t.equal(rows.length, 1)
    const end = `id=${rows[0].id}`
    t.equal((await send('/app/account/tokens/end', end)).statusCode, 400, 'not confirmed')
    t.equal((await send('/app/account/tokens/end', `${end}&confirm=yes`)).statusCode, 303)
    t.equal((await as(test, { authorization: `Bearer ${token}` })('GET', '/me')).statusCode, 401)
  },
)

t.test('a sign-in method can be removed within five minutes of signing in', async (t) => {
  const { test, user, open, send } = await setUp(t)
  await addIdentity(test, user.userId, 'second')
  t.match((await open()).body, 'Remove demo second')
  const form = 'provider=demo&subject=second'
  await authenticatedAgo(test, 301)
  const late = await send('/app/account/identities/remove', form)
  t.equal(late.statusCode, 403)
  t.match(late.body, '/auth/login?reauthenticate=true')
  await authenticatedAgo(test, 0)
  t.equal((await send('/app/account/identities/remove', form)).statusCode, 303)
  t.equal((await send('/app/account/identities/remove', form)).statusCode, 404)
  const last = await send('/app/account/identities/remove', 'provider=demo&subject=a-subject')
  t.equal(last.statusCode, 409)
  t.same(await owners(test), { 'demo:a-subject': user.userId })
})

t.test('revoking a token asks for confirmation', async (t) => {
  const { test, cookie, open } = await setUp(t)
  await as(test, { cookie })('POST', '/auth/tokens', { name: 'nightly', permissions: null })
  const { body } = await open('/app/account/tokens')
  const form =
    /<form[^>]*action="\/app\/account\/tokens\/end">[\s\S]*?<\/form>/.exec(body)?.[0] ?? ''
  t.match(form, '<input type="checkbox" name="confirm" value="yes" required>')
})

t.test(
  'invitations are shown on the start page and the account page, with their answers',
  async (t) => {
    const { test, user, open, send } = await setUp(t)
    const hosts = [await invited(test, user), await invited(test, user)]
    for (const url of ['/', '/app/account']) {
      const { body } = await open(url)
      t.match(body, 'Invitations for you')
      for (const { id } of hosts) t.match(body, `action="/invitations/${id}/accept"`)
    }
    const [first, second] = hosts
    const page = await open(`/app/invitations/${first?.id}`)
    t.match(page.body, `action="/invitations/${first?.id}/decline"`)
    t.match(page.body, 'host@x.example')
    const missing = await open(`/app/invitations/${crypto.randomUUID()}`)
    t.equal(missing.statusCode, 404)
    t.match(missing.body, 'sign in with the address that was invited.')
    const accepted = await send(`/invitations/${first?.id}/accept`, '')
    t.equal(accepted.headers.location, '/app/account?done=joined')
    const declined = await send(`/invitations/${second?.id}/decline`, '')
    t.equal(declined.headers.location, '/app/account?done=declined')
    const { body } = await open()
    t.notMatch(body, 'Invitations for you')
    t.match(body, `name="tenantId" value="${first?.tenantId}"`)
    t.notMatch(body, second?.tenantId)
  },
)

t.test('leaving a tenant asks for confirmation and keeps the user signed in', async (t) => {
  const { test, user, open, send, cookie } = await setUp(t)
  const { id, tenantId } = await invited(test, user)
  await send(`/invitations/${id}/accept`, '')
  const leave = `id=${tenantId}`
  t.equal((await send('/app/account/tenants/leave', leave)).statusCode, 400)
  const left = await send('/app/account/tenants/leave', `${leave}&confirm=yes`)
  t.equal(left.headers.location, '/app/account?done=left')
  t.notMatch((await open()).body, `value="${tenantId}"`)
  t.same((await as(test, { cookie })('GET', '/me')).json().tenant.id, user.tenantId)
})

/** Verifies the address of the user and invites it into a new tenant. */
async function invited({ database }: TestApp, user: TestUser) {
  const host = await createUser(database, { role: 'admin', email: 'host@x.example' })
  await database.admin.query(
    `UPDATE users SET email = 'guest@x.example', email_verified = true WHERE id = $1`,
    [user.userId],
  )
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
     VALUES ($1, 'guest@x.example', 'viewer', $2, now() + interval '1 day') RETURNING id`,
    [host.tenantId, host.userId],
  )
  return { id: rows[0]?.id ?? '', tenantId: host.tenantId }
}
