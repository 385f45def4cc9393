import t, { type Test } from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const email = 'ada@example.com'
const page = 'text/html'

/** An installation without a trusted provider: an admin, and a person who only claims the address. */
async function setUp(t: Test) {
  const test = await build(t, { LOG_LEVEL: 'trace' })
  const admin = await owner(test, { role: 'admin', email: 'boss@example.com' })
  const guest = await owner(test, { email: 'Ada@Example.com' })
  return { test, admin, guest, ...(await invite(admin)) }
}

async function invite({ send }: Pick<Awaited<ReturnType<typeof owner>>, 'send'>, to = email) {
  const { id, url } = (await send('POST', '/users', { email: to, role: 'editor' })).json()
  return { id, url, link: new URL(url).searchParams.get('link') ?? '' }
}

async function tenantsOf({ database }: TestApp, userId: number): Promise<string[]> {
  const { rows } = await database.admin.query(
    'SELECT tenant_id FROM memberships WHERE user_id = $1 ORDER BY created_at',
    [userId],
  )
  return rows.map(({ tenant_id: id }) => id)
}

t.test(
  'the link lets the invited address accept, though no provider is trusted, once',
  async (t) => {
    const { test, admin, guest, id, link } = await setUp(t)
    t.match(link, /^[\w-]{43}$/)
    const accept = (body?: object) => guest.send('POST', `/invitations/${id}/accept`, body)
    t.equal((await accept()).statusCode, 404, 'not without the link')
    t.equal((await accept({ link })).statusCode, 204)
    t.same(await tenantsOf(test, guest.user.userId), [guest.user.tenantId, admin.user.tenantId])
    t.equal((await accept({ link })).statusCode, 404, 'not twice')
    t.match((await guest.send('GET', '/auth/audit')).json().data, [
      { action: 'invitation-accept', reason: 'invitation-link', target: id },
    ])
    const { rows } = await test.database.admin.query(
      'SELECT email_verified FROM users WHERE id = $1',
      [guest.user.userId],
    )
    t.same(rows, [{ email_verified: false }], 'it proves the address for nothing else')
  },
)

t.test('the link opens no invitation of another address, tenant or state', async (t) => {
  const { test, admin, guest, id, link } = await setUp(t)
  const eve = await owner(test, { email: 'eve@example.com', emailVerified: true })
  const nameless = await owner(test)
  const elsewhere = await owner(test, { role: 'admin', email: 'other@example.com' })
  const second = await invite(elsewhere)
  const none = await eve.send('POST', `/invitations/${crypto.randomUUID()}/accept`, { link })
  const refuse = async (
    by: Pick<typeof guest, 'send'>,
    invitation: string,
    secret: string,
    why: string,
  ) => {
    for (const answer of ['accept', 'decline']) {
      const refused = await by.send('POST', `/invitations/${invitation}/${answer}`, {
        link: secret,
      })
      t.equal(refused.statusCode, 404, why)
      t.strictSame(comparable(refused), comparable(none), why)
    }
  }
  await refuse(eve, id, link, 'another address')
  await refuse(nameless, id, link, 'no address')
  await refuse(admin, id, link, 'the inviter')
  await refuse(guest, id, second.link, 'the link of another tenant')
  await refuse(guest, second.id, link, 'the invitation of another tenant')
  await refuse(guest, id, `${link.slice(0, 42)}${link.endsWith('A') ? 'Q' : 'A'}`, 'a guess')
  const { admin: sql } = test.database
  await sql.query('UPDATE invitations SET link_hash = NULL')
  await refuse(guest, id, link, 'no link was made')
  const again = await invite(admin)
  await refuse(guest, id, link, 'replaced')
  await refuse(guest, again.id, link, 'the link of the replaced one')
  for (const [why, change, back] of [
    ['expired', 'expires_at = now()', `expires_at = now() + interval '1 day'`],
    ['declined', 'declined_at = now()', 'declined_at = NULL'],
    ['accepted', 'accepted_at = now()', 'accepted_at = NULL'],
  ] as const) {
    await sql.query(`UPDATE invitations SET ${change}`)
    await refuse(guest, again.id, again.link, why)
    await sql.query(`UPDATE invitations SET ${back}`)
  }
  await admin.send('DELETE', `/invitations/${again.id}`)
  await refuse(guest, again.id, again.link, 'withdrawn')
  t.same(await tenantsOf(test, guest.user.userId), [guest.user.tenantId])
  t.equal((await guest.send('POST', `/invitations/${id}/accept`, { link: 'x' })).statusCode, 400)
})

t.test(
  'a browser opens the link, signs in, and answers on a page without the secret',
  async (t) => {
    const { test, admin, guest, id, url, link } = await setUp(t)
    const { pathname, search } = new URL(url)
    const opened = await test.app.inject({ url: pathname + search, headers: { accept: page } })
    t.equal(opened.statusCode, 303)
    t.equal(opened.headers.location, `/app/invitations/${id}`)
    const kept = opened.cookies.find(({ name }) => name === 'invitation')
    t.match(kept, { value: link, path: `/app/invitations/${id}`, httpOnly: true, sameSite: 'Lax' })
    const cookie = `invitation=${link}`
    const visit = (session: string) =>
      test.app.inject({
        url: `/app/invitations/${id}`,
        headers: { accept: page, cookie: `${cookie}${session}` },
      })
    const signedOut = await visit('')
    t.match(signedOut.headers.location, /return_to=%2Fapp%2Finvitations%2F[\w-]+$/)
    t.equal(await tenantsOf(test, guest.user.userId).then(({ length }) => length), 1)
    const stranger = await visit(`; ${admin.cookie}`)
    t.equal(stranger.statusCode, 404)
    t.match(stranger.body, 'sign in with the address that was invited')
    const shown = await visit(`; ${guest.cookie}`)
    t.equal(shown.statusCode, 200)
    t.match(shown.headers['referrer-policy'], 'same-origin')
    const payload = `link=${link}`
    t.match(shown.body, `name="link" value="${link}"`)
    const accepted = await test.app.inject({
      method: 'POST',
      url: `/invitations/${id}/accept`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: guest.cookie },
      payload,
    })
    t.equal(accepted.headers.location, '/app/account?done=joined')
  },
)

t.test('the secret is stored as a hash and is in no log, audit entry or download', async (t) => {
  const { test, admin, guest, id, url, link } = await setUp(t)
  const { pathname, search } = new URL(url)
  await test.app.inject({ url: pathname + search })
  await test.app.inject({ url: `${pathname}?link=${link}x` })
  await guest.send('POST', `/invitations/${id}/decline`, { link })
  const bytes = Buffer.from(link, 'base64url')
  const { admin: sql } = test.database
  const { rows } = await sql.query(
    `SELECT i::text AS row, (SELECT string_agg(a::text, ' ') FROM audit_log a) AS audit,
       link_hash = sha256($1) AS hashed FROM invitations i`,
    [bytes],
  )
  t.equal(rows[0].hashed, true)
  const answers = [
    (await admin.send('GET', '/invitations')).body,
    (await admin.send('GET', '/audit')).body,
    (await admin.send('GET', '/auth/account/export')).body,
    (await guest.send('GET', '/auth/account/export')).body,
    (await guest.send('GET', '/auth/audit')).body,
  ]
  t.ok(test.log.length > 0)
  for (const text of [rows[0].row, rows[0].audit, ...answers, ...test.log]) {
    t.notMatch(text, link)
    t.notMatch(text, bytes.toString('hex'))
  }
  const hash = Buffer.from((await sql.query('SELECT link_hash FROM invitations')).rows[0].link_hash)
  for (const text of answers) t.notMatch(text, hash.toString('hex'))
})

t.test(
  'an admin has the link with a mail server too, because a mail may be held back',
  async (t) => {
    const test = await build(t, { SMTP_URL: 'smtp://127.0.0.1:9', ALERT_FROM: 'a@example.com' })
    const { send, cookie } = await owner(test, { role: 'admin' })
    const invited = (await send('POST', '/users', { email, role: 'viewer' })).json()
    t.match(invited.url, /\/open\?link=[\w-]{43}$/)
    const headers = { cookie, accept: 'text/html' }
    const page = await test.app.inject({ url: '/app/tenant', headers })
    t.match(page.body, invited.url)
  },
)

t.test('only who has verified the address stops or resumes its mail', async (t) => {
  const { test, guest, id, link } = await setUp(t)
  const { admin: sql } = test.database
  const silence = async () =>
    (await sql.query('SELECT FROM invitation_mails WHERE declined_at IS NOT NULL')).rowCount
  const reopen = () =>
    sql.query('UPDATE invitations SET declined_at = NULL, accepted_at = NULL, mailed_at = now()')
  const verify = (isVerified: boolean) =>
    sql.query('UPDATE users SET email_verified = $1 WHERE id = $2', [isVerified, guest.user.userId])
  const answer = async (kind: string) =>
    t.equal((await guest.send('POST', `/invitations/${id}/${kind}`, { link })).statusCode, 204)
  await answer('decline')
  t.equal(await silence(), 0, 'an admin may have used the link, also if it was mailed')
  await reopen()
  await verify(true)
  await answer('decline')
  t.equal(await silence(), 1)
  await reopen()
  await verify(false)
  await answer('accept')
  t.equal(await silence(), 1)
})
