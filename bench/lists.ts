import { fileURLToPath } from 'node:url'
import { Signer } from '@fastify/cookie'
import pg from 'pg'
import { newSessionId } from '#src/auth/sessions/session-id.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { sessionSecret, startGatehouse } from './contender.ts'
import { type Contender, measureContest } from './contest.ts'
import { ratioOf } from './measured.ts'
import { onDatabase, type Place } from './place.ts'
import { startServer } from './processes.ts'
import type { Effort, Section } from './section.ts'

const app = fileURLToPath(new URL('./listed', import.meta.url))
const mostRows = 1_000_000
const projectsEach = 16
// Lists of one credential take turns (plugins/limits/list-turns.ts): more connections would measure the waiting.
const connections = { lists: 1, creates: 64 } as const

const note = `The app in bench/listed. A list is the page of 50 of \`GET /items?status=open&sort=dueOn\` in a tenant with
all the rows, half of which are open. “By hand” is bare Fastify and pg (bench/baselines/list-by-hand.ts): a select of the
session, then the tenant as a setting and the same select under a policy on it, in one packet; in its favour it has one
statement text, no limit of the bytes of a page, no rules, limits, metrics and schemas, and a scope that any SQL could
set. The two creates write the same columns with the same indexes for lists; one of them has two references, each with
its foreign key and the index by which a deletion finds the rows that refer to it, the other has numbers.`

/** Lists of a large table, and what references cost. */
export async function measureLists(place: Place, effort: Effort): Promise<Section> {
  const rows = Math.min(effort.rows, mostRows)
  const { lists, creates } = await prepare(place, rows)
  const listed = await measureContest(lists, connections.lists, effort)
  const created = await measureContest(creates, connections.creates, effort)
  const [, ...createdRows] = created.table
  return {
    title: 'Lists and references',
    ratios: [
      {
        measure: `p50 of a page with filter and sort at ${rows.toLocaleString('en')} rows ÷ by hand, ${connections.lists} connection`,
        value: ratioOf(listed.at('list'), listed.at('list by hand'), 'p50Ms'),
        goal: '≤ 2',
      },
      {
        measure: `creates/s without references ÷ with two, ${connections.creates} connections`,
        value: ratioOf(created.at('numbers'), created.at('two references'), 'perSecond'),
        goal: '≤ 1.15',
      },
    ],
    measures: [...listed.table, ...createdRows],
    note,
  }
}

type Contenders = ReadonlyMap<string, Contender>

async function prepare(
  place: Place,
  rows: number,
): Promise<Record<'lists' | 'creates', Contenders>> {
  const database = await place.createApp('listed', app)
  const people = await placePeople(database.superuserUrl)
  const [first] = people
  if (first === undefined) throw new Error('nobody can ask')
  await onDatabase(database.superuserUrl, [
    `INSERT INTO items (tenant_id, title, status, due_on, project_id, other_id)
     SELECT '${first.tenantId}', 'Item ' || n, CASE n % 2 WHEN 0 THEN 'open' ELSE 'done' END,
       date '2026-01-01' + n % 3650, p.ids[1 + n % ${projectsEach}], p.ids[1 + n / 7 % ${projectsEach}]
     FROM generate_series(1, ${rows}) n,
       (SELECT array_agg(id) AS ids FROM projects WHERE tenant_id = '${first.tenantId}') p`,
    'CREATE TABLE items_by_hand (LIKE items INCLUDING ALL)',
    'INSERT INTO items_by_hand OVERRIDING SYSTEM VALUE SELECT * FROM items',
    'ALTER TABLE items_by_hand ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    `CREATE POLICY scope ON items_by_hand
     USING (tenant_id = (SELECT nullif(current_setting('app.tenant_id', true), '')::uuid))`,
    `CREATE ROLE ${role.name} LOGIN PASSWORD ${pg.escapeLiteral(role.password)}`,
    `GRANT SELECT ON items_by_hand TO ${role.name}`,
    'VACUUM (ANALYZE, FREEZE) items, items_by_hand, projects',
    'CHECKPOINT',
  ])
  const start = (url: string) => startGatehouse({ url }, {}, ['--app', app])
  const gatehouse = { start, databaseUrl: database.url }
  const byHand = {
    databaseUrl: urlOf(database.superuserUrl),
    start: (url: string) =>
      startServer('./baselines/list-by-hand.ts', {
        DATABASE_URL: url,
        SESSIONS_URL: withHost(database.superuserUrl, url),
      }),
  }
  const { cookie } = first
  const reads = { reads: [{ path: '/items?status=open&sort=dueOn&limit=50', cookie }] }
  const createsOf = (path: string) => ({
    creates: people.map(({ cookie, projects: [projectId, otherId] }) => ({
      ...{ path, cookie },
      body: { title: 'An item', status: 'open', dueOn: '2026-05-01', projectId, otherId },
    })),
  })
  return {
    lists: new Map([
      ['list', { ...gatehouse, requests: reads }],
      ['list by hand', { ...byHand, requests: reads }],
    ]),
    creates: new Map([
      ['two references', { ...gatehouse, requests: createsOf('/items') }],
      ['numbers', { ...gatehouse, requests: createsOf('/plain-items') }],
    ]),
  }
}

const role = { name: 'bench_lists', password: 'bench' }

function urlOf(superuserUrl: string): string {
  const url = new URL(superuserUrl)
  url.username = role.name
  url.password = role.password
  return url.href
}

/** Both pass the proxy of a far database. */
function withHost(url: string, other: string): string {
  const moved = new URL(url)
  moved.host = new URL(other).host
  return moved.href
}

type Person = {
  readonly tenantId: string
  readonly cookie: string
  readonly projects: readonly number[]
}

/** People with a session, each in a tenant with projects. */
async function placePeople(superuserUrl: string): Promise<Person[]> {
  const client = new pg.Client({ connectionString: superuserUrl })
  const signer = new Signer(sessionSecret)
  const people: Person[] = []
  await client.connect()
  try {
    for (let n = 0; n < connections.creates; n++) {
      const cookieId = newSessionId()
      const { rows } = await client.query(placing, [sha256(sha256(cookieId)), projectsEach])
      const [{ tenantId, projects }] = rows
      people.push({
        ...{ tenantId, projects: projects.map(Number) },
        cookie: `sid=${signer.sign(cookieId)}`,
      })
    }
  } finally {
    await client.end()
  }
  return people
}

const placing = `
  WITH tenant AS (
    INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'Bench') RETURNING id
  ), person AS (
    INSERT INTO users (own_tenant_id) SELECT id FROM tenant RETURNING id, own_tenant_id
  ), member AS (
    INSERT INTO memberships (tenant_id, user_id, role)
    SELECT own_tenant_id, id, 'admin' FROM person RETURNING tenant_id, user_id
  ), session AS (
    INSERT INTO sessions (id_hash, user_id, tenant_id, provider, authenticated_at, expires_at)
    SELECT $1, user_id, tenant_id, 'demo', now(), now() + interval '1 day' FROM member
  ), project AS (
    INSERT INTO projects (tenant_id, title)
    SELECT id, 'Project ' || n FROM tenant, generate_series(1, $2::int) n RETURNING tenant_id, id
  )
  SELECT tenant_id AS "tenantId", array_agg(id) AS projects FROM project GROUP BY tenant_id`
