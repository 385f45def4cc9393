import { plansHint } from '#src/access/policy.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'

/** The seats that a tenant has bought, and who needs one. */
export type Seats = {
  /** Null if nothing says how many: without a plan, or with a provider that does not tell. */
  readonly bought: number | null
  readonly members: number
  /** Open ones, each of which can be accepted at any time; also what was declined, which the tenant does not see. */
  readonly invitations: number
}

/** How many seats are in use. */
export function needed({ members, invitations }: Pick<Seats, 'members' | 'invitations'>): number {
  return members + invitations
}

/**
 * Refuses an invitation beyond the seats. Requires the lock `invitations` of the tenant: without it two of them would both
 * find the last seat. An accepted invitation becomes a member, so that acceptance changes nothing.
 * @param email its own invitation is replaced, so it is not counted
 * @throws Problem `limit-reached`
 */
export async function requireSeat({ sql }: Queryable, email: string): Promise<void> {
  const [seats] = await sql<Seats>`
    SELECT seats AS bought, members, invitations FROM tenant_billing(${email})`
  if (seats === undefined || seats.bought === null || needed(seats) < seats.bought) return
  const { bought, members, invitations } = seats
  throw new Problem('limit-reached', {
    reason: 'seats-taken',
    detail: `Your tenant has ${bought} ${bought === 1 ? 'seat' : 'seats'}: ${counted(members, 'member')} and ${counted(invitations, 'open invitation')} need ${needed(seats)}. Buy more seats, remove a member or withdraw an invitation.${plansHint}`,
  })
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
