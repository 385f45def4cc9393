import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startGatehouse } from './contender.ts'
import { type Contender, measureContest } from './contest.ts'
import { ratioOf } from './measured.ts'
import { placePeople } from './people.ts'
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
  const people = await placePeople<Placed>(
    database.superuserUrl,
    connections.creates + 1,
    startingProjects,
    [projectsEach],
  )
  // The tenant with the large table has reached its quota, so others create.
  const [first, ...creators] = people
  if (first === undefined) throw new Error('No person was created.')
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
    creates: creators.map(({ cookie, projects: [project, other] }) => ({
      ...{ path, cookie },
      body: {
        title: 'An item',
        status: 'open',
        dueOn: '2026-05-01',
        ...{ projectId: Number(project), otherId: Number(other) },
      },
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

type Placed = { tenantId: string; projects: string[] }

/** Projects of each tenant, $2 of them. */
const startingProjects = `, project AS (
    INSERT INTO projects (tenant_id, title)
    SELECT id, 'Project ' || n FROM tenant, generate_series(1, $2::int) n RETURNING tenant_id, id
  )
  SELECT tenant_id AS "tenantId", array_agg(id) AS projects FROM project GROUP BY tenant_id`
