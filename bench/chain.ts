import pg from 'pg'
import { documents as declared } from '#shop/resources/documents.ts'
import { openDatabase } from '#src/db/database.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { insertSessions, memberEntry } from './entry.ts'

const { find: findDocument, list: listDocuments } = actionsOf(declared)

type Place = { url: string; superuserUrl: string }
export type ChainMeasured = { what: string; p50Ms: number; p99Ms: number }

const tenantId = '00000000-0000-4000-8000-000000000001'
const documents = 500_000
const folders = 20_000
const users = 2_000
const teams = 400
const teamsOfUser = 4
// Five levels: the number of folders down to level 1, 2, …
const upToDepth = [teams, 2_000, 7_000, 14_000, folders]

/**
 * The duration of checking one document and of a page of a list, one after another, as the application
 * role over the pool of transactions: whole transactions including Prisma, compared with an empty transaction.
 * Ordinary users are in a few teams; in the worst case one is in all teams.
 */
export async function measureChain(place: Place, times = 1_000): Promise<ChainMeasured[]> {
  const { firstUser, firstDocument } = await fillChain(place)
  const db = openDatabase(place.url, 1)
  const anybody = () => memberEntry(firstUser + 1 + below(users - 1))
  const everywhere = () => memberEntry(firstUser)
  const nothing = () => db.read(anybody(), (tx) => tx.sql`SELECT 1`)
  const check = (who: typeof anybody) => () => {
    const id = firstDocument + below(documents)
    return db.read(who(), findDocument(id))
  }
  const list = (who: typeof anybody) => () => {
    const after = [String(firstDocument + below(documents))]
    return db.read(who(), (tx, caller) => listDocuments(tx, caller, { limit: 50, after }))
  }
  try {
    return await measure(times, {
      nothing,
      'one document': check(anybody),
      'a page of 50': list(anybody),
      'one document, caller in every team': check(everywhere),
      'a page of 50, caller in every team': list(everywhere),
    })
  } finally {
    await db.close()
  }
}

/** Alternates between the works, so that disturbances affect all of them. */
async function measure(
  times: number,
  works: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<ChainMeasured[]> {
  const warmUp = times / 4 // compiles code, opens the connection
  const measured = Object.entries(works).map(([what, work]) => ({
    what,
    work,
    took: [] as number[],
  }))
  for (let n = 0; n < warmUp + times; n++) {
    for (const { work, took } of measured) {
      const start = performance.now()
      await work()
      if (n >= warmUp) took.push(performance.now() - start)
    }
  }
  return measured.map(({ what, took }) => {
    const sorted = took.toSorted((a, b) => a - b)
    const at = (part: number) => sorted[Math.floor(times * part)] ?? Number.NaN
    return { what, p50Ms: at(0.5), p99Ms: at(0.99) }
  })
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit)
}

/** Creates one tenant with all rows; resolves to its first user and document; the other ids follow. */
async function fillChain({ superuserUrl }: Place) {
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  const run = (text: string, ...values: unknown[]) => client.query({ text, values })
  try {
    await run('DELETE FROM tenants WHERE id = $1', tenantId)
    await run(`INSERT INTO tenants (id, name) VALUES ($1, 'Bench')`, tenantId)
    const { rows: made } = await run(
      `INSERT INTO users (email) SELECT 'u' || n FROM generate_series(1, ${users}) n RETURNING id`,
    )
    const firstUser = Number(made[0]?.id)
    await run(
      `INSERT INTO memberships (tenant_id, user_id, role)
       SELECT $1, id, 'editor' FROM users WHERE id >= $2`,
      tenantId,
      firstUser,
    )
    await run(insertSessions, tenantId)
    await run(
      `INSERT INTO teams (tenant_id, name) SELECT $1, 'Team ' || n FROM generate_series(1, ${teams}) n`,
      tenantId,
    )
    await run(
      `INSERT INTO team_members (tenant_id, team_id, user_id)
       SELECT m.tenant_id, t.id, m.user_id FROM memberships m CROSS JOIN LATERAL (
         SELECT id FROM teams t WHERE t.tenant_id = m.tenant_id
         ORDER BY md5(m.user_id || ' ' || t.id)
         LIMIT CASE m.user_id WHEN $2 THEN ${teams} ELSE ${teamsOfUser} END
       ) t WHERE m.tenant_id = $1`,
      tenantId,
      firstUser,
    )
    await fillFolders(run)
    const { rows } = await run(
      `INSERT INTO documents (tenant_id, folder_id, team_id, title, body)
       SELECT f.tenant_id, f.id, f.team_id, 'Document ' || n, repeat('Text. ', 20)
       FROM generate_series(1, ${documents}) n
       JOIN (SELECT *, row_number() OVER (ORDER BY md5(id::text)) - 1 AS place FROM folders
             WHERE tenant_id = $1) f ON f.place = (n::bigint * 7919) % ${folders}
       ORDER BY n RETURNING id`,
      tenantId,
    )
    await run('RESET session_replication_role')
    await run('VACUUM (ANALYZE) memberships, teams, team_members, folders, documents')
    return { firstUser, firstDocument: Number(rows[0]?.id) }
  } finally {
    await client.end()
  }
}

async function fillFolders(run: (text: string, ...values: unknown[]) => Promise<unknown>) {
  await run(
    `INSERT INTO folders (tenant_id, team_id, name)
     SELECT tenant_id, id, 'Folder' FROM teams WHERE tenant_id = $1`,
    tenantId,
  )
  for (const [depth, upTo] of upToDepth.entries()) {
    if (depth === 0) continue
    await run(
      `INSERT INTO folders (tenant_id, team_id, parent_id, parent_depth, name)
       SELECT f.tenant_id, f.team_id, f.id, f.depth, 'Folder'
       FROM (SELECT *, count(*) OVER () AS of, row_number() OVER (ORDER BY id) - 1 AS place
             FROM folders WHERE tenant_id = $1 AND depth = $2) f
       JOIN generate_series(1, $3::int) n ON n % f.of = f.place`,
      tenantId,
      depth,
      upTo - (upToDepth[depth - 1] ?? 0),
    )
  }
}
