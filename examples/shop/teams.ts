import type { DemoOfApp } from 'gatehouse'

type Owner = Parameters<NonNullable<DemoOfApp['seed']>>[0]

type Shelf = {
  name: string
  documents: readonly { title: string; body: string }[]
  folders?: readonly Shelf[]
}

/** A team with its members (by subject) and folders. Even Ada, an admin, needs a team to see documents. */
export type DemoTeam = {
  /** Its name. */
  tenant: string
  name: string
  members: readonly string[]
  folders: readonly Shelf[]
}

export const teams: readonly DemoTeam[] = [
  {
    tenant: 'Acme',
    name: 'Gate works',
    members: ['ed', 'vera'],
    folders: [
      {
        name: 'Projects',
        documents: [{ title: 'How we name projects', body: 'Place first, then the year.' }],
        folders: [
          {
            name: 'Harbour gate',
            documents: [{ title: 'Measurements', body: 'Width 4.20 m, height 2.10 m.' }],
            folders: [
              { name: 'Permits', documents: [{ title: 'Port authority', body: 'Granted.' }] },
            ],
          },
        ],
      },
    ],
  },
  {
    tenant: 'Acme',
    name: 'Front office',
    members: ['ada'],
    folders: [{ name: 'Contracts', documents: [{ title: 'Oak supplier', body: 'Two years.' }] }],
  },
  {
    tenant: 'Globex',
    name: 'Sales',
    members: ['otto'],
    folders: [{ name: 'Offers', documents: [{ title: 'Bergen ferry', body: 'Six hinges.' }] }],
  },
]

/** The transaction's scope must be a member of the team: only members may write its documents. */
export async function insertTeam(
  owner: Owner,
  team: DemoTeam,
  tenantId: string,
  userIds: readonly string[],
): Promise<void> {
  const { rows } = await owner.query<{ id: string }>(
    'INSERT INTO teams (tenant_id, name) VALUES ($1, $2) RETURNING id',
    [tenantId, team.name],
  )
  const teamId = String(rows[0]?.id)
  await owner.query(
    `INSERT INTO team_members (tenant_id, team_id, user_id)
     SELECT $1, $2, unnest($3::bigint[])`,
    [tenantId, teamId, userIds],
  )
  for (const folder of team.folders) await insertFolder(owner, { tenantId, teamId }, folder, null)
}

type Parent = { id: string; depth: number }

async function insertFolder(
  owner: Owner,
  scope: { tenantId: string; teamId: string },
  shelf: Shelf,
  parent: Parent | null,
): Promise<void> {
  const { tenantId, teamId } = scope
  const { rows } = await owner.query<Parent>(
    `INSERT INTO folders (tenant_id, team_id, parent_id, parent_depth, name)
     VALUES ($1, $2, $3, $4, $5) RETURNING id, depth`,
    [tenantId, teamId, parent?.id ?? null, parent?.depth ?? null, shelf.name],
  )
  const folder = rows[0] ?? null
  for (const { title, body } of shelf.documents) {
    await owner.query(
      `INSERT INTO documents (tenant_id, folder_id, team_id, title, body)
       VALUES ($1, $2, $3, $4, $5)`,
      [tenantId, folder?.id, teamId, title, body],
    )
  }
  for (const nested of shelf.folders ?? []) await insertFolder(owner, scope, nested, folder)
}
