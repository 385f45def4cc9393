import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { attemptsAs, type Context, denied } from '#test/db/attempt.ts'
import { connect } from '#test/db/credentials.ts'
import {
  createChain,
  createDocument,
  createFolder,
  createTeam,
  nestFolder,
} from '#test/support/callers/chain.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { untilBlocked } from '#test/support/database/until.ts'

const noRows = { rows: 0 }
const byPolicy = { ...denied, message: /row-level security/ }
const byKey = { refused: '23503' }
const move = `(SELECT count(*)::int FROM place_folder(
  $1::bigint, $2::bigint, $3::bigint, $4::int, NULL, now())) AS moved`
const tables = ['teams', 'team_members', 'folders', 'documents']

t.test(
  'row-level security alone limits documents to team members, other rows to the tenant',
  async (t) => {
    const { database, member, colleague, stranger } = await world(t)
    for (const url of [database.url, database.ownerUrl]) {
      const attempt = await attemptsAs(t, database, url)
      const elsewhere = { tenantId: stranger.tenantId, userId: member.userId }
      for (const table of tables) {
        const shared = table !== 'documents'
        for (const sql of [`SELECT FROM ${table}`, `UPDATE ${table} SET updated_at = now()`]) {
          if (table === 'team_members' && sql.startsWith('UPDATE')) continue
          t.match(await attempt({}, sql), noRows, `no context: ${sql}`)
          t.match(await attempt({ userId: member.userId }, sql), noRows, `no tenant: ${sql}`)
          t.match(await attempt(elsewhere, sql), { rows: shared ? 1 : 0 }, `another tenant: ${sql}`)
          t.match(await attempt(colleague, sql), { rows: shared ? 1 : 0 }, `a colleague: ${sql}`)
          t.match(await attempt(member, sql), { rows: 1 }, `the member: ${sql}`)
        }
      }
      t.match(await attempt({ tenantId: member.tenantId }, 'SELECT FROM documents'), noRows)
    }
    const attempt = await attemptsAs(t, database, database.ownerUrl)
    for (const context of [{}, colleague, stranger]) {
      t.match(await attempt(context, 'DELETE FROM documents WHERE title IS NOT NULL'), {
        rows: context === stranger ? 1 : 0,
      })
    }
    const worker = await attemptsAs(t, database, database.workerUrl)
    for (const table of tables) t.match(await worker(member, `SELECT FROM ${table}`), denied, table)
  },
)

t.test('row-level security alone denies writing for others', async (t) => {
  const { database, member, colleague, stranger, chain } = await world(t)
  for (const url of [database.url, database.ownerUrl]) {
    const attempt = await attemptsAs(t, database, url)
    const write = `INSERT INTO documents (tenant_id, folder_id, team_id, title, body)
      VALUES ($1, $2, $3, 'x', 'x')`
    const values = [member.tenantId, chain.folderId, chain.teamId]
    t.match(await attempt(member, write, values), { rows: 1 })
    for (const context of [{}, colleague, stranger, { tenantId: member.tenantId }]) {
      t.match(await attempt(context, write, values), byPolicy)
    }
    const inserts = [
      [`INSERT INTO teams (tenant_id, name) VALUES ($1, 'x')`],
      [
        'INSERT INTO team_members (tenant_id, team_id, user_id) VALUES ($1, $2, $3)',
        chain.teamId,
        colleague.userId,
      ],
      [`INSERT INTO folders (tenant_id, team_id, name) VALUES ($1, $2, 'x')`, chain.teamId],
    ] as const
    for (const [sql, ...rest] of inserts) {
      t.match(await attempt(member, sql, [member.tenantId, ...rest]), { rows: 1 }, sql)
      t.match(await attempt(stranger, sql, [member.tenantId, ...rest]), byPolicy, sql)
      t.match(await attempt({}, sql, [member.tenantId, ...rest]), byPolicy, sql)
    }
  }
  const owner = await attemptsAs(t, database, database.ownerUrl)
  const hidden = await createTeam(database, member.tenantId)
  t.match(await owner(member, 'UPDATE documents SET team_id = $1', [hidden]), byPolicy)
  for (const table of tables) {
    const move = `UPDATE ${table} SET tenant_id = $1`
    t.match(await owner(member, move, [stranger.tenantId]), byPolicy, table)
  }
})

t.test('no foreign key can reference another tenant or another team’s folder', async (t) => {
  const { database, member, stranger, chain, foreign } = await world(t)
  const attempt = await attemptsAs(t, database, database.superuserUrl)
  const second = await createTeam(database, member.tenantId)
  const { tenantId } = member
  const writes: [string, string, unknown[]][] = [
    [
      'a document in another tenant’s folder',
      `INSERT INTO documents (tenant_id, folder_id, team_id, title, body) VALUES ($1, $2, $3, 'x', 'x')`,
      [tenantId, foreign.folderId, foreign.teamId],
    ],
    [
      'a document of a team that does not own its folder',
      `INSERT INTO documents (tenant_id, folder_id, team_id, title, body) VALUES ($1, $2, $3, 'x', 'x')`,
      [tenantId, chain.folderId, second],
    ],
    [
      'a folder of another tenant’s team',
      `INSERT INTO folders (tenant_id, team_id, name) VALUES ($1, $2, 'x')`,
      [tenantId, foreign.teamId],
    ],
    [
      'a folder in another tenant’s folder',
      `INSERT INTO folders (tenant_id, team_id, parent_id, parent_depth, name) VALUES ($1, $2, $3, 1, 'x')`,
      [tenantId, chain.teamId, foreign.folderId],
    ],
    [
      'a nested folder of another team',
      `INSERT INTO folders (tenant_id, team_id, parent_id, parent_depth, name) VALUES ($1, $2, $3, 1, 'x')`,
      [tenantId, second, chain.folderId],
    ],
    [
      'a nested folder that is not one deeper',
      `INSERT INTO folders (tenant_id, team_id, parent_id, parent_depth, name) VALUES ($1, $2, $3, 2, 'x')`,
      [tenantId, chain.teamId, chain.folderId],
    ],
    [
      'a member from another tenant',
      'INSERT INTO team_members (tenant_id, team_id, user_id) VALUES ($1, $2, $3)',
      [tenantId, chain.teamId, stranger.userId],
    ],
    [
      'a member of another tenant’s team',
      'INSERT INTO team_members (tenant_id, team_id, user_id) VALUES ($1, $2, $3)',
      [tenantId, foreign.teamId, member.userId],
    ],
  ]
  for (const [name, sql, values] of writes) t.match(await attempt({}, sql, values), byKey, name)
})

const nest = `UPDATE folders f SET parent_id = p.id, parent_depth = p.depth, team_id = p.team_id
  FROM folders p WHERE f.id = $1 AND p.id = $2`

t.test('the database rejects a cycle of folders', async (t) => {
  const { database, chain } = await world(t)
  const attempt = await attemptsAs(t, database, database.superuserUrl)
  const middle = await nestFolder(database, chain.folderId)
  const bottom = await nestFolder(database, middle)
  for (const into of [chain.folderId, middle, bottom]) {
    const outcome = await attempt({}, nest, [chain.folderId, into])
    t.match(outcome, { refused: /^(23503|23514)$/ }, `into ${into}`)
  }
  const detached = 'UPDATE folders SET parent_id = id WHERE id = $1'
  t.match(await attempt({}, detached, [chain.folderId]), { refused: '23514' })
})

t.test('the database rejects a cycle from two concurrent moves', async (t) => {
  const { database, member, chain } = await world(t)
  const other = await createFolder(database, member.tenantId, chain.teamId)
  const below = await nestFolder(database, other)
  const [first, second] = [
    await connect(t, database.superuserUrl),
    await connect(t, database.superuserUrl),
  ]
  await first.query('BEGIN')
  await first.query(nest, [chain.folderId, below])
  // Waits for the first, and then finds its parent deeper than it was.
  const late = second.query(nest, [other, chain.folderId]).catch((error: unknown) => error)
  await first.query('COMMIT')
  t.match(await late, { code: /^(23503|23514|40P01)$/ })
  const { rows } = await database.admin.query(
    'SELECT id::int, parent_id::int, depth FROM folders WHERE tenant_id = $1 ORDER BY depth',
    [member.tenantId],
  )
  t.strictSame(rows, [
    { id: other, parent_id: null, depth: 1 },
    { id: below, parent_id: other, depth: 2 },
    { id: chain.folderId, parent_id: below, depth: 3 },
  ])
})

t.test('deleting a tenant deletes its whole tree and no other', async (t) => {
  const { database, member, chain } = await world(t)
  await nestFolder(database, await nestFolder(database, chain.folderId))
  await database.admin.query('DELETE FROM tenants WHERE id = $1', [member.tenantId])
  for (const table of tables) {
    t.equal((await database.admin.query(`SELECT FROM ${table}`)).rowCount, 1, table)
  }
})

t.test('a folder moves with everything in it, whoever can see it', async (t) => {
  const { database, member, colleague, chain } = await world(t)
  const inner = await nestFolder(database, chain.folderId)
  const hidden = await createDocument(database, inner)
  const team = await createTeam(database, member.tenantId)
  const top = await createFolder(database, member.tenantId, team)
  const attempt = await attemptsAs(t, database, database.url)
  // In neither team, so the documents are hidden from the person who moves them.
  const moved = await attempt(colleague, `SELECT ${move}, (SELECT count(*)::int FROM documents)`, [
    chain.folderId,
    team,
    top,
    1,
  ])
  t.match(moved, { data: [{ moved: 1, count: 0 }] })

  const client = await connect(t, database.url)
  const entryOf = await allowScopes<Context>(database)
  const { text, values = [] } = entryOf(colleague).statement(true)
  await client.query('BEGIN')
  await client.query(text, [...values])
  await client.query(`SELECT ${move}`, [chain.folderId, team, top, 1])
  const scope = await client.query(
    'SELECT current_scope_kind() AS kind, count(*)::int FROM documents',
  )
  t.not(scope.rows[0].kind, 'move', 'the scope is the one from before')
  t.equal(scope.rows[0].count, 0)
  await client.query('COMMIT')
  const { rows } = await database.admin.query(
    `SELECT d.id::int, d.team_id::int, f.id::int AS folder, f.team_id::int AS owner, f.depth
     FROM documents d JOIN folders f ON f.tenant_id = d.tenant_id AND f.id = d.folder_id
     WHERE d.tenant_id = $1 ORDER BY f.depth`,
    [member.tenantId],
  )
  t.strictSame(rows, [
    { id: chain.documentId, team_id: team, folder: chain.folderId, owner: team, depth: 2 },
    { id: hidden, team_id: team, folder: inner, owner: team, depth: 3 },
  ])
})

t.test('a folder does not move to or from another tenant, or into itself', async (t) => {
  const { database, member, chain, foreign } = await world(t)
  const inner = await nestFolder(database, chain.folderId)
  const attempt = await attemptsAs(t, database, database.url)
  const { folderId, teamId } = chain
  t.match(await attempt({}, `SELECT ${move}`, [folderId, teamId, null, null]), denied)
  t.match(await attempt(member, `SELECT ${move}`, [foreign.folderId, teamId, null, null]), {
    data: [{ moved: 0 }],
  })
  for (const [team, parent, depth] of [
    [foreign.teamId, null, null],
    [foreign.teamId, foreign.folderId, 1],
    [teamId, foreign.folderId, 1],
    [teamId, inner, 2],
    [teamId, inner, 1],
    [teamId, folderId, 1],
  ]) {
    const refused = await attempt(member, `SELECT ${move}`, [folderId, team, parent, depth])
    t.match(refused, byKey, `to team ${team}, folder ${parent}`)
  }
})

t.test('a document that is being added moves with its folder', async (t) => {
  const { database, member, chain } = await world(t)
  const team = await createTeam(database, member.tenantId)
  const [adding, moving] = [await connect(t, database.superuserUrl), await connect(t, database.url)]
  await adding.query('BEGIN')
  await adding.query(
    `INSERT INTO documents (tenant_id, folder_id, team_id, title, body) VALUES ($1, $2, $3, 'late', 'x')`,
    [member.tenantId, chain.folderId, chain.teamId],
  )
  const entryOf = await allowScopes<Context>(database)
  const { text, values = [] } = entryOf(member).statement(true)
  await moving.query('BEGIN')
  await moving.query(text, [...values])
  const moved = moving.query(`SELECT ${move}`, [chain.folderId, team, null, null])
  await untilBlocked(database)
  await adding.query('COMMIT')
  await moved
  await moving.query('COMMIT')
  const { rows } = await database.admin.query(
    'SELECT DISTINCT team_id::int FROM documents WHERE tenant_id = $1',
    [member.tenantId],
  )
  t.strictSame(rows, [{ team_id: team }])
})

/** A team member, a colleague outside the team, and a member of another tenant's team. */
async function world(t: Test) {
  const database = await createDatabase(t)
  const member = await createUser(database)
  const colleague = await createUser(database, { role: 'admin', tenantId: member.tenantId })
  const stranger = await createUser(database)
  const chain = await createChain(database, member)
  const foreign = await createChain(database, stranger)
  return { database, member, colleague, stranger, chain, foreign }
}
