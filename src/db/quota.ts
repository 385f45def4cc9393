import type { Budget, QuotaConfig } from '#src/config/parse.ts'
import { Problem } from '#src/http/problems.ts'
import { type ExceededQuota, exceededQuota } from './errors.ts'

const unlimited = '9223372036854775807' // the largest bigint

/**
 * The limits as the database reads them: rows and bytes of resources, rows and bytes of events.
 */
export function toBudgets({ resources, events }: QuotaConfig): string {
  return `{${[resources, events].map(toNumbers).join(',')}}`
}

/**
 * The limits for the setting `app.quota` of a transaction, with the retention of events in seconds: in
 * that time what a member has published stops counting against their share of the budget.
 */
export function toQuotaSetting(quota: QuotaConfig, retentionDays: number): string {
  return `${toBudgets(quota).slice(0, -1)},${retentionDays * 86_400}}`
}

function toNumbers(budget: Budget): string {
  return budget === 'off' ? `${unlimited},${unlimited}` : `${budget.rows},${budget.bytes}`
}

const details: Readonly<Record<ExceededQuota, string>> = {
  resources:
    'Your tenant has used up its storage for resources, so nothing was changed. Delete some, or ask the operator for more; GET /usage shows what is stored.',
  events:
    'Your tenant has used up its storage for events, so nothing was changed. Old events expire; delete an endpoint, or ask the operator for more; GET /usage shows what is stored.',
  'event-share':
    'You have used up your share of the events of your tenant, which other members need too, so nothing was changed. It is available again as your events grow old.',
  'resource-share':
    'More than half of the storage of your tenant is used, and you have used up your share of the rest, which other members need too, so nothing was changed. Delete some of what you have stored; the share is available again as time passes.',
}

/** The 409 for a write that PostgreSQL refused because of a budget; null for any other error. */
export function toQuotaProblem(error: unknown): Problem | null {
  const budget = exceededQuota(error)
  return budget && new Problem('quota-exceeded', { reason: budget, detail: details[budget] })
}
