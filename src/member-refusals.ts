import type { MemberRefusal } from '#src/auth/members/members.ts'
import { Refusal } from '#src/http/problems.ts'

/** Why a member was not invited, changed or removed, as whoever asked is told. */
export function refusalOfMember(refusal: MemberRefusal | 'member-already'): Refusal {
  switch (refusal) {
    case 'missing':
      return new Refusal('not-found')
    case 'not-admin':
      return new Refusal('forbidden')
    case 'last-admin':
      return new Refusal('last-admin', { detail: 'Make somebody else an admin first.' })
    case 'billing-elsewhere':
      return new Refusal('forbidden', {
        detail: 'The billing customer of a user is changed in the user’s own tenant.',
      })
    case 'customer-taken':
      return new Refusal('conflict', { detail: 'Another user has this billing customer.' })
    case 'member-already':
      return new Refusal('conflict', { detail: 'Whoever has this e-mail is a member already.' })
  }
}
