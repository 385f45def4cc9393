import type { Facts } from './expected.ts'
import type { Member, World } from './world.ts'

export type Params = Readonly<Record<string, string>>

/** An object in its place, with the parameters that name it in a path. */
export type Placed = Facts & { params: Params }

export type Owner = Pick<Member, 'userId' | 'memberOf' | 'department'>
export type Wanted = { world: World; tenantId: string; owner: Owner }

export type Kind = {
  /** Creates one; null if it cannot exist, for example the membership of a user who is not a member. */
  create(wanted: Wanted): Promise<Params | null>
  missing: Params
  malformed: Params
  /** Has a department, possibly null. */
  departments?: true
  /** Set if it is in more than one tenant. */
  tenantsOf?: (owner: Owner) => readonly string[]
}

export type Kinds = Readonly<Record<string, Kind>>

export const missingNumber = '987654321987'
export const missingUuid = '00000000-0000-4000-8000-00000000dead'

/** Ids that are numbers, and ids that are uuids. */
export const numbered = { missing: { id: missingNumber }, malformed: { id: '01' } }
export const named = { missing: { id: missingUuid }, malformed: { id: 'x' } }

/** Runs a statement that creates an object and returns its id. */
export async function insert(world: World, sql: string, values: unknown[]): Promise<Params | null> {
  const { rows } = await world.test.database.admin.query<{ id: string }>(sql, values)
  const [row] = rows
  return row === undefined ? null : { id: String(row.id) }
}
