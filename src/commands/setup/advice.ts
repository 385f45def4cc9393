import { findInvitationObstacle } from '#src/auth/members/invitation-obstacle.ts'
import type { Config } from '#src/config/config.ts'

/** What the settings of a process that serves people leave open, for `init` and `doctor`. */
export function adviceFor(config: Config): string[] {
  const { role, operators, providers, sendsMail } = config
  if (role === 'worker') return []
  const obstacle = findInvitationObstacle(config)
  const isTrusted = providers.some(({ trustEmail }) => trustEmail !== false)
  return [
    ...(operators.size > 0
      ? []
      : [
          'OPERATORS is empty: no one sees billing events and processes. The start page shows the first person who signs in what to write there.',
        ]),
    ...(obstacle === null ? [] : [`Invitations: ${obstacle}`]),
    ...(isTrusted
      ? []
      : [
          'Nobody has a verified address, because no provider is trusted to verify one (OIDC_<NAME>_TRUST_EMAIL): invitations are accepted only by their link, a person who comes with another provider gets another account unless they link it themselves, alerts are mailed to no admin, and commands and pages that take an address, such as billing link, need the id of the user.',
        ]),
    ...(sendsMail
      ? []
      : [
          'Invitations are not mailed, because there is no mail server (SMTP_URL, ALERT_FROM): the members page shows their links.',
        ]),
  ]
}
