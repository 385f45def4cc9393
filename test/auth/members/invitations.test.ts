import t from 'tap'
import { createInvitation } from '#src/auth/members/invitations.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createUser, type TestUser } from '#test/support/helper.ts'
import { allowScopes } from '#test/support/scope.ts'
import {
  auditTrail,
  buildWithProvider,
  type Journey,
  signInThrough,
  visit,
} from '#test/support/sign-in-journey.ts'

const clientInfo = { userAgent: null, ip: null }
const trusted = { OIDC_DEMO_TRUST_EMAIL: 'example.com' }

async function invite(
  { app, database }: Journey,
  host: TestUser,
  email: string,
  role: 'viewer' | 'editor' = 'editor',
) {
  const { tenantId, userId: invitedBy } = host
  const invitation = { tenantId, email, role, department: 'sales', invitedBy }
  const enter = await allowScopes(database)
  const created = await app.db.transaction(enter(host), (connection) =>
    createInvitation(connection, invitation, clientInfo),
  )
  if (created === 'member') throw new Error('Invited a member.')
  return created
}

async function membershipsOf({ database }: Journey, tenantId: string): Promise<unknown[]> {
  const { rows } = await database.admin.query(
    `SELECT role, department FROM memberships WHERE tenant_id = $1 AND role <> 'admin'`,
    [tenantId],
  )
  return rows
}

/** Signs in with these claims and returns the response of `/me`. */
async function arrive(journey: Journey, claims: Record<string, unknown> = {}) {
  journey.op.fault = { claims }
  const browser = { cookie: '' }
  const answer = await signInThrough(journey, browser)
  return { answer, me: (await visit(journey.app, browser, '/me')).json() }
}

t.test('a first sign-in with the invited address joins the tenant and starts there', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const host = await createUser(journey.database, { role: 'admin' })
  const invitation = await invite(journey, host, 'ADA@Example.com')
  t.match(invitation, { email: 'ada@example.com', role: 'editor', acceptedAt: null })
  t.equal(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt), 14 * 86_400_000)
  const { me } = await arrive(journey)
  t.match(me, { tenant: { id: host.tenantId }, role: 'editor', department: 'sales' })
  t.same(await auditTrail(journey), [
    'invitation-create done invited',
    'invitation-accept done address',
    'sign-in done create',
  ])
  const { rows } = await journey.database.admin.query(
    'SELECT role FROM memberships m JOIN users u ON u.own_tenant_id = m.tenant_id AND u.id = m.user_id WHERE u.id = $1',
    [me.user.id],
  )
  t.same(rows, [{ role: 'admin' }], 'the user also has a tenant of their own')
})

t.test('a later sign-in accepts too; the session starts in the tenant last active', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const own = (await arrive(journey)).me.tenant.id
  const host = await createUser(journey.database, { role: 'admin' })
  // A user with the verified address becomes a member immediately.
  t.not((await invite(journey, host, 'ada@example.com')).acceptedAt, null)
  const moved = await createUser(journey.database, { role: 'admin' })
  t.equal((await invite(journey, moved, 'new@example.com')).acceptedAt, null)
  const { me } = await arrive(journey, { email: 'new@example.com' })
  t.equal(me.tenant.id, own, 'the tenant last active')
  t.same(await membershipsOf(journey, host.tenantId), [{ role: 'editor', department: 'sales' }])
  t.same(await membershipsOf(journey, moved.tenantId), [{ role: 'editor', department: 'sales' }])
})

t.test('an unverified address accepts no invitation', async (t) => {
  const cases: [string, Record<string, string>, Record<string, unknown>][] = [
    ['not verified', trusted, { email_verified: false }],
    ['verified as text', trusted, { email_verified: 'true' }],
    ['provider not trusted for it', { OIDC_DEMO_TRUST_EMAIL: 'example.org' }, {}],
    ['another address', trusted, { email: 'ada@example.com.evil' }],
    ['none', trusted, { email: undefined }],
  ]
  for (const [name, settings, claims] of cases) {
    const journey = await buildWithProvider(t, settings)
    const host = await createUser(journey.database, { role: 'admin' })
    await invite(journey, host, 'ada@example.com')
    t.equal((await arrive(journey, claims)).answer.statusCode, 302, name)
    t.same(await membershipsOf(journey, host.tenantId), [], name)
  }
})

t.test('an expired, withdrawn or accepted invitation cannot be accepted', async (t) => {
  const changes = {
    expired: 'UPDATE invitations SET expires_at = now()',
    withdrawn: 'DELETE FROM invitations',
    used: 'UPDATE invitations SET accepted_at = now()',
  }
  for (const [name, change] of Object.entries(changes)) {
    const journey = await buildWithProvider(t, trusted)
    const host = await createUser(journey.database, { role: 'admin' })
    await invite(journey, host, 'ada@example.com')
    await journey.database.admin.query(change)
    await arrive(journey)
    t.same(await membershipsOf(journey, host.tenantId), [], name)
  }
})

t.test('a member keeps their role; a second invitation replaces the first', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const host = await createUser(journey.database, { role: 'admin' })
  const first = await invite(journey, host, 'ada@example.com', 'editor')
  const second = await invite(journey, host, 'Ada@example.com', 'viewer')
  t.equal(second.id, first.id)
  await arrive(journey)
  t.same(await membershipsOf(journey, host.tenantId), [{ role: 'viewer', department: 'sales' }])
  await t.rejects(invite(journey, host, 'ADA@example.com', 'editor'), /Invited a member/)
  await arrive(journey)
  t.same(await membershipsOf(journey, host.tenantId), [{ role: 'viewer', department: 'sales' }])
})

t.test('a refused sign-in accepts no invitation', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const host = await createUser(journey.database, { role: 'admin' })
  await invite(journey, host, 'ada@example.com')
  await createUser(journey.database, { email: 'ada@example.com', emailVerified: true })
  t.equal((await arrive(journey, { email_verified: false })).answer.statusCode, 400)
  t.same(await membershipsOf(journey, host.tenantId), [])
})

t.test('concurrent sign-ins of an invited user create one membership per tenant', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const hosts = await Promise.all(
    [1, 2, 3].map(() => createUser(journey.database, { role: 'admin' })),
  )
  for (const host of hosts) await invite(journey, host, 'ada@example.com')
  const answers = await Promise.all([1, 2, 3, 4].map(() => signInThrough(journey, { cookie: '' })))
  t.same(
    answers.map(({ statusCode }) => statusCode),
    [302, 302, 302, 302],
  )
  for (const host of hosts) t.equal((await membershipsOf(journey, host.tenantId)).length, 1)
})

t.test('the worker has no privileges on invitations', async (t) => {
  const journey = await buildWithProvider(t)
  const systemDb = openSystemDatabase(journey.database.workerUrl, 1)
  t.teardown(() => systemDb.close())
  await t.rejects(systemDb.query({ text: 'SELECT FROM invitations' }), { code: '42501' })
})
