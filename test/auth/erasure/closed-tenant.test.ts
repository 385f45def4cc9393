import t from 'tap'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { addJob, connect } from '#test/db/credentials.ts'
import type { TestApp } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { portalOwner } from '#test/support/callers/portal.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import {
  type Browser,
  buildWithProvider,
  type Journey,
  signInThrough,
} from '#test/support/provider/sign-in-journey.ts'
import { eraseAll, findTables } from './support.ts'

/*
 * A tenant is closed in one step, whatever is in it: from then on nobody enters it, and a worker deletes
 * its members and rows. These tests look between the two.
 */

t.test('no credential and no job enters a closed tenant', async (t) => {
  const test = await buildWithProvider(t)
  const { admin, member, close } = await createTenant(test)
  const { tenantId } = admin.user
  const { make } = await serviceOwner(test, { tenantId })
  const service = await make(['post:create', 'post:read'])
  const token = await member.make()
  const app = await appCaller(test)
  await app.use('PUT', '/event-types/done', { description: 'x' })
  const visitor = await (await portalOwner(test)).enter(tenantId)
  const job = await addJob(test.database, 'deliver', { tenantId })
  const orderId = await createOrder(test.database, member.user)
  const guest = await owner(test, { email: 'guest@example.com', emailVerified: true })
  await admin.send('POST', '/users', { email: 'guest@example.com', role: 'viewer' })
  const invitations = async () => (await guest.send('GET', '/me')).json().invitations
  const [invitation] = await invitations()
  const post = { title: 'x', body: 'x' }
  const requests: Record<string, () => Promise<{ statusCode: number }>> = {
    'a session reads': () => member.send('GET', '/me'),
    'a session writes': () => member.send('POST', '/posts', post),
    'an API token reads': () => token.use('GET', '/posts'),
    'an API token writes': () => token.use('POST', '/posts', post),
    'a service reads': () => service.use('GET', '/posts'),
    'a service writes': () => service.use('POST', '/posts', post),
    'a proxy asks': () => member.send('GET', '/auth/verify'),
    'the app publishes': () =>
      app.use('POST', `/tenants/${tenantId}/events`, { type: 'done', data: {} }),
    'the app makes a link': () => app.use('POST', `/tenants/${tenantId}/portal-links`),
    'somebody in the portal reads': () => visitor.open('/portal/webhooks'),
    'somebody in the portal writes': () =>
      visitor.send('/portal/webhooks/new', {
        ...{ submission: crypto.randomUUID(), url: 'https://8.8.8.8/', description: '' },
        signature: 'spec',
      }),
  }
  for (const [name, request] of Object.entries(requests)) {
    t.ok((await request()).statusCode < 400, name)
  }
  const worker = await connect(t, test.database.workerUrl)
  const enterJob = () => worker.query(`SELECT * FROM enter_job('deliver', $1)`, [job])
  t.equal((await enterJob()).rowCount, 1)

  await close()

  const before = await published(test, tenantId)
  for (const [name, request] of Object.entries(requests)) {
    t.equal((await request()).statusCode, name.startsWith('the app ') ? 404 : 401, name)
  }
  const [entered] = (await enterJob()).rows
  t.not(entered.tenant_id, tenantId, 'a job finds nothing of the tenant, and ends')
  t.strictSame(await invitations(), [])
  for (const answer of ['accept', 'decline']) {
    const path = `/invitations/${invitation.id}/${answer}`
    t.equal((await guest.send('POST', path, {})).statusCode, 404, answer)
  }
  const send = as(test, await signIn(test, member.home))
  const { data: tenants } = (await send('GET', '/tenants')).json()
  t.strictSame(tenants, [{ ...tenants[0], id: member.home.tenantId }])
  t.equal((await send('POST', '/session/tenant', { tenantId })).statusCode, 404, 'a switch')
  t.strictSame((await send('GET', '/auth/tokens')).json().data, [], 'nor are its tokens listed')
  const sessions = (await send('GET', '/auth/sessions')).json().data
  t.equal(sessions.length, 1, 'nor its sessions')
  const shippingAddress = { ...address, name: 'Elsewhere' }
  const changed = await send('PATCH', `/orders/${orderId}`, { shippingAddress })
  t.equal(changed.statusCode, 200, 'an order stays with the person who placed it')
  t.equal(await published(test, tenantId), before, 'and its change is published nowhere')
})

t.test('members of a closed tenant sign in to another one, or begin anew', async (t) => {
  const test = await buildWithProvider(t)
  const { member, lone, close } = await createTenant(test)
  for (const [{ userId }, subject] of [
    [member.user, 'of-two'],
    [lone, 'of-one'],
  ] as const) {
    await addIdentity(test, userId, subject)
  }
  await addGrant(test, 'of-one')
  await close()
  t.strictSame(await signInAs(test, 'of-two'), member.home)
  const anew = await signInAs(test, 'of-one')
  t.not(anew.userId, lone.userId)
  t.not(anew.tenantId, lone.tenantId)
  t.strictSame(await revokedOf(test), [lone.userId], 'their old tokens are revoked')
  await eraseAll(test.database)
  t.strictSame(await signInAs(test, 'of-one'), anew, 'the worker does not touch the new account')
})

t.test('a worker removes the members in batches, and another one goes on', async (t) => {
  const test = await buildWithProvider(t)
  const { database } = test
  const { admin, lone, member, close } = await createTenant(test)
  const { tenantId } = admin.user
  await addIdentity(test, lone.userId, 'ada')
  await addGrant(test, 'ada')
  await close()
  const left = async () =>
    (await database.admin.query('SELECT FROM memberships WHERE tenant_id = $1', [tenantId]))
      .rowCount
  t.equal(await left(), 2, 'without the admin who deleted it')
  const { rows } = await database.admin.query(`SELECT id FROM erasures WHERE kind = 'tenant'`)
  const work = 'SELECT finished FROM work_erasure($1, 1)'
  const first = await connect(t, database.workerUrl)
  t.strictSame((await first.query(work, [rows[0].id])).rows, [{ finished: false }])
  t.equal(await left(), 1)
  const killed = await connect(t, database.workerUrl)
  await killed.query('BEGIN')
  await killed.query(work, [rows[0].id])
  const { rows: backends } = await killed.query('SELECT pg_backend_pid() AS pid')
  await database.admin.query('SELECT pg_terminate_backend($1::int)', [backends[0].pid])
  t.equal(await left(), 1, 'what was not committed is done again')
  await eraseAll(database)
  t.equal((await database.admin.query('SELECT FROM erasures')).rowCount, 0)
  t.strictSame(await findTables(database, [tenantId]), [])
  const { rows: users } = await database.admin.query('SELECT id::int AS id FROM users')
  t.strictSame(users, [{ id: member.home.userId }])
  t.strictSame(await revokedOf(test), [lone.userId])
})

const address = { line1: '2 Quay', city: 'Porto', postalCode: '4000-001', country: 'PT' }

/** A tenant with an admin, a member who has another tenant, and a member who has no other. */
async function createTenant(test: TestApp) {
  const admin = await owner(test, { role: 'admin' })
  const { tenantId } = admin.user
  const home = await createUser(test.database, { role: 'admin' })
  const lone = await createUser(test.database, { tenantId, role: 'editor' })
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`,
    [tenantId, home.userId],
  )
  const user: TestUser = { ...home, tenantId }
  const { cookie } = await signIn(test, user)
  const send = as(test, { cookie })
  const make = async () => {
    const { token } = (await send('POST', '/auth/tokens', { name: 'ci', permissions: null })).json()
    return { use: as(test, { authorization: `Bearer ${token}` }) }
  }
  return {
    admin,
    lone,
    member: { user, home, send, make },
    async close() {
      const name = `Tenant ${tenantId.slice(0, 8)}`
      const answer = await admin.send('POST', '/session/tenant/delete', { name })
      if (answer.statusCode !== 204) throw new Error(answer.body)
    },
  }
}

async function addGrant({ database }: TestApp, subject: string): Promise<void> {
  await database.admin.query(
    `INSERT INTO provider_grants (provider, provider_user_id, access_token, refresh_token, scope)
     VALUES ('demo', $1, 'x', 'y', 'openid')`,
    [subject],
  )
}

/** The former users whose tokens a job revokes, in the name of no tenant. */
async function revokedOf({ database }: TestApp): Promise<number[]> {
  const { rows } = await database.admin.query<{ id: number }>(
    `SELECT r.user_id::int AS id FROM token_revocations r
     JOIN pgboss.job j ON j.data ->> 'revocationId' = r.id::text WHERE r.tenant_id IS NULL`,
  )
  return rows.map(({ id }) => id)
}

async function published({ database }: TestApp, tenantId: string): Promise<number | null> {
  const { rowCount } = await database.admin.query(
    'SELECT FROM outbound_events WHERE tenant_id = $1',
    [tenantId],
  )
  return rowCount
}

/** The user and tenant of a new sign-in with the identity. */
async function signInAs(journey: Journey, subject: string): Promise<TestUser> {
  journey.op.fault = { claims: { sub: subject } }
  const browser: Browser = { cookie: '' }
  const { statusCode, body } = await signInThrough(journey, browser)
  if (statusCode !== 302) throw new Error(body)
  const { user, tenant } = (await as(journey, browser)('GET', '/me')).json()
  return { userId: user.id, tenantId: tenant.id }
}
