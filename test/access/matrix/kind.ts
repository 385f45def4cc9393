import type { Facts } from './expected.ts'
import type { Member, World } from './world.ts'

export type Params = Readonly<Record<string, string>>

/** An object in its place, as a path names it. */
export type Placed = Facts & { params: Params }

export type Owner = Pick<Member, 'userId' | 'memberOf' | 'department'>
export type Wanted = { world: World; tenantId: string; owner: Owner }

export type Kind = {
  /** Makes one; null where there is no such thing, for instance a membership of somebody who is no member. */
  create(wanted: Wanted): Promise<Params | null>
  missing: Params
  malformed: Params
  /** Has a department, which may be none. */
  departments?: true
  /** Where it is in more than the one tenant. */
  tenantsOf?: (owner: Owner) => readonly string[]
}

export type Kinds = Readonly<Record<string, Kind>>

export const missingNumber = '987654321987'
export const missingUuid = '00000000-0000-4000-8000-00000000dead'

/** Named by a number, and by a uuid. */
export const numbered = { missing: { id: missingNumber }, malformed: { id: '01' } }
export const named = { missing: { id: missingUuid }, malformed: { id: 'x' } }

/** The object that the statement makes and whose id it returns. */
export async function insert(world: World, sql: string, values: unknown[]): Promise<Params | null> {
  const { rows } = await world.test.database.admin.query<{ id: string }>(sql, values)
  const [row] = rows
  return row === undefined ? null : { id: String(row.id) }
}
