import type { SignUp } from '#src/auth/sign-in/account-linking.ts'

type Settings = {
  signUp: SignUp
  providers: readonly { trustEmail: boolean | readonly string[] }[]
}

/**
 * Who cannot accept an invitation because of `SIGN_UP`, for admins and operators.
 * @returns null if every holder of an invited address can
 */
export function findInvitationObstacle({ signUp, providers }: Settings): string | null {
  if (signUp === 'closed') return 'Only people who have an account can accept: SIGN_UP is closed.'
  const isTrusted = providers.some(({ trustEmail }) => trustEmail !== false)
  if (signUp === 'open' || isTrusted) return null
  return 'Only people who have an account can accept: SIGN_UP is invited, which admits new people by an address that a trusted provider has verified, and no provider is trusted (OIDC_<NAME>_TRUST_EMAIL).'
}
