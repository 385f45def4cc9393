import type { Facts } from './expected.ts'
import type { Member, Running, World } from './world.ts'

export type Params = Readonly<Record<string, string>>

/** An object in its place, with the parameters that name it in a path. */
export type Placed = Facts & { params: Params }

export type Owner = Pick<Member, 'userId' | 'memberOf' | 'department'>
export type Wanted<T extends Running = Running> = {
  world: World<T>
  tenantId: string
  owner: Owner
}

export type Kind<T extends Running = Running> = {
  /** Creates one; null if it cannot exist, for example the membership of a user who is not a member. */
  create(wanted: Wanted<T>): Promise<Params | null>
  missing: Params
  malformed: Params
  /** Has a department, possibly null. */
  departments?: true
  /** Set if it is in more than one tenant. */
  tenantsOf?: (owner: Owner) => readonly string[]
}

export type Kinds<T extends Running = Running> = Readonly<Record<string, Kind<T>>>

export const missingNumber = '987654321987'
export const missingUuid = '00000000-0000-4000-8000-00000000dead'

/** Ids that are numbers, and ids that are uuids. */
export const numbered = { missing: { id: missingNumber }, malformed: { id: '01' } }
export const named = { missing: { id: missingUuid }, malformed: { id: 'x' } }
