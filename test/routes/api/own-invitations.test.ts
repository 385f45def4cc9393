import t, { type Test } from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const email = 'ada@example.com'

/** An admin who has invited the verified address of a user. */
async function setUp(t: Test) {
  const test = await build(t)
  const admin = await owner(test, { role: 'admin', email: 'boss@example.com' })
  const guest = await owner(test, { email: 'Ada@example.com', emailVerified: true })
  const invite = async (to = email): Promise<string> => {
    const body = { email: to, role: 'editor', department: 'sales' }
    return (await admin.send('POST', '/users', body)).json().id
  }
  const pending = async () => (await guest.send('GET', '/me')).json().invitations
  return { test, admin, guest, invite, pending, id: await invite() }
}

async function membershipsOf({ database }: TestApp, userId: number): Promise<unknown[]> {
  const { rows } = await database.admin.query(
    'SELECT tenant_id, role, department FROM memberships WHERE user_id = $1 ORDER BY created_at',
    [userId],
  )
  return rows
}

t.test('GET /me shows the open invitations of the caller’s verified addresses', async (t) => {
  const { test, admin, guest, pending, id } = await setUp(t)
  const { rows } = await test.database.admin.query('SELECT name FROM tenants WHERE id = $1', [
    admin.user.tenantId,
  ])
  const [shown, ...others] = await pending()
  t.strictSame(others, [])
  t.match(shown, {
    id,
    tenant: { id: admin.user.tenantId, name: rows[0].name },
    role: 'editor',
    department: 'sales',
    inviter: 'boss@example.com',
    createdAt: /^\d{4}-.*Z$/,
    expiresAt: /^\d{4}-.*Z$/,
  })
  t.match((await guest.send('GET', '/me')).json(), { tenant: { id: guest.user.tenantId } })
  const { use } = await guest.make()
  t.strictSame((await use('GET', '/me')).json().invitations, [], 'not for a token')
  t.strictSame((await admin.send('GET', '/me')).json().invitations, [], 'not for the inviter')
})

t.test('the invited person becomes a member by accepting, once', async (t) => {
  const { test, admin, guest, pending, id } = await setUp(t)
  const { userId } = guest.user
  const own = { tenant_id: guest.user.tenantId, role: 'viewer', department: null }
  t.strictSame(await membershipsOf(test, userId), [own])
  t.equal((await guest.send('POST', `/invitations/${id}/accept`)).statusCode, 204)
  t.strictSame(await membershipsOf(test, userId), [
    own,
    { tenant_id: admin.user.tenantId, role: 'editor', department: 'sales' },
  ])
  t.match((await guest.send('GET', '/me')).json(), { role: 'viewer' }, 'the session stays')
  t.strictSame(await pending(), [])
  t.strictSame((await admin.send('GET', '/invitations')).json().data, [])
  t.equal((await guest.send('POST', `/invitations/${id}/accept`)).statusCode, 404)
  t.equal((await guest.send('POST', `/invitations/${id}/decline`)).statusCode, 404)
})

t.test('the audit log names inviter and accepter, each with their own client', async (t) => {
  const { test, admin, guest, id } = await setUp(t)
  await test.app.inject({
    method: 'POST',
    url: `/invitations/${id}/accept`,
    headers: { cookie: guest.cookie, 'user-agent': 'the browser of the guest' },
  })
  const { data } = (await admin.send('GET', '/audit')).json()
  t.match(data, [
    {
      action: 'invitation-accept',
      reason: 'own-request',
      userId: guest.user.userId,
      userAgent: 'the browser of the guest',
      target: id,
    },
    { action: 'invitation-create', userId: admin.user.userId, target: id },
  ])
  t.equal(data.length, 2)
})

t.test('who declines sees the invitation no more; the tenant is not told', async (t) => {
  const { test, admin, guest, invite, pending, id } = await setUp(t)
  const before = (await admin.send('GET', '/invitations')).json()
  t.equal((await guest.send('POST', `/invitations/${id}/decline`)).statusCode, 204)
  t.strictSame(await pending(), [])
  for (const answer of ['accept', 'decline']) {
    t.equal((await guest.send('POST', `/invitations/${id}/${answer}`)).statusCode, 404)
  }
  t.equal((await membershipsOf(test, guest.user.userId)).length, 1)
  t.strictSame((await admin.send('GET', '/invitations')).json(), before)
  const actions = async (send: typeof admin.send, url: string) =>
    (await send('GET', url)).json().data.map(({ action }: { action: string }) => action)
  t.strictSame(await actions(admin.send, '/audit'), ['invitation-create'])
  t.strictSame(await actions(guest.send, '/auth/audit'), ['invitation-decline'])
  const again = await invite()
  t.match(await pending(), [{ id: again }], 'a new invitation is shown again')
})

t.test('an invitation is a 404 for anybody else, and when it is not open', async (t) => {
  const { test, admin, guest, invite, id } = await setUp(t)
  const stranger = await owner(test, { email: 'eve@example.com', emailVerified: true })
  const claimed = await owner(test, { email: 'eva@example.com' })
  const forEva = await invite('eva@example.com')
  const none = await stranger.send('POST', `/invitations/${crypto.randomUUID()}/accept`)
  for (const answer of ['accept', 'decline']) {
    for (const { send } of [stranger, admin]) {
      const refused = await send('POST', `/invitations/${id}/${answer}`)
      t.equal(refused.statusCode, 404)
      t.strictSame(comparable(refused), comparable(none))
    }
    const unproven = await claimed.send('POST', `/invitations/${forEva}/${answer}`)
    t.equal(unproven.statusCode, 404, 'an address that is only claimed')
    t.equal((await guest.send('POST', `/invitations/x/${answer}`)).statusCode, 400)
  }
  t.strictSame((await claimed.send('GET', '/me')).json().invitations, [])
  const { admin: sql } = test.database
  const endings = {
    expired: 'UPDATE invitations SET expires_at = now()',
    accepted: 'UPDATE invitations SET accepted_at = now()',
    'of a demoted inviter': `UPDATE memberships SET role = 'editor' WHERE user_id = ${admin.user.userId}`,
    withdrawn: 'DELETE FROM invitations',
  }
  for (const [name, ending] of Object.entries(endings)) {
    await sql.query(ending)
    for (const answer of ['accept', 'decline']) {
      t.equal((await guest.send('POST', `/invitations/${id}/${answer}`)).statusCode, 404, name)
    }
    t.strictSame((await guest.send('GET', '/me')).json().invitations, [], name)
    await sql.query(
      `UPDATE invitations SET expires_at = now() + interval '1 day', accepted_at = NULL`,
    )
    await sql.query(`UPDATE memberships SET role = 'admin' WHERE user_id = ${admin.user.userId}`)
  }
  t.equal((await membershipsOf(test, guest.user.userId)).length, 1)
})

t.test('a replaced invitation cannot be accepted', async (t) => {
  const { guest, admin, id } = await setUp(t)
  await admin.send('POST', '/users', { email, role: 'admin' })
  t.equal((await guest.send('POST', `/invitations/${id}/accept`)).statusCode, 404)
})

t.test('a token answers no invitation', async (t) => {
  const { guest, id } = await setUp(t)
  const { use } = await guest.make()
  for (const answer of ['accept', 'decline']) {
    t.equal((await use('POST', `/invitations/${id}/${answer}`)).statusCode, 403)
  }
})

t.test('the address of a linked identity counts while the provider vouches for it', async (t) => {
  const { test, guest, invite, pending } = await setUp(t)
  const work = await invite('work@example.com')
  const link = (verified: string | null) =>
    test.database.admin.query(
      `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer, verified_email)
       VALUES ('work', 'ada', $1, 'https://op.example', $2)
       ON CONFLICT (provider, provider_user_id) DO UPDATE SET verified_email = $2`,
      [guest.user.userId, verified],
    )
  await link(null)
  t.equal((await pending()).length, 1)
  await link('work@example.com')
  t.equal((await pending()).length, 2)
  t.equal((await guest.send('POST', `/invitations/${work}/accept`)).statusCode, 204)
  t.strictSame(await pending(), [], 'they are a member, whichever address was invited')
})

t.test('of several who accept at once each joins once', async (t) => {
  const { test, guest, id } = await setUp(t)
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => guest.send('POST', `/invitations/${id}/accept`)),
  )
  t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [204, 404, 404, 404])
  t.equal((await membershipsOf(test, guest.user.userId)).length, 2)
})

t.test('an inviter who is demoted at the same time: accepted before, or not at all', async (t) => {
  const { test, admin, invite } = await setUp(t)
  const { tenantId } = admin.user
  for (const index of Array.from({ length: 6 }).keys()) {
    const second = await owner(test, { role: 'admin', tenantId })
    const address = `guest-${index}@example.com`
    const guest = await owner(test, { email: address, emailVerified: true })
    const body = { email: address, role: 'viewer' }
    const { id } = (await second.send('POST', '/users', body)).json()
    const [accepted, demoted] = await Promise.all([
      guest.send('POST', `/invitations/${id}/accept`),
      admin.send('PATCH', `/users/${second.user.userId}`, { role: 'editor' }),
    ])
    t.equal(demoted.statusCode, 200)
    const joined = (await membershipsOf(test, guest.user.userId)).length === 2
    t.equal(accepted.statusCode, joined ? 204 : 404)
  }
  await invite()
})
