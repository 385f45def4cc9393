import { servicePermissions } from '#src/access/policy.ts'
import { html } from '#src/pages/kit/html.ts'
import { type ProgramTokenKind, programTokenForm } from '#src/pages/tokens/program-tokens.ts'

const byResource = Object.groupBy(servicePermissions, (one) => one.split(':', 1)[0] ?? one)

/** The service tokens of the tenant. */
export const serviceTokenKind = {
  path: '/app/service-tokens',
  name: 'Service token',
  lead: 'For programs of the tenant. A token keeps working after the person who created it leaves.',
  empty: html`No service tokens yet. Programs send one as <code>Authorization: Bearer gths_…</code>.`,
  form: programTokenForm(servicePermissions),
  offered: Object.values(byResource).map((permissions = []) => permissions),
  unknownCreator: 'Former member',
  questions: {
    rotate: 'Create a new secret. Programs that use the current one stop working.',
    revoke: 'Revoke this token. Programs that use it stop working.',
  },
} as const satisfies ProgramTokenKind
