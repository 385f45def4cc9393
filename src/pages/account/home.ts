import type { Caller } from '#src/access/caller.ts'
import type { FirstSteps } from '#src/auth/members/first-steps.ts'
import type { Tx } from '#src/db/database.ts'
import { pageHead } from '#src/pages/kit/components.ts'
import { healthBadge, stateMoods } from '#src/pages/kit/health.ts'
import { copyable, type Html, html, isolated, type Stat, stats } from '#src/pages/kit/html.ts'
import { icon } from '#src/pages/kit/icon.ts'
import type { Page, Viewer } from '#src/pages/kit/layout.ts'
import { layout } from '#src/pages/kit/layout.ts'
import { type Endpoint, isIdle } from '#src/webhooks/endpoints/endpoints.ts'
import type { EndpointStats } from '#src/webhooks/history/stats.ts'
import { type ProviderChoice, signInButtons, timeNote } from '../sign-in/sign-in.ts'
import { ownInvitationSection, type ShownOwnInvitation } from './invitations.ts'

/** What an admin of a new tenant does first with the app. */
export type FirstStep = {
  readonly text: string
  readonly label: string
  readonly href: string
  isDone(tx: Tx, caller: Caller): Promise<boolean>
}

/** What the app adds to the start page. */
export type Home = {
  /** Below the heading, for visitors who are not signed in. */
  readonly welcome?: string
  /** Cards of what the caller owns, read in the transaction of the page. */
  sections?(tx: Tx, caller: Caller): Promise<readonly Html[]>
  /** A step that follows the first token. */
  readonly step?: FirstStep
}

export type HomeAccount = {
  tenant: string
  viewer: Viewer
  plan: string
  invitations: readonly ShownOwnInvitation[]
  /** The cards of the app. */
  sections: readonly Html[]
  /** For those who manage the tenant; null for anyone else. */
  managed: ManagedTenant | null
  /** Billing events that failed for good, for operators; null for anyone else. */
  deadEvents: number | null
  /** The caller's identities, for the first person of an installation without operators. */
  operatorIds: readonly string[]
}

export type ManagedTenant = {
  endpoints: readonly Endpoint[]
  stats: ReadonlyMap<string, EndpointStats>
  steps: FirstSteps
  /** The first step with the app; null if it has none. */
  appStep: ShownStep | null
}

type ShownStep = Pick<FirstStep, 'text' | 'label' | 'href'> & { readonly isDone: boolean }

/**
 * The start page of a visitor who is not signed in.
 * @param welcome what the app says to them
 */
export function welcomePage(
  providers: readonly ProviderChoice[],
  welcome = 'Sign in to see your account and your tenant.',
): Page {
  return layout(
    'Welcome',
    html`<section class="card narrow">
        <h1>Welcome</h1>
        <p>${welcome}</p>
        ${signInButtons(providers)}
        ${timeNote}
      </section>`,
  )
}

/** The start page of a signed-in user: what needs attention, the last day, their own objects. */
export function homePage(account: HomeAccount): Page {
  const { managed } = account
  return layout(
    'Home',
    html`${pageHead({ title: isolated(account.tenant), lead: roleText(account) })}
      ${operatorSection(account.operatorIds)}
      ${ownInvitationSection(account.invitations)}
      ${attentionSection(account)}
      ${managed === null ? '' : glanceSection(managed)}
      ${managed === null ? '' : stepSection(managed)}
      ${account.sections.length === 0 ? '' : html`<div class="columns">${account.sections}</div>`}`,
    { current: '/', ...account.viewer },
  )
}

/** What the person who installs the program writes into its settings; empty for anybody else. */
function operatorSection(ids: readonly string[]): Html {
  if (ids.length === 0) return html``
  return html`<section class="card notice" aria-labelledby="operator">
        <h2 id="operator">No one operates this installation yet</h2>
        <p>To see its billing events and processes, add yourself to the setting <code>OPERATORS</code> and restart:</p>
        ${ids.map((id, index) => copyable(`operator-${index}`, 'Identity', 'excerpt', id))}
      </section>`
}

function roleText({ viewer, plan }: HomeAccount): Html {
  const role = viewer.role === null ? 'You have no role' : `You are ${articleOf(viewer.role)}`
  return html`${role}. Plan: ${plan}. <a href="/app/access">What you may do</a>`
}

function articleOf(role: string): string {
  return `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`
}

/** How much of what needs attention is seen at once: the rest of the page must not be far below it. */
const shownAtOnce = 5

/** Endpoints that do not receive or soon will not, and events that failed; empty if all is well. */
function attentionSection({ managed, deadEvents }: HomeAccount): Html {
  const endpoints = managed?.endpoints ?? []
  const items = [
    ...deadItem(deadEvents),
    ...endpoints
      .filter((one) => !receives(one))
      .toSorted(worstFirst)
      .map(troubleItem),
    ...endpoints.filter((one) => !isIdle(one)).flatMap(forecastItems),
  ]
  if (items.length === 0) return html``
  return html`<section aria-labelledby="attention">
        <h2 id="attention">Needs attention</h2>
        <ul class="attention">${items.slice(0, shownAtOnce)}</ul>
        ${moreItems(items.slice(shownAtOnce))}
      </section>`
}

function moreItems(items: readonly Html[]): Html {
  if (items.length === 0) return html``
  return html`<details><summary>${items.length} more</summary><ul class="attention">${items}</ul></details>`
}

function worstFirst(one: Endpoint, other: Endpoint): number {
  const rank = ({ health: { state } }: Endpoint) => Number(stateMoods[state] === 'bad')
  return rank(other) - rank(one)
}

/** What the health of an endpoint says that does not receive. */
function troubleItem({ health, ...endpoint }: Endpoint): Html {
  const reason = health.reason === null ? '' : html`<br>${health.reason}`
  return endpointItem(endpoint, stateMoods[health.state], html` ${healthBadge(health)}${reason}`)
}

/** What is expected of an endpoint to which something is sent. */
function forecastItems({ forecasts, ...endpoint }: Endpoint): Html[] {
  return forecasts.map(({ message }) => endpointItem(endpoint, 'warning', html`: ${message}`))
}

function endpointItem({ id, url }: Pick<Endpoint, 'id' | 'url'>, mood: string, text: Html): Html {
  return html`<li class="${mood}"><span class="wrap">${isolated(url)}${text}</span> <a href="/app/webhooks/${id}">View endpoint<span class="unseen"> ${url}</span></a></li>`
}

/** Whether its latest deliveries were accepted. */
function receives({ health: { state } }: Endpoint): boolean {
  return state === 'healthy' || state === 'recovering'
}

function deadItem(events: number | null): Html[] {
  if (events === null || events === 0) return []
  const text = events === 1 ? '1 billing event' : `${events} billing events`
  return [
    html`<li class="bad"><span>${text} failed after the last retry.</span> <a href="/app/billing?status=dead">View dead events</a></li>`,
  ]
}

/** The figures of the last 24 hours. */
function glanceSection({ endpoints, stats: measured }: ManagedTenant): Html {
  const all = [...measured.values()]
  const attempts = all.reduce((sum, one) => sum + one.attempts, 0)
  const succeeded = all.reduce((sum, one) => sum + one.succeeded, 0)
  const working = endpoints.filter(receives).length
  const href = '/app/webhooks'
  const figures: Stat[] = [
    {
      label: 'Endpoints receiving',
      value: endpoints.length === 0 ? 'None yet' : `${working} of ${endpoints.length}`,
      href,
      ...(working < endpoints.length && { mood: 'warning' as const }),
    },
    { label: 'Webhook attempts, 24 hours', value: attempts.toLocaleString('en-GB'), href },
    {
      label: 'Success rate',
      value: attempts === 0 ? '–' : `${Math.floor((succeeded / attempts) * 1_000) / 10} %`,
      note:
        attempts === 0
          ? 'Nothing was sent'
          : `${(attempts - succeeded).toLocaleString('en-GB')} failed`,
      href,
      ...(succeeded * 100 < attempts * 95 && { mood: 'bad' as const }),
    },
  ]
  return html`<section aria-labelledby="glance">
        <h2 id="glance">At a glance</h2>
        ${stats(figures)}
      </section>`
}

/** The first steps in a new tenant; empty once all are done. */
function stepSection({ steps: done, appStep }: ManagedTenant): Html {
  const steps: ShownStep[] = [
    {
      text: 'Create an API token',
      label: 'Create a token',
      href: '/app/account/tokens/new',
      isDone: done.hasToken,
    },
    ...(appStep === null ? [] : [appStep]),
    {
      text: 'Register a webhook endpoint',
      label: 'Add an endpoint',
      href: '/app/webhooks/new',
      isDone: done.hasEndpoint,
    },
    {
      text: 'Send it a test event',
      label: 'View endpoints',
      href: '/app/webhooks',
      isDone: done.hasTest,
    },
    {
      text: 'Invite somebody',
      label: 'Invite',
      href: '/app/tenant/invitations/new',
      isDone: done.hasInvited,
    },
  ]
  const open = steps.filter(({ isDone }) => !isDone)
  if (open.length === 0) return html``
  const items = steps.map(({ isDone, text, label, href }) =>
    isDone
      ? html`<li class="done"><span class="mark">${icon('check')}</span> <span class="text">${text}<span class="unseen"> (done)</span></span></li>`
      : html`<li><span class="mark"></span> <span>${text}</span> <a href="${href}">${label}</a></li>`,
  )
  return html`<section class="card" aria-labelledby="steps">
        <h2 id="steps">First steps <span class="quiet">${steps.length - open.length} of ${steps.length} done</span></h2>
        <ol class="steps">${items}</ol>
      </section>`
}
