import pg from 'pg'
import t, { type Test } from 'tap'
import { switchLocks } from '#dev/testing/access/locks.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { decide, policy, type Resource } from '#src/access/policy.ts'
import { credentialOf, idleSeconds } from '#test/db/credentials.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import {
  createDocument,
  createFolder,
  createTeam,
  nestFolder,
} from '#test/support/callers/chain.ts'
import { createOrder, createTestInvoice, createTestPost } from '#test/support/callers/objects.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { type Asker, openCedar, type Thing } from './second-opinion/cedar.ts'

/*
 * Who may read which object, answered four times: by Cedar, by the policy with a model of the scope,
 * by the list over HTTP without row-level security (the query), and by row-level security alone (a
 * SELECT without WHERE). Two tenants, three people, every role, every membership of teams, every object.
 */

const roles = ['viewer', 'editor', 'admin', 'owner'] as const
/** What is listed, and the table it is in. */
const lists: readonly List[] = [
  { resource: 'order', path: '/orders', table: 'orders' },
  { resource: 'post', path: '/posts', table: 'posts' },
  { resource: 'invoice', path: '/invoices', table: 'invoices' },
  { resource: 'document', path: '/documents', table: 'documents' },
  { resource: 'folder', path: '/folders', table: 'folders' },
  { resource: 'team', path: '/teams', table: 'teams' },
  { resource: 'webhook-endpoint', path: '/webhook-endpoints', table: 'webhook_endpoints' },
]

type List = { resource: Resource; path: string; table: string }
/** The members of each team, by its id. */
type Members = ReadonlyMap<string, readonly string[]>
type Caller = { asker: Asker; cookie: string; cookieId: string }
type Found = { resource: Resource; thing: Thing }

t.test('Cedar, the policy, the queries and row-level security agree in every world', async (t) => {
  const cedar = await openCedar()
  const world = await createWorld(t)
  const { admin } = world.test.database
  // Allows a role that has no permissions.
  await admin.query('ALTER TABLE memberships DROP CONSTRAINT memberships_role_check')
  const visible = await visibleInEveryWorld(world)
  // From here on the queries have nothing behind them.
  await switchLocks(world.test, { queryScope: true, rowLevelSecurity: false })

  const differences: string[] = []
  const counts = { readable: 0, hidden: 0 }
  for (const members of memberships(world)) {
    await setMembers(world, members)
    for (const role of roles) {
      await admin.query('UPDATE memberships SET role = $1', [role])
      for (const caller of world.callers) {
        const asker = { ...caller.asker, role }
        for (const list of lists) {
          const listed = await idsOfList(world, caller, list.path)
          const seen = visible.get(keyOf(members, caller, list))
          for (const { thing } of world.objects.filter((one) => one.resource === list.resource)) {
            const allowed = isAllowed(asker, list.resource)
            const answers = {
              cedar: cedar.allows(asker, `${list.resource}:read`, thing, 12, members),
              policy: allowed && isInScope(asker, list.resource, thing, members),
              query: listed.has(thing.id),
              rowLevelSecurity: allowed && seen?.has(thing.id) === true,
            }
            counts[answers.cedar ? 'readable' : 'hidden'] += 1
            if (new Set(Object.values(answers)).size > 1) {
              differences.push(JSON.stringify({ asker, list, thing, answers }))
            }
          }
        }
      }
    }
  }
  t.strictSame(differences, [])
  t.ok(counts.readable > 100 && counts.hidden > 100, JSON.stringify(counts))
  t.comment(`compared: ${JSON.stringify(counts)}`)
})

/** What row-level security alone shows to each caller, whatever their role. */
async function visibleInEveryWorld(world: World): Promise<Map<string, ReadonlySet<string>>> {
  const visible = new Map<string, ReadonlySet<string>>()
  for (const members of memberships(world)) {
    await setMembers(world, members)
    for (const caller of world.callers) {
      for (const list of lists) {
        visible.set(keyOf(members, caller, list), await idsOfTable(world, caller, list.table))
      }
    }
  }
  return visible
}

function keyOf(members: Members, { cookieId }: Caller, { table }: List): string {
  return JSON.stringify([[...members], cookieId, table])
}

function isAllowed(asker: Asker, resource: Resource): boolean {
  const caller = {
    role: asker.role,
    tenantId: asker.tenant,
    department: null,
    plan: null,
    operator: false,
    tokenPermissions: null,
    sessionId: 'a session',
    authenticatedSecondsAgo: 0,
    serviceId: null,
    userId: 7,
  }
  const question = { caller, resource, action: 'read', object: { department: null } } as const
  return decide({ ...question, now: new Date() }).effect === 'allow'
}

/** The scope of the rule, from docs/access.md. */
function isInScope(asker: Asker, resource: Resource, thing: Thing, members: Members): boolean {
  const scope = policy.find((rule) => rule.resource === resource)?.scope
  if (scope === 'owner') return thing.owner === asker.person
  if (thing.tenant !== asker.tenant) return false
  const team = thing.path.at(-1)?.id ?? ''
  return scope === 'tenant' || (members.get(team)?.includes(asker.person) ?? false)
}

/** Every way in which three people can be members of three teams of their tenants. */
function* memberships({ teams }: World): Generator<Members> {
  const places = teams.flatMap(({ id, possible }) => possible.map((person) => ({ id, person })))
  for (let bits = 0; bits < 1 << places.length; bits += 1) {
    const chosen = places.filter((_, index) => (bits >> index) & 1)
    yield new Map(
      teams.map(({ id }) => [id, chosen.filter((one) => one.id === id).map((one) => one.person)]),
    )
  }
}

async function setMembers({ test, teams }: World, members: Members) {
  const rows = teams.flatMap(({ id, tenant }) =>
    (members.get(id) ?? []).map((user_id) => ({ tenant_id: tenant, team_id: id, user_id })),
  )
  await test.database.admin.query('DELETE FROM team_members')
  await test.database.admin.query(
    `INSERT INTO team_members (tenant_id, team_id, user_id)
     SELECT tenant_id, team_id, user_id
     FROM json_to_recordset($1) AS m (tenant_id uuid, team_id bigint, user_id bigint)`,
    [JSON.stringify(rows)],
  )
}

async function idsOfList({ test }: World, { cookie }: Caller, path: string): Promise<Set<string>> {
  const answer = await as(test, { cookie })('GET', `${path}?limit=100`)
  if (answer.statusCode === 403) return new Set()
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${answer.body}`)
  const { data, hasMore } = answer.json<{ data: { id: number | string }[]; hasMore: boolean }>()
  if (hasMore) throw new Error('one page does not hold the list')
  return new Set(data.map(({ id }) => String(id)))
}

async function idsOfTable({ web }: World, { cookieId }: Caller, table: string) {
  await web.query('BEGIN')
  try {
    const credential = credentialOf(cookieId)
    await web.query('SELECT enter_session($1, $2, false)', [credential, idleSeconds])
    const { rows } = await web.query<{ id: string }>(`SELECT id FROM ${table}`)
    return new Set(rows.map(({ id }) => String(id)))
  } finally {
    await web.query('ROLLBACK')
  }
}

type Team = { id: string; tenant: string; possible: readonly string[] }
type World = {
  test: TestApp
  /** A connection of the application role, for statements without WHERE. */
  web: pg.Client
  callers: readonly Caller[]
  teams: readonly Team[]
  objects: readonly Found[]
}

/** Ann belongs to both tenants, Ben to the first, Cat to the second. */
async function createWorld(t: Test): Promise<World> {
  const test = await build(t)
  const { database } = test
  const ann = await createUser(database)
  const ben = await createUser(database, { tenantId: ann.tenantId })
  const cat = await createUser(database)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [cat.tenantId, ann.userId],
  )
  const homes = [ann.tenantId, cat.tenantId] as const
  const callers = await Promise.all(
    [
      { userId: ann.userId, tenantId: homes[0] },
      { userId: ann.userId, tenantId: homes[1] },
      ben,
      cat,
    ].map(async (user) => ({ asker: askerOf(user), ...(await signIn(test, user)) })),
  )
  const objects: Found[] = []
  for (const user of [ann, ben, cat]) {
    const id = await createOrder(database, user)
    objects.push(found('order', id, { tenant: user.tenantId, owner: String(user.userId) }))
  }
  for (const tenant of homes) {
    objects.push(found('post', await createTestPost(database, tenant), { tenant }))
    objects.push(found('invoice', await createTestInvoice(database, tenant), { tenant }))
    const endpoint = await createEndpoint(
      database,
      { tenantId: tenant },
      { url: 'https://a.example' },
    )
    objects.push(found('webhook-endpoint', endpoint, { tenant }))
  }
  const teams: Team[] = []
  for (const { tenant, people } of [
    { tenant: homes[0], people: [ann, ben] },
    { tenant: homes[0], people: [ann] },
    { tenant: homes[1], people: [ann, cat] },
  ]) {
    const teamId = await createTeam(database, tenant)
    const possible = people.map(({ userId }) => String(userId))
    teams.push({ id: String(teamId), tenant, possible })
    objects.push(...(await createTree(test, tenant, teamId)))
  }
  const web = new pg.Client(database.url)
  await web.connect()
  t.teardown(() => web.end())
  return { test, web, callers, teams, objects }
}

/** A folder with a document, and in it another folder with a document. */
async function createTree({ database }: TestApp, tenant: string, teamId: number): Promise<Found[]> {
  const outer = await createFolder(database, tenant, teamId)
  const inner = await nestFolder(database, outer)
  const team = { type: 'Team', id: String(teamId) }
  const folders = [outer, inner].map((id) => ({ type: 'Folder', id: String(id) }))
  const [near, far] = folders
  if (near === undefined || far === undefined) throw new Error('two folders were made')
  return [
    { resource: 'team', thing: { ...plain(teamId, { tenant }), kind: 'Team' } },
    { resource: 'folder', thing: { ...plain(outer, { tenant }), kind: 'Folder', path: [team] } },
    {
      resource: 'folder',
      thing: { ...plain(inner, { tenant }), kind: 'Folder', path: [near, team] },
    },
    found('document', await createDocument(database, outer), { tenant, path: [near, team] }),
    found('document', await createDocument(database, inner), { tenant, path: [far, near, team] }),
  ]
}

function found(resource: Resource, id: number | string, facts: Partial<Thing>): Found {
  return { resource, thing: plain(id, facts) }
}

function plain(id: number | string, facts: Partial<Thing>): Thing {
  const nothing = { tenant: null, owner: null, department: null, path: [] } as const
  return { kind: 'Object', id: String(id), ...nothing, ...facts }
}

function askerOf({ userId, tenantId }: { userId: number; tenantId: string }): Asker {
  return {
    person: String(userId),
    tenant: tenantId,
    role: null,
    department: null,
    operator: false,
    session: true,
    recent: true,
    limit: null,
  }
}
