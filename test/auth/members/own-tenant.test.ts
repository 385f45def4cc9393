import t, { type Test } from 'tap'
import { switchLocks } from '#dev/testing/access/locks.ts'
import { createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { readFirstSteps } from '#src/auth/members/first-steps.ts'
import { mailInvitation } from '#src/auth/members/invitation-mail.ts'
import {
  createInvitation,
  endInvitationsOf,
  maxOpenInvitations,
  resendInvitation,
} from '#src/auth/members/invitations.ts'
import {
  changeMember,
  findMemberNames,
  findRoleProviders,
  listManagers,
  listMembers,
  removeMember,
  withMembersLocked,
} from '#src/auth/members/members.ts'
import { findOwnRole, findTenant, listMemberships } from '#src/auth/members/tenants.ts'
import { findUsage } from '#src/auth/members/usage.ts'
import { createPortalLink, endPortalLink, maxPortalSessions } from '#src/auth/portal/portal.ts'
import { endOtherSessions, isAuthenticationTimeKnown } from '#src/auth/sessions/list.ts'
import { signOut } from '#src/auth/sessions/sign-out.ts'
import { switchTenant } from '#src/auth/sessions/switch-tenant.ts'
import { apiTokens } from '#src/auth/tokens/api-tokens.ts'
import {
  findServiceNames,
  maxServiceTokens,
  serviceTokens,
} from '#src/auth/tokens/service-tokens.ts'
import {
  changeToken,
  createToken,
  deleteToken,
  findToken,
  listTokens,
  rotateToken,
} from '#src/auth/tokens/store.ts'
import type { Tx } from '#src/db/database.ts'
import { memberChoices } from '#src/rows/reads.ts'
import { mailAlert } from '#src/webhooks/health/alert-mail.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'
import { isOnCluster } from '#test/support/database/template.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/*
 * One user in several tenants, with row-level security and the views of members and invitations
 * disabled: the statements themselves are limited to one tenant.
 */

const clientInfo = { userAgent: null, ip: null }
const page = { limit: 10, after: null }

/** An admin, and an editor who is also a member of another tenant. */
async function world(t: Test) {
  const test = await build(t)
  await switchLocks(test, { queryScope: true, rowLevelSecurity: false })
  const { database, app } = test
  const elsewhere = await createUser(database, {
    role: 'editor',
    email: 'ada@example.com',
    emailVerified: true,
  })
  const admin = await createUser(database, { role: 'admin' })
  await join(test, admin.tenantId, elsewhere)
  const enter = await allowScopes<TestScope>(database)
  const enterAdmin = await allowScopes<TestUser>(database)
  const write = <T>(user: TestUser, work: (connection: Tx) => Promise<T>) =>
    app.db.write(enter(user), work)
  return { ...test, enter, enterAdmin, write, admin, elsewhere, member: elsewhere.userId }
}

async function join({ database }: TestApp, tenantId: string, { userId }: TestUser): Promise<void> {
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`,
    [tenantId, userId],
  )
}

/** API tokens of a person in a tenant. */
async function addTokens({ database }: TestApp, { userId, tenantId }: TestUser, count: number) {
  await database.admin.query(
    `INSERT INTO api_tokens (last_four, user_id, tenant_id, name, hash, expires_at)
     SELECT 'test', $1, $2, 'a token', sha256(gen_random_uuid()::text::bytea), now() + interval '1 day'
     FROM generate_series(1, $3::int)`,
    [userId, tenantId, count],
  )
}

/** An invitation with the same id in each of the tenants, two days old. */
async function inviteInEach({ database }: TestApp, tenants: readonly TestUser[]): Promise<string> {
  const id = crypto.randomUUID()
  for (const [index, { tenantId }] of tenants.entries()) {
    await database.admin.query(
      `INSERT INTO invitations (tenant_id, id, email, role, created_at, expires_at)
       VALUES ($1, $2, $3, 'viewer', now() - interval '2 days', now() + interval '1 day')`,
      [tenantId, id, `${index}@example.com`],
    )
  }
  return id
}

async function rolesIn({ database }: TestApp, tenantId: string): Promise<Record<string, string>> {
  const { rows } = await database.admin.query<{ id: string; role: string }>(
    'SELECT user_id AS id, role FROM memberships WHERE tenant_id = $1',
    [tenantId],
  )
  return Object.fromEntries(rows.map(({ id, role }) => [id, role]))
}

t.test('what other tenants store is not shown', async (t) => {
  const { database, app, admin, elsewhere, enter, config } = await world(t)
  const tenants = [admin.tenantId, elsewhere.tenantId]
  for (const [index, tenantId] of tenants.entries()) {
    await database.admin.query(
      `INSERT INTO posts (tenant_id, title, body)
       SELECT $1, 'title', '' FROM generate_series(1, $2::int)`,
      [tenantId, index + 1],
    )
  }
  for (const [index, tenantId] of tenants.entries()) {
    const read = app.db.read(enter({ tenantId }), (tx) => findUsage(tx, { tenantId }, config.quota))
    t.equal((await read).resources.rows, index + 1)
  }
})

t.test('admins of other tenants do not count, and get no mail', async (t) => {
  const { database, app, write, admin, enter } = await world(t)
  await createUser(database, { role: 'admin', email: 'grace@example.com', emailVerified: true })
  await database.admin.query(
    `UPDATE users SET email = 'boss@example.com', email_verified = true WHERE id = $1`,
    [admin.userId],
  )
  const demote = write(admin, (connection) =>
    changeMember(connection, admin, admin.userId, { role: 'viewer' }, clientInfo),
  )
  t.equal(await demote, 'last-admin')
  const managers = app.db.read(enter(admin), (tx) => listManagers(tx, admin))
  t.same(await managers, [{ address: 'boss@example.com', locale: null }])
})

t.test('sessions of another person do not end', async (t) => {
  const test = await world(t)
  const { database, app, write, admin, elsewhere } = test
  for (const user of [admin, admin, elsewhere]) await signIn(test, user)
  const sessionsOf = async ({ userId }: TestUser) => {
    const { rows } = await database.admin.query<{ id: string }>(
      'SELECT id FROM sessions WHERE user_id = $1 ORDER BY id',
      [userId],
    )
    return rows.map(({ id }) => id)
  }
  const [kept = '', ended = ''] = await sessionsOf(admin)
  const theirs = await sessionsOf(elsewhere)
  const others = { userId: admin.userId, tenantId: admin.tenantId, sessionId: kept }
  t.equal(await write(admin, (tx) => endOtherSessions(tx, others, clientInfo)), 1)
  t.same(await sessionsOf(admin), [kept], ended)
  const foreign = { ...others, sessionId: theirs[0] ?? '' }
  t.equal(await write(admin, (tx) => isAuthenticationTimeKnown(tx, others)), true)
  t.equal(await write(admin, (tx) => isAuthenticationTimeKnown(tx, foreign)), false)
  t.equal(await write(admin, (tx) => signOut(tx, app.queue, foreign, clientInfo)), null)
  t.same(await sessionsOf(elsewhere), theirs)
})

t.test('tokens of another person take no room', async (t) => {
  const test = await world(t)
  const { write, admin, elsewhere } = test
  await addTokens(test, elsewhere, 50)
  const wanted = { name: 'mine', permissions: null, expiresAt: null }
  const made = await write(admin, (connection) =>
    createToken(apiTokens, connection, { ...admin, role: 'admin', clientInfo }, wanted, new Date()),
  )
  t.match(made, { token: String })
})

t.test('a role changes only in the admin’s tenant and only for this member', async (t) => {
  const test = await world(t)
  const { write, admin, elsewhere, member } = test
  const colleague = await createUser(test.database, { role: 'editor', tenantId: admin.tenantId })
  const change = { role: 'viewer' } as const
  const changed = await write(admin, (connection) =>
    changeMember(connection, admin, member, change, clientInfo),
  )
  t.match(changed, { id: member, role: 'viewer' })
  t.same(await rolesIn(test, admin.tenantId), {
    [admin.userId]: 'admin',
    [member]: 'viewer',
    [colleague.userId]: 'editor',
  })
  t.same(await rolesIn(test, elsewhere.tenantId), { [member]: 'editor' })
})

t.test('a member is removed only from the admin’s tenant, and the user remains', async (t) => {
  const test = await world(t)
  const { app, write, admin, elsewhere, member } = test
  const colleague = await createUser(test.database, { tenantId: admin.tenantId })
  const remove = (id: number) =>
    write(admin, (connection) => removeMember(connection, app.queue, admin, id, clientInfo))
  t.equal(await remove(member), 'removed')
  t.same(await rolesIn(test, admin.tenantId), {
    [admin.userId]: 'admin',
    [colleague.userId]: 'viewer',
  })
  t.same(await rolesIn(test, elsewhere.tenantId), { [member]: 'editor' })
  t.equal(await remove(colleague.userId), 'removed')
  const { rows } = await test.database.admin.query('SELECT id::int FROM users ORDER BY id')
  const left = [elsewhere.userId, admin.userId].map((id) => ({ id }))
  t.same(rows, left, 'a user without a membership is deleted')
})

const skip = isOnCluster() && 'a cluster makes one change of members at a time (docs/growth.md)'
t.test('a change locks only the rows of the admins and the member', { skip }, async (t) => {
  const { app, database, enterAdmin, admin, member } = await world(t)
  const colleague = await createUser(database, { tenantId: admin.tenantId })
  const holder = await database.admin.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN')
  await holder.query('SELECT FROM memberships WHERE user_id = $1 FOR UPDATE', [colleague.userId])
  const change = { role: 'viewer' } as const
  const changed = await app.db.write(withMembersLocked(enterAdmin(admin), member), (connection) =>
    changeMember(connection, admin, member, change, clientInfo),
  )
  t.match(changed, { role: 'viewer' })
})

t.test('a member of another tenant can be invited; a member cannot', async (t) => {
  const test = await world(t)
  const { app, admin, elsewhere } = test
  const { encryptionKeys: keys } = test.config
  const host = await createUser(test.database, { role: 'admin' })
  const invitation = {
    tenantId: host.tenantId,
    email: 'ada@example.com',
    role: 'viewer',
    department: null,
    invitedBy: host.userId,
  } as const
  const invite = () =>
    test.write(host, (connection) =>
      createInvitation(connection, { queue: app.queue, keys }, invitation, clientInfo),
    )
  await test.database.admin.query(
    `INSERT INTO invitations (tenant_id, email, role, expires_at)
     SELECT $1, n || '@example.com', 'viewer', now() + interval '1 day'
     FROM generate_series(1, $2::int) n`,
    [admin.tenantId, maxOpenInvitations],
  )
  t.match(await invite(), { acceptedAt: null }, 'invitations of another tenant take no room')
  t.match(await rolesIn(test, host.tenantId), { [host.userId]: 'admin' })
  await join(test, host.tenantId, elsewhere)
  t.equal(await invite(), 'member')
  await test.write(admin, (connection) =>
    endInvitationsOf(connection, admin, host.userId, clientInfo),
  )
  const { rowCount } = await test.database.admin.query(
    'SELECT FROM invitations WHERE tenant_id = $1',
    [host.tenantId],
  )
  t.equal(rowCount, 1, 'an admin ends no invitation of another tenant')
})

t.test('members and their names are those of the tenant', async (t) => {
  const { app, database, enter, admin, member } = await world(t)
  const stranger = await createUser(database, { email: 'stranger@example.com' })
  const { tenantId } = admin
  await database.admin.query(
    `UPDATE memberships SET role_provider = CASE WHEN tenant_id = $1 THEN 'here' ELSE 'elsewhere' END`,
    [tenantId],
  )
  await app.db.read(enter({ tenantId }), async (tx) => {
    const { data } = await listMembers(tx, admin, page, { search: 'example.com' })
    t.match(data, [{ id: member }])
    t.equal(data.length, 1)
    const names = await findMemberNames(tx, admin, [member, admin.userId, stranger.userId])
    t.same(
      [...names],
      [
        [member, 'ada@example.com'],
        [admin.userId, null],
      ],
    )
    const choices = await memberChoices(tx, admin, 10, [stranger.userId])
    t.strictSame(choices.map(({ id }) => id).toSorted(), [member, admin.userId].toSorted())
    t.strictSame([...(await findRoleProviders(tx, admin, [member]))], [[member, 'here']])
    t.strictSame([...(await findRoleProviders(tx, admin, [stranger.userId]))], [])
  })
})

t.test('an invitation is mailed in the tenant of the job only', async (t) => {
  const test = await world(t)
  const { config, database, enterAdmin, admin, elsewhere } = test
  const id = await inviteInEach(test, [elsewhere, admin])
  const sent: unknown[] = []
  const mailer = { send: async ({ to }: { to: readonly string[] }) => void sent.push(...to) }
  const db = openPatiently(t, database.workerUrl, 1)
  const deps = { ...config, db, mailer, keys: config.encryptionKeys }
  t.equal(await mailInvitation(enterAdmin(admin), id, deps), 'mailed')
  t.same(sent, ['1@example.com'])
  const { rows } = await database.admin.query(
    'SELECT email FROM invitations WHERE mailed_at IS NOT NULL',
  )
  t.same(rows, [{ email: '1@example.com' }])
  t.equal(await mailInvitation(enterAdmin(admin), id, deps), 'mailed-before')
})

t.test('an invitation is sent again in the tenant of the admin only', async (t) => {
  const test = await world(t)
  const { app, database, write, admin, elsewhere } = test
  const resend = (id: string) =>
    write(admin, (tx) => resendInvitation(tx, app.queue, admin, { id, role: 'viewer' }, clientInfo))
  t.equal(await resend(await inviteInEach(test, [elsewhere])), null, 'there is none in it')
  t.equal(await resend(await inviteInEach(test, [admin, elsewhere])), 'sent')
  const { rows } = await database.admin.query(
    `SELECT tenant_id AS "tenantId", invited_by::int AS "userId" FROM invitations
     WHERE invited_by IS NOT NULL`,
  )
  t.strictSame(rows, [admin])
})

t.test('an alert is mailed with the name of the tenant of the job', async (t) => {
  const { config, database, enterAdmin, admin, elsewhere } = await world(t)
  const ids: number[] = []
  for (const user of [elsewhere, admin]) {
    const endpointId = await createEndpoint(database, user, { url: 'https://example.com' })
    const { rows } = await database.admin.query<{ id: number }>(
      `WITH named AS (UPDATE tenants SET name = 'Named ' || id WHERE id = $1)
       INSERT INTO notifications (tenant_id, endpoint_id, kind, message)
       VALUES ($1, $2, 'endpoint.failing', 'x') RETURNING id::int`,
      [user.tenantId, endpointId],
    )
    ids.push(rows[0]?.id ?? 0)
  }
  const sent: string[] = []
  const mailer = { send: async (mail: object) => void sent.push(JSON.stringify(mail)) }
  const db = openPatiently(t, database.workerUrl, 1)
  const deps = {
    ...config,
    db,
    mailer,
    listManagers: async () => [{ address: 'boss@example.com', locale: null }],
  }
  const [foreign = 0, own = 0] = ids
  t.match(await mailAlert(enterAdmin(admin), foreign, deps), { outcome: 'gone' })
  t.match(await mailAlert(enterAdmin(admin), own, deps), { outcome: 'mailed' })
  t.match(sent, [`Named ${admin.tenantId}`])
  t.notMatch(sent.join(), elsewhere.tenantId)
})

t.test('only the user of a session can switch its tenant', async (t) => {
  const test = await world(t)
  const { write, admin, elsewhere } = test
  const stranger = await createUser(test.database)
  const move = async (user: TestUser) => {
    const { cookieId } = await signIn(test, user)
    // Entered as the admin: the session of the cookie decides, not the scope.
    return write(admin, (connection) =>
      switchTenant(connection, cookieId, admin.tenantId, clientInfo),
    )
  }
  t.equal(await move(stranger), null, 'not a member')
  t.match(await move(elsewhere), /^p[\da-z]+-[\w-]{43}$/)
})

t.test('the role in a tenant is that of the user', async (t) => {
  const { database, write, admin, member } = await world(t)
  const stranger = await createUser(database)
  const roleOf = (userId: number) =>
    write(admin, (connection) => findOwnRole(connection, { userId }, admin.tenantId))
  t.equal(await roleOf(admin.userId), 'admin')
  t.equal(await roleOf(member), 'editor')
  t.equal(await roleOf(stranger.userId), null)
})

t.test('the first steps are those of the person in the tenant', async (t) => {
  const test = await world(t)
  const { app, database, enter, admin } = test
  const host = await createUser(database, { role: 'admin' })
  const read = () => app.db.read(enter(host), (tx) => readFirstSteps(tx, host))

  await join(test, admin.tenantId, host)
  await addTokens(test, { ...host, tenantId: admin.tenantId }, 1)
  await createOrder(database, admin)
  await createEndpoint(database, admin, { url: 'https://example.com' })
  await database.admin.query(
    `INSERT INTO outbound_events (tenant_id, id, type, body)
     VALUES ($1, 'test', 'endpoint.test', '{}')`,
    [admin.tenantId],
  )
  await inviteInEach(test, [admin])
  t.strictSame(await read(), {
    hasToken: false,
    hasEndpoint: false,
    hasTest: false,
    hasInvited: false,
  })

  const colleague = await createUser(database, { tenantId: host.tenantId })
  await addTokens(test, colleague, 1)
  t.match(await read(), { hasToken: false, hasInvited: true }, 'with a member who has a token')
})

t.test('the active tenant is that of the session; the list contains the memberships', async (t) => {
  const { app, enter, admin, elsewhere, member } = await world(t)
  for (const { tenantId } of [admin, elsewhere]) {
    const found = await app.db.read(enter({ tenantId }), (tx) => findTenant(tx, { tenantId }))
    t.match(found, { id: tenantId })
  }
  const { userId } = admin
  const { data } = await app.db.read(enter({ userId }), (tx) =>
    listMemberships(tx, { userId }, null, page),
  )
  t.match(data, [{ id: admin.tenantId, role: 'admin' }])
  t.equal(data.length, 1)
  const own = await app.db.read(enter({ userId: member }), (tx) =>
    listMemberships(tx, { userId: member }, null, page),
  )
  t.equal(own.data.length, 2)
})

t.test('links of another tenant take no room, and are not ended', async (t) => {
  const { database, write, admin, elsewhere } = await world(t)
  const { id: serviceId } = await addAppToken(database)
  const store = async ({ tenantId }: TestUser, count: number, age: string) => {
    const { rows } = await database.admin.query<{ id: string }>(
      `INSERT INTO portal_sessions (hash, tenant_id, app_token_id, created_at, opened_at, expires_at)
       SELECT sha256(gen_random_uuid()::text::bytea), $1, $2, now() - $4::interval, now(), now() + interval '1 hour'
       FROM generate_series(1, $3::int) RETURNING id`,
      [tenantId, serviceId, count, age],
    )
    return rows.map(({ id }) => id)
  }
  const [oldest = ''] = await store(admin, 1, '30 minutes')
  await store(elsewhere, maxPortalSessions, '0')
  const { tenantId } = admin
  const made = await write(admin, (tx) => createPortalLink(tx, { serviceId, tenantId }, clientInfo))
  t.match(made, { secret: String })
  t.equal(await write(elsewhere, (tx) => endPortalLink(tx, elsewhere, oldest, clientInfo)), false)
  t.equal(await write(admin, (tx) => endPortalLink(tx, admin, oldest, clientInfo)), true)
})

t.test('a service token is found, changed and deleted in its tenant alone', async (t) => {
  const { app, database, enter, write, admin, elsewhere } = await world(t)
  const by = { ...admin, clientInfo }
  const store = async ({ tenantId }: TestUser, name: string, ids: readonly string[]) => {
    await database.admin.query(
      `INSERT INTO service_tokens (last_four, tenant_id, id, hash, name, permissions, expires_at)
       SELECT 'test', $1, id, sha256(convert_to($2 || id, 'UTF8')), $2, '{post:read}', now() + interval '1 day'
       FROM unnest($3::uuid[]) id`,
      [tenantId, name, ids],
    )
  }
  const theirs = Array.from({ length: maxServiceTokens }, () => crypto.randomUUID())
  const [id = '', other = ''] = theirs
  await store(elsewhere, 'theirs', theirs)
  await store(admin, 'mine', [id])
  await app.db.read(enter(admin), async (tx) => {
    t.match((await listTokens(serviceTokens, tx, admin, page)).data, [{ id, name: 'mine' }])
    t.match(await findToken(serviceTokens, tx, admin, id), { name: 'mine' })
    t.equal(await findToken(serviceTokens, tx, admin, other), null)
    t.strictSame([...(await findServiceNames(tx, admin, [other]))], [])
  })
  const wanted = { name: 'new', permissions: ['post:read'], expiresAt: null }
  const made = await write(admin, (tx) => createToken(serviceTokens, tx, by, wanted, new Date()))
  t.match(made, { name: 'new' }, 'theirs take no room')

  const holder = await database.admin.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN')
  await holder.query('SELECT FROM service_tokens WHERE name = $1 FOR UPDATE', ['theirs'])
  const change = { name: 'changed' }
  const changed = await write(admin, (tx) =>
    changeToken(serviceTokens, tx, by, id, change, new Date()),
  )
  t.match(changed, { name: 'changed' }, 'theirs are not waited for')
  await holder.query('ROLLBACK')

  t.match(await write(admin, (tx) => rotateToken(serviceTokens, tx, by, id)), { name: 'changed' })
  t.equal(await write(admin, (tx) => deleteToken(serviceTokens, tx, by, id)), true)
  const { rows } = await database.admin.query(
    'SELECT name, secret_rotated_at AS rotated, count(*)::int FROM service_tokens WHERE tenant_id = $1 GROUP BY 1, 2',
    [elsewhere.tenantId],
  )
  t.strictSame(rows, [{ name: 'theirs', rotated: null, count: maxServiceTokens }])
})
