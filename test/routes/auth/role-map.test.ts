import t, { type Test } from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { mapRole } from '#src/auth/oidc/mapped-role.ts'
import {
  auditTrail,
  type Browser,
  buildWithProvider,
  type Journey,
  openTab,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

/* ROLE_MAP: the groups of a person at the provider decide their role in one tenant, at each sign-in. */

const tenantId = '0b8b1f0e-5b1a-4c55-9d3f-8f6c2f1f5a10'
const settings = {
  OIDC_DEMO_ROLE_MAP: 'groups:staff=editor,groups:leads=admin,groups:guests=viewer',
  OIDC_DEMO_ROLE_TENANT: tenantId,
}

/** An installation whose mapped tenant has an admin who does not come from the provider. */
async function setUp(t: Test) {
  const journey = await buildWithProvider(t, settings)
  const { admin } = journey.database
  const host = await createUser(journey.database, { role: 'admin' })
  await admin.query(`INSERT INTO tenants (id, name) VALUES ($1, 'Example Ltd')`, [tenantId])
  await join(journey, host.userId, 'admin')
  return { ...journey, journey, host }
}

function join({ database }: Pick<Journey, 'database'>, userId: number, role: string) {
  const values = [tenantId, userId, role]
  return database.admin.query(
    'INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, $3)',
    values,
  )
}

/** Signs in with these groups; resolves to the person as the API shows them. */
async function enter(journey: Journey, groups: unknown, browser: Browser = { cookie: '' }) {
  journey.op.fault = { claims: { groups } }
  await signInThrough(journey, browser)
  const { user, tenant, role } = (await visit(journey.app, browser, '/me')).json()
  return { id: user.id, tenantId: tenant.id, role }
}

/** The mapped memberships of everyone but the host, and the audit log about them. */
async function mapped({ database, ...journey }: Awaited<ReturnType<typeof setUp>>) {
  const { rows } = await database.admin.query(
    `SELECT role, role_provider AS by FROM memberships WHERE tenant_id = $1 AND user_id <> $2`,
    [tenantId, journey.host.userId],
  )
  const trail = await auditTrail({ database, app: journey.app })
  return { rows, trail: trail.filter((entry) => entry.startsWith('role-map')) }
}

t.test('the highest role of the groups, at each sign-in, until they have gone', async (t) => {
  const world = await setUp(t)
  const { journey, app } = world
  t.match(await enter(journey, ['guests', 'staff']), { role: 'editor', tenantId })
  const other = { cookie: '' }
  t.match(await enter(journey, ['staff'], other), { role: 'editor' })
  t.match(await enter(journey, 'leads'), { role: 'admin' })
  t.strictSame((await mapped(world)).rows, [{ role: 'admin', by: 'demo' }])
  t.match(await enter(journey, ['guests']), { role: 'viewer' })

  const after = await enter(journey, [])
  t.not(after.tenantId, tenantId, 'in the tenant of their own')
  t.equal(after.role, 'admin')
  t.equal((await visit(app, other, '/me')).statusCode, 401, 'the sessions there have ended')
  t.strictSame(await mapped(world), {
    rows: [],
    trail: [
      'role-map done joined-editor',
      'role-map done changed-admin',
      'role-map done changed-viewer',
      'role-map done removed',
    ],
  })
  const { rows } = await world.database.admin.query(
    `SELECT DISTINCT provider, tenant_id, target = user_id::text AS own FROM audit_log WHERE action = 'role-map'`,
  )
  t.strictSame(rows, [{ provider: 'demo', tenant_id: tenantId, own: true }])
})

t.test('without a mapped group nobody becomes a member, and with one later they do', async (t) => {
  const world = await setUp(t)
  const own = await enter(world.journey, ['others'])
  t.not(own.tenantId, tenantId)
  t.strictSame(await mapped(world), { rows: [], trail: [] })
  const later = await enter(world.journey, ['staff'])
  t.strictSame(later, own, 'the tenant that was active last stays active')
  t.strictSame((await mapped(world)).rows, [{ role: 'editor', by: 'demo' }])
})

t.test('of two sign-ins at once one makes the membership', async (t) => {
  const world = await setUp(t)
  const { journey, app, op } = world
  await enter(journey, [])
  const browsers = [{ cookie: '' }, { cookie: '' }]
  op.fault = { claims: { groups: ['staff'] } }
  const tabs = await Promise.all(browsers.map((browser) => openTab(app, browser)))
  const ends = browsers.map((browser, at) =>
    visit(app, browser, `/auth/callback?${op.approve(tabs[at] as URL)}`),
  )
  for (const { statusCode } of await Promise.all(ends)) t.equal(statusCode, 302)
  t.strictSame(await mapped(world), {
    rows: [{ role: 'editor', by: 'demo' }],
    trail: ['role-map done joined-editor'],
  })
})

t.test('a new person in a mapped tenant is not asked for its name', async (t) => {
  const { journey, app, op } = await setUp(t)
  const browser = { cookie: '' }
  op.fault = { claims: { groups: ['leads'] } }
  const parameters = op.approve(await openTab(app, browser))
  const headers = { accept: 'text/html' }
  const response = await visit(app, browser, `/auth/callback?${parameters}`, { headers })
  t.equal(response.statusCode, 302)
  t.notMatch(response.headers.location, 'welcome')
  const stranger = { cookie: '' }
  op.fault = { claims: { sub: 'stranger', email: 'stranger@example.com' } }
  const own = op.approve(await openTab(app, stranger))
  const welcome = await visit(app, stranger, `/auth/callback?${own}`, { headers })
  t.match(welcome.headers.location, 'welcome', 'others are')
  t.ok(journey)
})

t.test('a role that an admin has changed by hand stays', async (t) => {
  const world = await setUp(t)
  const { journey, host } = world
  const { id } = await enter(journey, ['leads'])
  const { cookie } = await signIn(world, { ...host, tenantId })
  const change = (body: object) => as(journey, { cookie })('PATCH', `/users/${id}`, body)
  const page = async () => (await as(journey, { cookie })('GET', '/app/tenant')).body
  const note = 'Groups at demo decide this role until it is changed here.'
  t.equal((await page()).split(note).length - 1, 1, 'for this member alone')
  t.equal((await change({ department: 'Sales' })).statusCode, 200)
  t.match(await enter(journey, ['staff']), { role: 'editor' }, 'the department is not the role')
  t.equal((await change({ role: 'viewer' })).statusCode, 200)
  t.notMatch(await page(), note)
  t.match(await enter(journey, ['leads']), { role: 'viewer', tenantId })
  t.match(await enter(journey, []), { role: 'viewer', tenantId }, 'and so does the membership')
  t.strictSame((await mapped(world)).rows, [{ role: 'viewer', by: null }])
})

t.test('a member who was invited keeps their role', async (t) => {
  const world = await setUp(t)
  const { id } = await enter(world.journey, [])
  await join(world, id, 'viewer')
  await enter(world.journey, ['leads'])
  await enter(world.journey, [])
  t.strictSame(await mapped(world), { rows: [{ role: 'viewer', by: null }], trail: [] })
})

t.test('another provider changes nothing of it', async (t) => {
  const world = await setUp(t)
  await enter(world.journey, ['staff'])
  await world.database.admin.query(`UPDATE memberships SET role_provider = 'other'
    WHERE role_provider = 'demo'`)
  await enter(world.journey, [])
  t.strictSame((await mapped(world)).rows, [{ role: 'editor', by: 'other' }])
})

t.test('the last admin stays one', async (t) => {
  const world = await setUp(t)
  await enter(world.journey, ['leads'])
  await world.database.admin.query(
    'DELETE FROM memberships WHERE tenant_id = $1 AND user_id = $2',
    [tenantId, world.host.userId],
  )
  t.match(await enter(world.journey, ['guests']), { role: 'admin', tenantId })
  t.match(await enter(world.journey, []), { role: 'admin', tenantId })
  t.strictSame(await mapped(world), {
    rows: [{ role: 'admin', by: 'demo' }],
    trail: [
      'role-map done joined-admin',
      'role-map refused last-admin',
      'role-map refused last-admin',
    ],
  })
})

t.test('groups that the provider keeps elsewhere change nothing', async (t) => {
  const world = await setUp(t)
  await enter(world.journey, ['staff'])
  world.op.fault = {
    claims: {
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph.example' } },
    },
  }
  await signInThrough(world.journey, { cookie: '' })
  t.strictSame((await mapped(world)).rows, [{ role: 'editor', by: 'demo' }])
})

t.test('a tenant that is missing or closed refuses no sign-in', async (t) => {
  const world = await setUp(t)
  const { admin } = world.database
  await admin.query('UPDATE tenants SET closed_at = now() WHERE id = $1', [tenantId])
  t.not((await enter(world.journey, ['leads'])).tenantId, tenantId)
  await admin.query('DELETE FROM tenants WHERE id = $1', [tenantId])
  t.ok((await enter(world.journey, ['leads'])).id)
  t.strictSame(await mapped(world), {
    rows: [],
    trail: Array(2).fill('role-map refused tenant-missing'),
  })
})

t.test('who has no other tenant gets one of their own', async (t) => {
  const world = await setUp(t)
  const { id } = await enter(world.journey, ['staff'])
  await world.database.admin.query(
    'DELETE FROM memberships WHERE user_id = $1 AND tenant_id <> $2',
    [id, tenantId],
  )
  const after = await enter(world.journey, [])
  t.match(after, { id, role: 'admin' })
  t.not(after.tenantId, tenantId)
})

t.test('open invitations of somebody who is no admin any more end', async (t) => {
  const world = await setUp(t)
  const invite = async () => {
    const browser = { cookie: '' }
    await enter(world.journey, ['leads'], browser)
    const sent = await visit(world.app, browser, '/users', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ email: 'new@example.com', role: 'admin' }),
    })
    t.equal(sent.statusCode, 201)
  }
  for (const groups of [['staff'], []]) {
    await invite()
    await enter(world.journey, groups)
    const { rows } = await world.database.admin.query('SELECT FROM invitations')
    t.equal(rows.length, 0, String(groups))
    t.equal((await auditTrail(world)).at(-2), 'invitation-delete done inviter-gone')
  }
})

t.test('only claims as they are said count', async (t) => {
  const map = { tenantId, rules: [{ claim: 'groups', value: 'staff', role: 'editor' as const }] }
  const roleOf = (claims: object) => mapRole(claims as Record<string, unknown>, map)?.role
  t.equal(roleOf({ groups: ['staff'] }), 'editor')
  for (const groups of [['Staff'], 'staff,leads', { staff: true }, [['staff']], null, undefined]) {
    t.equal(roleOf({ groups }), null, JSON.stringify(groups))
  }
  t.equal(roleOf({ __proto__: { groups: ['staff'] } }), null)
  t.equal(mapRole({ groups: ['staff'] }, null), null, 'off by default')
})
