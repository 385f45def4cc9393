import t from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { createInvitation, maxOpenInvitations } from '#src/auth/members/invitations.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { build } from '#test/support/app/app.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { untilWaiting } from '#test/support/database/until.ts'
import {
  auditTrail,
  buildWithProvider,
  type Journey,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const clientInfo = { userAgent: null, ip: null }
const trusted = { OIDC_DEMO_TRUST_EMAIL: 'example.com' }

async function invite({ app, database, config }: Journey, host: TestUser, email: string) {
  const { tenantId, userId: invitedBy } = host
  const invitation = { tenantId, email, role: 'editor', department: 'sales', invitedBy } as const
  const enter = await allowScopes(database)
  const created = await app.db.write(enter(host), (connection) =>
    createInvitation(
      connection,
      { queue: app.queue, keys: config.encryptionKeys },
      invitation,
      clientInfo,
    ),
  )
  if (typeof created === 'string') throw new Error(`Not invited: ${created}.`)
  return created
}

async function membershipsOf({ database }: Journey, tenantId: string): Promise<unknown[]> {
  const { rows } = await database.admin.query(
    `SELECT role, department FROM memberships WHERE tenant_id = $1 AND role <> 'admin'`,
    [tenantId],
  )
  return rows
}

/** Signs in with these claims, and resolves to what the person sees and can do. */
async function arrive(journey: Journey, claims: Record<string, unknown> = {}) {
  journey.op.fault = { claims }
  const browser = { cookie: '' }
  const answer = await signInThrough(journey, browser)
  const { invitations, ...me } = (await visit(journey.app, browser, '/me')).json()
  const respond = async (id: string, response: 'accept' | 'decline' = 'accept') =>
    (await visit(journey.app, browser, `/invitations/${id}/${response}`, { method: 'POST' }))
      .statusCode
  return { answer, me, invitations, respond }
}

t.test('nobody becomes a member by signing in; the invited person accepts', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const host = await createUser(journey.database, { role: 'admin' })
  const invitation = await invite(journey, host, 'ADA@Example.com')
  t.match(invitation, { email: 'ada@example.com', role: 'editor', acceptedAt: null })
  t.equal(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt), 14 * 86_400_000)
  const { me, invitations, respond } = await arrive(journey)
  t.not(me.tenant.id, host.tenantId, 'they start in a tenant of their own')
  t.match(invitations, [{ id: invitation.id, tenant: { id: host.tenantId } }])
  t.same(await membershipsOf(journey, host.tenantId), [])
  t.equal(await respond(invitation.id), 204)
  t.same(await membershipsOf(journey, host.tenantId), [{ role: 'editor', department: 'sales' }])
  t.same(await auditTrail(journey), [
    'invitation-create done invited',
    'sign-in done create',
    'invitation-accept done own-request',
  ])
  t.equal((await arrive(journey)).me.tenant.id, me.tenant.id, 'the tenant last active')
})

t.test('the address of the latest sign-in counts, besides that of the account', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  await arrive(journey)
  const [first, moved] = [
    await createUser(journey.database, { role: 'admin' }),
    await createUser(journey.database, { role: 'admin' }),
  ]
  const old = await invite(journey, first, 'ada@example.com')
  const present = await invite(journey, moved, 'new@example.com')
  t.match((await arrive(journey)).invitations, [{ id: old.id }])
  const renamed = await arrive(journey, { email: 'New@example.com' })
  t.match(renamed.invitations, [{ id: present.id }, { id: old.id }])
  const unverified = await arrive(journey, { email: 'new@example.com', email_verified: false })
  t.match(unverified.invitations, [{ id: old.id }])
  t.equal(unverified.invitations.length, 1, 'the provider vouches for it no more')
  t.equal(await unverified.respond(present.id), 404)
})

t.test('an unverified address shows and accepts no invitation', async (t) => {
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
    const { id } = await invite(journey, host, 'ada@example.com')
    const { answer, invitations, respond } = await arrive(journey, claims)
    t.equal(answer.statusCode, 302, name)
    t.same(invitations, [], name)
    t.equal(await respond(id), 404, name)
    t.equal(await respond(id, 'decline'), 404, name)
    t.same(await membershipsOf(journey, host.tenantId), [], name)
  }
})

t.test('a second invitation replaces the first; a member keeps their role', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const host = await createUser(journey.database, { role: 'admin' })
  const first = await invite(journey, host, 'ada@example.com')
  const second = await invite(journey, host, 'Ada@example.com')
  t.not(second.id, first.id)
  const { invitations, respond } = await arrive(journey)
  t.match(invitations, [{ id: second.id }])
  t.equal(invitations.length, 1)
  t.equal(await respond(first.id), 404)
  t.equal(await respond(second.id), 204)
  await t.rejects(invite(journey, host, 'ADA@example.com'), /Not invited: member/)
})

t.test('the worker sees no invitation without a job of the tenant', async (t) => {
  const journey = await buildWithProvider(t)
  const host = await createUser(journey.database, { role: 'admin' })
  await invite(journey, host, 'ada@example.com')
  const systemDb = openSystemDatabase(journey.database.workerUrl, 1, patient)
  t.teardown(() => systemDb.close())
  t.strictSame(await systemDb.sql`SELECT FROM invitations`, [])
  await t.rejects(systemDb.sql`UPDATE invitations SET role = 'admin'`, { code: '42501' })
})

t.test('of two invitations at once the last place is given to one', async (t) => {
  const { app, config, database } = await build(t)
  const host = await createUser(database, { role: 'admin' })
  await database.admin.query(
    `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
     SELECT $1, 'a' || n || '@example.com', 'viewer', $2, now() + interval '1 day'
     FROM generate_series(1, $3::int) AS n`,
    [host.tenantId, host.userId, maxOpenInvitations - 1],
  )
  const enter = await allowScopes(database)
  const [made, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const create = (email: string, until?: Promise<void>) => {
    const { tenantId, userId: invitedBy } = host
    const invitation = { tenantId, email, role: 'viewer', department: null, invitedBy } as const
    return app.db.write(enter(host), async (tx) => {
      const deps = { queue: app.queue, keys: config.encryptionKeys }
      const created = await createInvitation(tx, deps, invitation, clientInfo)
      made.resolve()
      await until
      return created
    })
  }
  const first = create('one@example.com', released.promise)
  await made.promise
  let isAnswered = false
  const second = create('two@example.com').finally(() => {
    isAnswered = true
  })
  const open = 'SELECT FROM invitations OFFSET 1000'
  const waits = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await untilWaiting(async () => isAnswered || (await database.admin.query(waits)).rowCount === 1)
  released.resolve()
  t.match(await first, { email: 'one@example.com' })
  t.equal(await second, 'full')
  t.equal((await database.admin.query(open)).rowCount, 0)
})
