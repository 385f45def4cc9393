import { servicePermissions } from '#src/access/policy.ts'
import { html, isolated } from '#src/pages/kit/html.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import {
  type ProgramTokensView,
  programTokenForm,
  programTokensPage,
} from '#src/pages/tokens/program-tokens.ts'

export const serviceTokenForm = programTokenForm(servicePermissions)

export type ServiceTokensView = ProgramTokensView & {
  /** Name of a user who created a token; null for one who is no member any more. */
  nameOf: (userId: number) => string | null
}

const byResource = Object.groupBy(servicePermissions, (one) => one.split(':', 1)[0] ?? one)
const offered = Object.values(byResource).map((permissions = []) => permissions)

/** The service tokens of the tenant. */
export function serviceTokensPage(view: ServiceTokensView): Page {
  return programTokensPage(view, {
    path: '/app/service-tokens',
    name: 'Service token',
    lead: 'For programs of the tenant. A token keeps working after the person who created it leaves.',
    empty: html`No service tokens yet. Programs send one as <code>Authorization: Bearer gths_…</code>.`,
    form: serviceTokenForm,
    offered,
    creatorOf(userId) {
      const creator = userId === null ? null : view.nameOf(userId)
      return creator === null
        ? html`<span class="quiet">Former member</span>`
        : html`${isolated(creator)}`
    },
    questions: {
      rotate: 'Create a new secret. Programs that use the current one stop working.',
      revoke: 'Revoke this token. Programs that use it stop working.',
    },
  })
}
