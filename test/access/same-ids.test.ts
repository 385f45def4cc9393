import t from 'tap'
import { openDatabase } from '#src/db/database.ts'
import { findDocument, listDocuments } from '#src/documents.ts'
import { changeFolder, createFolder } from '#src/folders.ts'
import { createDatabase, createUser, type TestDatabase } from '#test/helper.ts'

/*
 * A key is the tenant and the number: the sequence gives no number twice, but nothing forbids it (a
 * database put together of two, a number per tenant). The queries are held to the tenant then too;
 * row-level security is off here, so that nothing else holds them.
 */

const [shared, other] = [101, 102] // teams
const [inShared, inOther, both] = [1, 2, 3] // documents
const [top, nested, deepest] = [1001, 1002, 1032] // folders

t.test('the same numbers in two tenants lead nobody from one into the other', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.superuserUrl, 1)
  t.teardown(() => db.close())
  const foreign = (await createUser(database)).tenantId
  const caller = await createUser(database)
  const { tenantId, userId } = caller
  const now = new Date()
  await addMembership(database, foreign, userId)

  // What is found first when only the number is asked for is the other tenant's.
  await addTeams(database, foreign, userId, other)
  await addTeams(database, tenantId, userId, shared)
  await addFolderChain(database, foreign, other)
  await addFolders(database, tenantId, shared)
  await addDocument(database, foreign, inShared, shared)
  await addDocument(database, tenantId, inOther, other)
  await addDocument(database, foreign, both, shared)
  await addDocument(database, tenantId, both, shared)

  await t.test('a document is reached by a chain within its own tenant', async (t) => {
    const [found, list] = await db.read(caller, async (tx) => [
      [
        await findDocument(tx, caller, inShared),
        await findDocument(tx, caller, inOther),
        await findDocument(tx, caller, both),
      ],
      await listDocuments(tx, caller, { limit: 10, after: null }),
    ])
    const own = { id: both, tenantId }
    t.match(found, [null, null, own])
    t.match(list.data, [own])
    t.equal(list.data.length, 1)
  })

  await t.test('a folder is made and moved among those of its own tenant', async (t) => {
    const made = await db.write({ tenantId }, (tx) =>
      createFolder(tx, { tenantId }, { name: 'New', parentId: top }, now),
    )
    t.match(made, { tenantId, teamId: shared, parentId: top })
    for (const id of [top, deepest]) {
      const moved = await db.write({ tenantId }, (tx) =>
        changeFolder(tx, { tenantId }, id, { parentId: nested }, now),
      )
      t.match(moved, { id, tenantId, parentId: nested })
    }
  })
})

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

/** As deep as can be, each folder in the one before. */
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

/** In a new folder of the team. */
async function addDocument({ admin }: TestDatabase, tenantId: string, id: number, teamId: number) {
  await admin.query(
    `WITH folder AS (
       INSERT INTO folders (tenant_id, team_id, name) VALUES ($1, $3, 'Of documents')
       RETURNING id
     )
     INSERT INTO documents (tenant_id, id, folder_id, team_id, title, body)
     OVERRIDING SYSTEM VALUE SELECT $1, $2, id, $3, 'A document', '' FROM folder`,
    [tenantId, id, teamId],
  )
}
