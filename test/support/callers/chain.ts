import type { TestUser } from '#dev/testing/people.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

/** Inserts a team with these members; resolves to its id. */
export async function createTeam(
  { admin }: TestDatabase,
  tenantId: string,
  members: readonly number[] = [],
): Promise<number> {
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO teams (tenant_id, name) VALUES ($1, 'A team') RETURNING id`,
    [tenantId],
  )
  const teamId = Number(rows[0]?.id)
  for (const userId of members) await addMember({ admin }, tenantId, teamId, userId)
  return teamId
}

export async function addMember(
  { admin }: Pick<TestDatabase, 'admin'>,
  tenantId: string,
  teamId: number,
  userId: number,
): Promise<void> {
  await admin.query(`INSERT INTO team_members (tenant_id, team_id, user_id) VALUES ($1, $2, $3)`, [
    tenantId,
    teamId,
    userId,
  ])
}

/** Inserts a folder of the team; resolves to its id. */
export async function createFolder(
  { admin }: TestDatabase,
  tenantId: string,
  teamId: number,
): Promise<number> {
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO folders (tenant_id, team_id, name) VALUES ($1, $2, 'A folder') RETURNING id`,
    [tenantId, teamId],
  )
  return Number(rows[0]?.id)
}

/** Inserts a nested folder; resolves to its id. */
export async function nestFolder({ admin }: TestDatabase, parentId: number): Promise<number> {
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO folders (tenant_id, team_id, parent_id, parent_depth, name)
     SELECT tenant_id, team_id, id, depth, 'A nested folder' FROM folders WHERE id = $1
     RETURNING id`,
    [parentId],
  )
  return Number(rows[0]?.id)
}

/** Inserts a document in the folder; resolves to its id. */
export async function createDocument({ admin }: TestDatabase, folderId: number): Promise<number> {
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO documents (tenant_id, folder_id, team_id, title, body)
     SELECT tenant_id, id, team_id, 'A document', 'Its text' FROM folders WHERE id = $1
     RETURNING id`,
    [folderId],
  )
  return Number(rows[0]?.id)
}

export type Chain = { teamId: number; folderId: number; documentId: number }

/** A document in a folder of a team of the user's. */
export async function createChain(database: TestDatabase, user: TestUser): Promise<Chain> {
  const teamId = await createTeam(database, user.tenantId, [user.userId])
  const folderId = await createFolder(database, user.tenantId, teamId)
  return { teamId, folderId, documentId: await createDocument(database, folderId) }
}
