import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { invitationUrl } from '#src/auth/members/invitation-link.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { awayFromMidnight } from '#test/support/app/at-time.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }

function person({ app }: TestApp, cookie: string) {
  return {
    open: (url = '/app/tenant') => app.inject({ url, headers: { ...form, cookie } }),
    send: (url: string, payload: string) =>
      app.inject({
        method: 'POST',
        url: `/app/tenant/${url}`,
        headers: { ...form, cookie },
        payload,
      }),
  }
}

async function setUp(test = shared) {
  const admin = await createUser(test.database, { role: 'admin', email: 'admin@x.example' })
  const { tenantId } = admin
  const member = await createUser(test.database, { tenantId, email: '<i>@x.example' })
  const { cookie } = await signIn(test, admin)
  return { test, admin, member, tenantId, ...person(test, cookie) }
}

async function roleOf({ database }: TestApp, userId: number) {
  const { rows } = await database.admin.query(
    'SELECT role, department FROM memberships WHERE user_id = $1',
    [userId],
  )
  return rows[0] ?? null
}

t.test('an admin sees the members and invitations of their own tenant only', async (t) => {
  const { test, open, send } = await setUp()
  const stranger = await createUser(test.database, { role: 'admin', email: 'else@x.example' })
  const theirs = person(test, (await signIn(test, stranger)).cookie)
  await theirs.send('invitations/new', 'email=theirs@x.example&role=viewer&department=')
  t.equal(
    (await send('invitations/new', 'email=new@x.example&role=editor&department=press')).headers
      .location,
    '/app/tenant?done=invited',
  )
  const { body, statusCode } = await open('/app/tenant?done=invited')
  t.equal(statusCode, 200)
  t.match(body, 'admin@x.example')
  t.match(body, '&lt;i&gt;@x.example')
  t.match(body, 'new@x.example')
  t.notMatch(body, /<i>|else@x\.example|theirs@x\.example/)
})

t.test('without user:manage there is no page, and no link to it', async (t) => {
  const { test, member, admin } = await setUp()
  const { cookie } = await signIn(test, member)
  const { open, send } = person(test, cookie)
  t.equal((await open()).statusCode, 403)
  t.notMatch((await open('/')).body, '/app/tenant')
  const demotion = `id=${admin.userId}&role=viewer&department=`
  t.equal((await send('members/change', demotion)).statusCode, 403)
  t.equal((await send('members/remove', `id=${admin.userId}&confirm=yes`)).statusCode, 403)
  t.equal(
    (await send('invitations/new', 'email=a@x.example&role=admin&department=')).statusCode,
    403,
  )
  t.equal((await test.app.inject({ url: '/app/tenant', headers: form })).statusCode, 302)
})

t.test('a member is changed and removed; a member of another tenant is a 404', async (t) => {
  const { test, member, send } = await setUp()
  const id = `id=${member.userId}`
  const changed = await send('members/change', `${id}&role=editor&department=press`)
  t.equal(changed.headers.location, '/app/tenant?done=changed')
  t.same(await roleOf(test, member.userId), { role: 'editor', department: 'press' })
  await send('members/change', `${id}&role=editor&department=`)
  t.same(await roleOf(test, member.userId), { role: 'editor', department: null })

  const stranger = await createUser(test.database)
  for (const [url, rest] of [
    ['members/change', '&role=admin&department='],
    ['members/remove', '&confirm=yes'],
  ]) {
    t.equal((await send(`${url}`, `id=${stranger.userId}${rest}`)).statusCode, 404)
  }
  for (const bad of ['role=owner&department=', 'role=admin', 'role=admin&department=&plan=pro']) {
    t.equal((await send('members/change', `${id}&${bad}`)).statusCode, 400, bad)
  }
  t.equal((await send('members/remove', id)).statusCode, 400, 'not confirmed')
  t.same(await roleOf(test, member.userId), { role: 'editor', department: null })
  const removed = await send('members/remove', `${id}&confirm=yes`)
  t.equal(removed.headers.location, '/app/tenant?done=removed')
  t.equal(await roleOf(test, member.userId), null)
})

t.test(
  'the page lists the activity in the tenant with the users, and of no other tenant',
  async (t) => {
    const { test, member, open, send } = await setUp()
    const stranger = await createUser(test.database, { role: 'admin', email: 'else@x.example' })
    const theirs = person(test, (await signIn(test, stranger)).cookie)
    await theirs.send('invitations/new', 'email=theirs@x.example&role=viewer&department=')
    t.match((await open()).body, 'No activity yet.')
    await send('members/change', `id=${member.userId}&role=editor&department=`)
    const { body } = await open()
    const trail = body.slice(body.indexOf('id="audit"'))
    t.match(trail, 'Changed a member')
    t.match(trail, 'admin@x.example')
    t.notMatch(trail, /Invited a member|else@x/)
    t.match(body, '<a href="/app/access">View the permissions of each role</a>')
  },
)

t.test('the last admin cannot be removed, and the page says why', async (t) => {
  const { admin, send } = await setUp()
  const answer = await send('members/remove', `id=${admin.userId}&confirm=yes`)
  t.equal(answer.statusCode, 409)
  t.match(answer.body, 'Make another member an admin first.')
})

t.test('an invitation is withdrawn; that the address has an account is not told', async (t) => {
  const { test, send } = await setUp(await build(t))
  await send('invitations/new', 'email=new@x.example&role=viewer&department=')
  const { rows } = await test.database.admin.query('SELECT id FROM invitations')
  const withdrawn = await send('invitations/withdraw', `id=${rows[0].id}`)
  t.equal(withdrawn.headers.location, '/app/tenant?done=withdrawn')
  t.equal((await send('invitations/withdraw', `id=${rows[0].id}`)).statusCode, 404)

  await createUser(test.database, { email: 'known@x.example', emailVerified: true })
  const known = await send('invitations/new', 'email=known@x.example&role=viewer&department=')
  t.equal(known.headers.location, '/app/tenant?done=invited')
})

t.test('an invitation that is refused is shown again on its page, with why', async (t) => {
  const { tenantId, test, send } = await setUp()
  await createUser(test.database, { tenantId, email: 'known@x.example', emailVerified: true })
  const refused = await send(
    'invitations/new',
    'email=known@x.example&role=editor&department=%3Cpress',
  )
  t.equal(refused.statusCode, 409)
  t.match(refused.body, 'already a member')
  t.match(refused.body, 'value="known@x.example"')
  t.match(refused.body, '<option selected>editor')
  t.match(refused.body, 'value="&lt;press"')
  t.match(refused.body, '<p class="trail"><a href="/app/tenant">Members</a></p>')
})

t.test('an invitation is sent again with the same link, at most once a day', async (t) => {
  await awayFromMidnight()
  const { test, member, open, send } = await setUp(await build(t))
  const { admin: database } = test.database
  await send('invitations/new', 'email=new@x.example&role=viewer&department=')
  const { rows } = await database.query('SELECT id FROM invitations')
  const form = `id=${rows[0].id}&role=viewer`
  const resend = async () => (await send('invitations/resend', form)).headers.location
  const stored = async () => {
    const columns = 'id, link_hash, mailed_at, declined_at, expires_at > now() AS open'
    const { rows } = await database.query(
      `SELECT ${columns}, (SELECT count(*)::int FROM pgboss.job WHERE name = 'invitation-mail') AS jobs
       FROM invitations`,
    )
    return rows[0]
  }
  const first = await stored()
  t.notMatch((await open()).body, 'invitations/resend"')
  t.equal(await resend(), '/app/tenant?done=sent-today')
  t.strictSame(await stored(), first)

  await database.query(
    `UPDATE invitations SET created_at = created_at - interval '1 day', mailed_at = now()`,
  )
  t.match((await open()).body, 'Renew from tomorrow', 'it was mailed today')
  t.equal(await resend(), '/app/tenant?done=sent-today')
  await database.query(
    `UPDATE invitations SET mailed_at = now() - interval '1 day',
       declined_at = now(), expires_at = now() - interval '1 hour'`,
  )
  t.match((await open()).body, 'invitations/resend"')
  t.equal((await send('invitations/resend', 'id=1&role=viewer')).statusCode, 400)
  const another = form.replace('viewer', 'admin')
  t.equal((await send('invitations/resend', another)).statusCode, 404, 'another role')
  const theirs = await createUser(test.database, { role: 'admin' })
  for (const [user, status] of [
    [theirs, 404],
    [member, 403],
  ] as const) {
    const other = person(test, (await signIn(test, user)).cookie)
    t.equal((await other.send('invitations/resend', form)).statusCode, status)
  }
  t.equal((await stored()).open, false)
  t.equal(await resend(), '/app/tenant?done=renewed', 'without a mail server')
  t.strictSame(await stored(), { ...first, jobs: first.jobs + 1 })
  t.equal(await resend(), '/app/tenant?done=sent-today')
  t.strictSame(await stored(), { ...first, jobs: first.jobs + 1 })

  await database.query(
    `UPDATE invitations SET created_at = created_at - interval '1 day', accepted_at = now()`,
  )
  t.equal((await send('invitations/resend', form)).statusCode, 404, 'an accepted one')
})

t.test('an address that is a member by now is not invited again', async (t) => {
  const { test, tenantId, send } = await setUp(await build(t))
  await send('invitations/new', 'email=new@x.example&role=viewer&department=')
  const { rows } = await test.database.admin.query(
    `UPDATE invitations SET created_at = created_at - interval '1 day' RETURNING id`,
  )
  await createUser(test.database, { tenantId, email: 'new@x.example', emailVerified: true })
  const refused = await send('invitations/resend', `id=${rows[0].id}&role=viewer`)
  t.equal(refused.statusCode, 409)
  t.match(refused.body, 'already a member')
})

t.test('without a mail server the page shows the link of an invitation', async (t) => {
  const { test, open, send } = await setUp(await build(t))
  await send('invitations/new', 'email=new@x.example&role=viewer&department=')
  const { rows } = await test.database.admin.query('SELECT id FROM invitations')
  const { body } = await open()
  const { baseUrl } = test.config
  t.match(body, new RegExp(`${baseUrl}/app/invitations/${rows[0].id}/open\\?link=[\\w-]{43}<`))
  t.match((await open('/app/tenant/invitations/new')).body, 'No email is sent')
})

t.test('the page says why new people could not accept an invitation', async (t) => {
  for (const [settings, text] of [
    [{}, null],
    [{ SIGN_UP: 'closed' }, /SIGN_UP is closed/],
    [{ SIGN_UP: 'invited' }, null],
    [{ SIGN_UP: 'invited', OIDC_DEMO_TRUST_EMAIL: 'false' }, null],
  ] as const) {
    const test = await build(t, settings)
    const admin = await createUser(test.database, { role: 'admin' })
    const { body } = await person(test, (await signIn(test, admin)).cookie).open(
      '/app/tenant/invitations/new',
    )
    t.match(body, 'Invite a member')
    if (text === null) t.notMatch(body, 'Only people who have an account')
    else t.match(body, text)
  }
})

t.test('after a change of the first key the page still shows the link', async (t) => {
  const test = shared
  const admin = await createUser(test.database, { role: 'admin' })
  const { send } = person(test, (await signIn(test, admin)).cookie)
  await send('invitations/new', 'email=new@x.example&role=viewer&department=')
  const { rows } = await test.database.admin.query('SELECT id, link_hash FROM invitations')
  const [old] = test.config.encryptionKeys
  const added = { id: 'new', secret: Buffer.alloc(32, 1) }
  const shown = (keys: typeof test.config.encryptionKeys) =>
    invitationUrl({ baseUrl: 'https://a.example', keys }, rows[0].id, rows[0].link_hash)
  t.match(shown([added, old]), shown([old]))
  t.match(shown([old]), /\?link=/)
  t.notMatch(shown([added]), 'link=', 'without the key there is a page, but no secret')
})

t.test('with a mail server the page shows the link too', async (t) => {
  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', ALERT_FROM: 'gatehouse@x.example' }
  const test = await build(t, mail)
  const admin = await createUser(test.database, { role: 'admin' })
  const { open, send } = person(test, (await signIn(test, admin)).cookie)
  const answer = await send('invitations/new', 'email=new@x.example&role=viewer&department=')
  t.equal(answer.headers.location, '/app/tenant?done=mailed')
  t.match((await open()).body, /\/app\/invitations\/[0-9a-f-]{36}\/open\?link=/)
})

t.test('removing a member asks for confirmation', async (t) => {
  const { open } = await setUp()
  const { body } = await open()
  const form = /<form[^>]*action="\/app\/tenant\/members\/remove">[\s\S]*?<\/form>/.exec(body)?.[0]
  t.match(form, '<input type="checkbox" name="confirm" value="yes" required>')
})

t.test('every member is on a page of the list, and can be searched', async (t) => {
  const { test, tenantId, open } = await setUp()
  const { admin } = test.database
  await admin.query(
    `WITH people AS (
       INSERT INTO users (email) SELECT 'person-' || n || '@x.example' FROM generate_series(1, 120) n
       RETURNING id
     )
     INSERT INTO memberships (tenant_id, user_id, role) SELECT $1, id, 'viewer' FROM people`,
    [tenantId],
  )
  const seen = new Set<string>()
  let url: string | undefined = '/app/tenant'
  while (url !== undefined) {
    const { body } = await open(url)
    for (const [email] of body.matchAll(/person-\d+@x\.example/g)) seen.add(email)
    url = /href="(\/app\/tenant\?members=[^"#]+)#members" rel="next"/.exec(body)?.[1]
  }
  t.equal(seen.size, 120)
  const found = (await open('/app/tenant?search=PERSON-12%40')).body
  t.match(found, 'person-12@x.example')
  t.notMatch(found, 'person-120@x.example')
  t.notMatch((await open('/app/tenant?search=%25')).body, /person-\d/)
  t.match((await open('/app/tenant?search=person')).body, /\?search=person&amp;members=/)
  t.match((await open('/app/tenant?search=nobody')).body, 'No matching members.')
  t.equal((await open('/app/tenant?search=%00')).statusCode, 400)
})

t.test('a member has joined when their membership began', async (t) => {
  const { test, member, open } = await setUp()
  const { admin } = test.database
  await admin.query(`UPDATE users SET created_at = '2020-01-01' WHERE id = $1`, [member.userId])
  await admin.query(`UPDATE memberships SET created_at = '2024-02-03' WHERE user_id = $1`, [
    member.userId,
  ])
  const { body } = await open()
  t.match(body, '<time datetime="2024-02-03')
  t.notMatch(body, '2020-01-01')
})

t.test('a change of a member who was changed meanwhile is refused', async (t) => {
  const { test, member, open, send } = await setUp()
  const id = member.userId
  t.match((await open()).body, 'name="roleBefore" value="viewer"')
  const shown = `id=${id}&roleBefore=viewer&departmentBefore=`
  t.equal((await send('members/change', `${shown}&role=editor&department=`)).statusCode, 303)
  const late = await send('members/change', `${shown}&role=viewer&department=sales`)
  t.equal(late.statusCode, 412)
  t.match(late.body, 'Somebody has changed this in the meantime.')
  t.same(await roleOf(test, id), { role: 'editor', department: null })
  const now = `id=${id}&roleBefore=editor&departmentBefore=`
  t.equal((await send('members/change', `${now}&role=viewer&department=sales`)).statusCode, 303)
  t.same(await roleOf(test, id), { role: 'viewer', department: 'sales' })
})

t.test('members are found and shown by their names', async (t) => {
  const { test, member, open } = await setUp()
  await test.database.admin.query(`UPDATE users SET name = '<i>Vera' WHERE id = $1`, [
    member.userId,
  ])
  const { body } = await open('/app/tenant?search=vera')
  t.match(body, '&lt;i&gt;Vera')
  t.match(body, '&lt;i&gt;@x.example', 'with the address')
  t.notMatch(body, /Role of admin|<i>/)
})
