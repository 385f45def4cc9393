import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { documents } from '#shop/resources/documents.ts'
import { orders } from '#shop/resources/orders.ts'
import { posts } from '#shop/resources/posts.ts'
import { updateInvoice } from '#src/billing/invoices.ts'
import { invoices } from '#src/resources/invoices.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { maxRareWords } from '#src/rows/search.ts'
import { changeFolder, createFolder, listFoldersInReach, lockFolder } from '#src/teams/folders.ts'
import {
  findTeamMember,
  listMembersOfTeams,
  listTeamMembers,
  lockTeam,
  removeTeamMember,
} from '#src/teams/teams.ts'
import { addMember, createTeam } from '#test/support/callers/chain.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'

const {
  insert: createDocument,
  update: changeDocument,
  find: findDocument,
  list: listDocuments,
} = actionsOf(documents)
const { find: findInvoice } = actionsOf(invoices)
const { list: listOrders, find: findOrder } = actionsOf(orders)
const {
  change: changePost,
  delete: deletePost,
  find: findPost,
  findWithNames: findPostWithNames,
  list: listPosts,
} = actionsOf(posts)

/*
 * The primary key is the tenant and the number. The sequence gives each number once, but the same
 * number may exist in two tenants (after a merge of databases, for example). Queries must stay within
 * their tenant then too. Row-level security is off here, so only the queries separate the tenants.
 */

const [shared, other] = [101, 102] // teams
const [inShared, inOther, both] = [201, 202, 203] // documents
const [top, nested, deepest] = [1001, 1002, 1032] // folders

t.test('the same numbers in two tenants do not mix', async (t) => {
  const { database, db, entryOf } = await setUp(t)
  const foreign = (await createUser(database)).tenantId
  const caller = await createUser(database)
  const { tenantId, userId } = caller
  const now = new Date()
  await addMembership(database, foreign, userId)

  // A query by number alone would find the other tenant's row first.
  await addTeams(database, foreign, userId, other)
  await addTeams(database, tenantId, userId, shared)
  const colleague = await createUser(database, { tenantId })
  await addMember(database, tenantId, other, colleague.userId)
  await addFolderChain(database, foreign, other)
  await addFolders(database, tenantId, shared)
  const folderInShared = await addDocument(database, foreign, inShared, shared)
  const folderInOther = await addDocument(database, tenantId, inOther, other)
  await addDocument(database, foreign, both, shared)
  await addDocument(database, tenantId, both, shared)

  await t.test('a document is reached by a chain within its own tenant', async (t) => {
    const entry = entryOf(caller)
    const found = [
      await db.read(entry, findDocument(inShared)),
      await db.read(entry, findDocument(inOther)),
      await db.read(entry, findDocument(both)),
    ]
    const list = await db.read(entry, (tx) => listDocuments(tx, caller, { limit: 10, after: null }))
    const own = { id: both, tenantId }
    t.match(found, [null, null, own])
    t.match(list.data, [own])
    t.equal(list.data.length, 1)
  })

  await t.test('a document is changed within its own tenant', async (t) => {
    const change = (id: number) =>
      db.write(entryOf(caller), (tx) => changeDocument(tx, caller, id, { title: 'Changed' }, now))
    t.match(await change(both), { id: both, tenantId, title: 'Changed' })
    for (const id of [inShared, inOther]) t.equal(await change(id), null)
    const { rows } = await database.admin.query(
      `SELECT tenant_id, id::int FROM documents WHERE title = 'Changed'`,
    )
    t.same(rows, [{ tenant_id: tenantId, id: both }])
  })

  await t.test('a document is created in a folder of the caller’s teams', async (t) => {
    const author = { ...caller, role: 'editor', department: null, plan: null, serviceId: null }
    const create = (folderId: number) => {
      const values = { folderId, title: 'New', body: '' }
      return db.write(entryOf(caller), (tx) => createDocument(tx, author, values, now))
    }
    t.match(await create(top), { tenantId, folderId: top })
    t.equal(await create(folderInShared), null, 'of another tenant')
    t.equal(await create(folderInOther), null, 'of a team that has the caller only elsewhere')
  })

  await t.test('the folders in reach have the names of their own teams', async (t) => {
    const folders = await db.read(entryOf(caller), (tx) => listFoldersInReach(tx, caller, 100))
    t.ok(folders.length > 1)
    for (const folder of folders) t.match(folder, { team: 'Shared' })
  })

  await t.test('a folder is created and moved within its own tenant', async (t) => {
    const made = await db.write(entryOf(caller), (tx) =>
      createFolder(tx, { tenantId }, { name: 'New', parentId: top }, now),
    )
    t.match(made, { tenantId, teamId: shared, parentId: top })
    for (const id of [top, deepest]) {
      const moved = await db.write(entryOf(caller), (tx) =>
        changeFolder(tx, { tenantId }, id, { parentId: nested }, now),
      )
      t.match(moved, { id, tenantId, parentId: nested })
    }
  })
})

t.test('a search does not find a post by the words of another tenant’s', async (t) => {
  const { database, db, entryOf } = await setUp(t)
  const foreign = await createUser(database)
  const own = await createUser(database)
  // So many that the search goes through the rows instead of the words.
  await database.admin.query(
    `INSERT INTO posts (tenant_id, id, title, body) OVERRIDING SYSTEM VALUE
     SELECT $1, 1000 + n, 'Wanted', '' FROM generate_series(0, $2::int) AS n`,
    [own.tenantId, maxRareWords],
  )
  for (const { tenantId } of [foreign, own]) await addPosts(database, tenantId)
  await database.admin.query(`UPDATE posts SET title = 'Wanted' WHERE tenant_id = $1`, [
    foreign.tenantId,
  ])
  const page = { limit: maxRareWords + 10, after: null }
  const { data } = await db.read(entryOf(own), (tx) => listPosts(tx, own, page, { q: 'wanted' }))
  t.equal(data.length, maxRareWords + 1)
  t.ok(data.every(({ title }) => title === 'Wanted'))
})

t.test('a post is changed and deleted in its own tenant', async (t) => {
  const { database, db, entryOf } = await setUp(t)
  const foreign = await createUser(database)
  const own = await createUser(database, { role: 'admin' })
  const now = new Date()
  for (const { tenantId } of [foreign, own]) await addPosts(database, tenantId)
  const caller = {
    ...{ ...own, role: 'admin', department: null, tokenPermissions: null, operator: false },
    ...{ plan: null, serviceId: null, sessionId: 'x', authenticatedSecondsAgo: 0 },
  }
  const [changed] = await db.write(entryOf(own), async (tx) => [
    await changePost({ tx, caller, now }, 1, { title: 'Changed' }),
    await deletePost({ tx, caller, now }, 2),
  ])
  t.match(changed, { tenantId: own.tenantId, title: 'Changed' })
  const { rows } = await database.admin.query(
    'SELECT tenant_id, id::int, title FROM posts ORDER BY tenant_id = $1, id',
    [own.tenantId],
  )
  t.strictSame(rows, [
    { tenant_id: foreign.tenantId, id: 1, title: 'A title' },
    { tenant_id: foreign.tenantId, id: 2, title: 'A title' },
    { tenant_id: own.tenantId, id: 1, title: 'Changed' },
  ])
  const { rows: events } = await database.admin.query(
    `SELECT body::jsonb -> 'data' ->> 'tenantId' AS tenant FROM outbound_events`,
  )
  t.strictSame(events, Array(2).fill({ tenant: own.tenantId }))
})

t.test('an order, a post and an invoice are read in the scope of the caller', async (t) => {
  const { database, db, entryOf } = await setUp(t)
  const foreign = await createUser(database)
  const own = await createUser(database)
  for (const { tenantId } of [foreign, own]) {
    await addPosts(database, tenantId)
    await addInvoice(database, tenantId)
  }
  await createOrder(database, foreign)
  const entry = entryOf(own)
  t.match(await db.read(entry, findPost(1)), { id: 1, tenantId: own.tenantId })
  t.match(await db.read(entry, findInvoice(1)), { id: 1, tenantId: own.tenantId })
  t.equal(await db.read(entry, findOrder(1)), null)
  t.match(await db.read(entryOf(foreign), findOrder(1)), { id: 1, userId: foreign.userId })
})

t.test('an author is named as in the tenant of the post', async (t) => {
  const { database, db, entryOf } = await setUp(t)
  const foreign = await createUser(database)
  const own = await createUser(database, { email: 'ada@example.com' })
  await addMembership(database, foreign.tenantId, own.userId)
  const serviceId = crypto.randomUUID()
  await addServiceToken(database, foreign.tenantId, serviceId, 'Foreign service')
  await addServiceToken(database, own.tenantId, serviceId, 'Own service')
  await addPosts(database, own.tenantId)
  await database.admin.query(
    `UPDATE posts SET author_id = CASE id WHEN 1 THEN $2::bigint END,
       author_service_id = CASE id WHEN 2 THEN $3::uuid END
     WHERE tenant_id = $1`,
    [own.tenantId, own.userId, serviceId],
  )
  const byPerson = await db.read(entryOf(own), findPostWithNames(1))
  t.match(byPerson, { names: { authorId: 'ada@example.com' } })
  const byService = await db.read(entryOf(own), findPostWithNames(2))
  t.match(byService, { names: { authorId: 'Own service' } })
})

t.test('the state of a payment changes the invoice of its tenant', async (t) => {
  const { database, db, entryOf } = await setUp(t)
  const foreign = await createUser(database)
  const own = await createUser(database)
  const [payment, now] = ['pay_1', new Date()]
  await addInvoice(database, foreign.tenantId, { amount: 4900, payment })
  await addInvoice(database, own.tenantId, { amount: 9800, payment })
  const refund = (tenant: TestUser) =>
    db.write(entryOf(tenant), (tx) =>
      updateInvoice(tx, tenant, payment, { refunded: 4900, dispute: null }, now),
    )
  const readBoth = async () => {
    const { rows } = await database.admin.query(
      `SELECT status, amount_refunded::int AS refunded FROM invoices
       ORDER BY tenant_id = $1`,
      [own.tenantId],
    )
    return rows
  }
  await refund(own)
  const ownAfter = { status: 'paid', refunded: 4900 }
  t.strictSame(await readBoth(), [{ status: 'paid', refunded: 0 }, ownAfter])
  await refund(foreign)
  t.strictSame(await readBoth(), [{ status: 'refunded', refunded: 4900 }, ownAfter])
})

t.test('a team and a folder are locked in their own tenant', async (t) => {
  const { database, db, entryOf } = await setUp(t)
  const foreign = await createUser(database)
  const own = await createUser(database)
  for (const { tenantId, userId } of [foreign, own]) {
    await addTeams(database, tenantId, userId, shared)
    await addFolders(database, tenantId, shared)
  }
  const isLocked = async (table: string, { tenantId }: TestUser, id: number) => {
    const { rowCount } = await database.admin.query(
      `SELECT FROM ${table} WHERE tenant_id = $1 AND id = $2 FOR UPDATE SKIP LOCKED`,
      [tenantId, id],
    )
    return rowCount === 0
  }
  const locks = [
    ['teams', shared, lockTeam],
    ['folders', top, lockFolder],
  ] as const
  for (const [table, id, lock] of locks) {
    await db.write(entryOf(own), async (tx) => {
      await lock(tx, own, id)
      t.equal(await isLocked(table, own, id), true, table)
      t.equal(await isLocked(table, foreign, id), false, table)
    })
  }
})

t.test('a team and its members are those of the tenant', async (t) => {
  const { database, db, entryOf } = await setUp(t)
  const foreign = await createUser(database)
  const own = await createUser(database)
  const colleague = await createUser(database, { tenantId: own.tenantId })
  const members = [own.userId, colleague.userId]
  const teamId = await createTeam(database, own.tenantId, members)
  const scope = { tenantId: own.tenantId, teamId }
  await database.admin.query(
    `INSERT INTO teams (tenant_id, id, name) OVERRIDING SYSTEM VALUE VALUES ($1, $2, 'The same')`,
    [foreign.tenantId, teamId],
  )
  await addMember(database, foreign.tenantId, teamId, foreign.userId)
  const foreignTeam = { ...scope, teamId: await createTeam(database, foreign.tenantId) }
  const page = { limit: 10, after: null }
  await db.write(entryOf(own), async (tx) => {
    t.equal(await listTeamMembers(tx, foreignTeam, page), null)
    t.match(await findTeamMember(tx, scope, colleague.userId), { userId: colleague.userId })
    t.strictSame(
      await listMembersOfTeams(tx, scope, [teamId], 10),
      members.map((userId) => ({ teamId, userId })),
    )
    t.equal(await removeTeamMember(tx, scope, colleague.userId), true)
    const left = await listTeamMembers(tx, scope, page)
    t.strictSame(
      left?.data.map(({ userId }) => userId),
      [own.userId],
    )
  })
})

t.test('the newest orders are those of the owner', async (t) => {
  const { database, db, entryOf } = await setUp(t)
  const own = await createUser(database)
  const id = await createOrder(database, own)
  await createOrder(database, await createUser(database, { tenantId: own.tenantId }))
  const latest = await db.read(entryOf(own), (tx) =>
    listOrders(tx, own, { limit: 10, after: null }),
  )
  t.match(latest.data, [{ id }])
  t.equal(latest.data.length, 1)
})

/** Posts 1 and 2. */
/** A database whose row-level security is off, and entries into it. */
async function setUp(t: Test) {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.superuserUrl, 1)
  return { database, db, entryOf: await allowScopes<TestUser>(database) }
}

async function addPosts({ admin }: TestDatabase, tenantId: string): Promise<void> {
  await admin.query(
    `INSERT INTO posts (tenant_id, id, title, body) OVERRIDING SYSTEM VALUE
     SELECT $1, n, 'A title', '' FROM generate_series(1, 2) AS n`,
    [tenantId],
  )
}

async function addMembership({ admin }: TestDatabase, tenantId: string, userId: number) {
  await admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [tenantId, userId],
  )
}

/** Both teams; the user is in one of them. */
async function addTeams({ admin }: TestDatabase, tenantId: string, userId: number, own: number) {
  await admin.query(
    `INSERT INTO teams (tenant_id, id, name) OVERRIDING SYSTEM VALUE
     VALUES ($1, ${shared}, 'Shared'), ($1, ${other}, 'Other')`,
    [tenantId],
  )
  await admin.query('INSERT INTO team_members (tenant_id, team_id, user_id) VALUES ($1, $2, $3)', [
    tenantId,
    own,
    userId,
  ])
}

/** Nested to the maximum depth. */
async function addFolderChain({ admin }: TestDatabase, tenantId: string, teamId: number) {
  await admin.query(
    `INSERT INTO folders (tenant_id, id, team_id, parent_id, parent_depth, name)
     OVERRIDING SYSTEM VALUE
     SELECT $1, 1000 + n, $2, CASE WHEN n > 1 THEN 999 + n END, nullif(n - 1, 0), 'Folder ' || n
     FROM generate_series(1, 32) AS n`,
    [tenantId, teamId],
  )
}

/** Three side by side. */
async function addFolders({ admin }: TestDatabase, tenantId: string, teamId: number) {
  await admin.query(
    `INSERT INTO folders (tenant_id, id, team_id, name) OVERRIDING SYSTEM VALUE
     SELECT $1, n, $2, 'Folder ' || n FROM unnest(ARRAY[${top}, ${nested}, ${deepest}]) AS n`,
    [tenantId, teamId],
  )
}

/** A document in a new folder of the team; resolves to the id of the folder. */
async function addDocument(
  { admin }: TestDatabase,
  tenantId: string,
  id: number,
  teamId: number,
): Promise<number> {
  const { rows } = await admin.query<{ id: string }>(
    `WITH folder AS (
       INSERT INTO folders (tenant_id, team_id, name) VALUES ($1, $3, 'Of documents')
       RETURNING id
     )
     INSERT INTO documents (tenant_id, id, folder_id, team_id, title, body)
     OVERRIDING SYSTEM VALUE SELECT $1, $2, id, $3, 'A document', '' FROM folder
     RETURNING folder_id AS id`,
    [tenantId, id, teamId],
  )
  return Number(rows[0]?.id)
}

/** Invoice 1. */
async function addInvoice(
  { admin }: TestDatabase,
  tenantId: string,
  { amount, payment }: { amount: number; payment: string | null } = { amount: 4900, payment: null },
): Promise<void> {
  await admin.query(
    `INSERT INTO invoices (tenant_id, id, amount, currency, status, payment)
     OVERRIDING SYSTEM VALUE VALUES ($1, 1, $2, 'eur', 'paid', $3)`,
    [tenantId, amount, payment],
  )
}

async function addServiceToken(
  { admin }: TestDatabase,
  tenantId: string,
  id: string,
  name: string,
): Promise<void> {
  await admin.query(
    `INSERT INTO service_tokens (tenant_id, id, hash, last_four, name, permissions, expires_at)
     VALUES ($1, $2, sha256(convert_to($3, 'UTF8')), 'test', $3, '{}', now() + interval '1 day')`,
    [tenantId, id, name],
  )
}
