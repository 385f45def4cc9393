import type { SignUp } from '#src/auth/sign-in/account-linking.ts'

/**
 * Who cannot accept an invitation because of `SIGN_UP`, for admins and operators.
 * @returns null if every holder of an invited address can
 */
export function findInvitationObstacle({ signUp }: { signUp: SignUp }): string | null {
  if (signUp !== 'closed') return null
  return 'Only people who have an account can accept: SIGN_UP is closed.'
}
