import type { FirstSteps } from '#src/domain/first-steps.ts'
import { emptyState, pageHead } from '#src/pages/kit/components.ts'
import {
  copyable,
  type Html,
  html,
  isolated,
  type Stat,
  stats,
  table,
  timeText,
} from '#src/pages/kit/html.ts'
import { icon } from '#src/pages/kit/icon.ts'
import type { Page, Viewer } from '#src/pages/kit/layout.ts'
import { layout } from '#src/pages/kit/layout.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import type { EndpointStats } from '#src/webhooks/history/stats.ts'
import { ownInvitationSection, type ShownOwnInvitation } from './invitations.ts'
import { type ProviderChoice, signInButtons, timeNote } from './sign-in.ts'

export type HomeAccount = {
  tenant: string
  viewer: Viewer
  plan: string
  invitations: readonly ShownOwnInvitation[]
  orders: readonly { id: number; city: string; items: number }[]
  documents: readonly { id: number; title: string }[]
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
}

/** The start page of a visitor who is not signed in. */
export function welcomePage(providers: readonly ProviderChoice[]): Page {
  return layout(
    'Welcome',
    html`<section class="card narrow">
        <h1>Welcome</h1>
        <p>Sign in to see your orders and your tenant.</p>
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
      ${managed === null ? '' : stepSection(managed.steps)}
      <div class="columns">
        <section class="card" aria-labelledby="orders">
          <h2 id="orders">Your orders</h2>
          ${orderList(account.orders)}
        </section>
        <section class="card" aria-labelledby="documents">
          <h2 id="documents">Team documents</h2>
          ${documentList(account.documents)}
        </section>
      </div>`,
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

/** Endpoints that do not receive or soon will not, and events that failed; empty if all is well. */
function attentionSection({ managed, deadEvents }: HomeAccount): Html {
  const items = [...(managed?.endpoints ?? []).flatMap(endpointItem), ...deadItem(deadEvents)]
  if (items.length === 0) return html``
  return html`<section aria-labelledby="attention">
        <h2 id="attention">Needs attention</h2>
        <ul class="attention">${items}</ul>
      </section>`
}

function endpointItem(endpoint: Endpoint): Html[] {
  const { id, url } = endpoint
  return endpointTroubles(endpoint).map(
    ({ mood, text }) =>
      html`<li class="${mood}"><span class="wrap">${isolated(url)}${text}</span> <a href="/app/webhooks/${id}">View endpoint<span class="unseen"> ${url}</span></a></li>`,
  )
}

type Trouble = { mood: 'bad' | 'warning'; text: Html }

/** What is wrong with an endpoint now, then what its forecasts expect. */
function endpointTroubles({ status, failingSince, disabledAt, forecasts }: Endpoint): Trouble[] {
  if (status === 'disabled') {
    const text = html` is disabled and receives nothing${disabledAt === null ? '' : html`. It was disabled ${timeText(disabledAt)}`}.`
    return [{ mood: 'bad', text }]
  }
  const failing: Trouble = {
    mood: 'warning',
    text: html`: no event was accepted${failingSince === null ? '' : html`. It started to fail ${timeText(failingSince)}`}.`,
  }
  return [
    ...(status === 'active' ? [] : [failing]),
    ...forecasts.map(({ message }): Trouble => ({ mood: 'warning', text: html`: ${message}` })),
  ]
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
  const working = endpoints.filter(({ status }) => status === 'active').length
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

const steps: readonly { key: keyof FirstSteps; text: string; label: string; href: string }[] = [
  {
    key: 'hasToken',
    text: 'Create an API token',
    label: 'Create a token',
    href: '/app/account#tokens',
  },
  {
    key: 'hasOrder',
    text: 'Place an order with it',
    label: 'Read how',
    href: '/docs/api/orders#createOrder',
  },
  {
    key: 'hasEndpoint',
    text: 'Register a webhook endpoint',
    label: 'Add an endpoint',
    href: '/app/webhooks/new',
  },
  {
    key: 'hasTest',
    text: 'Send it a test event',
    label: 'View endpoints',
    href: '/app/webhooks',
  },
  {
    key: 'hasInvited',
    text: 'Invite somebody',
    label: 'Invite',
    href: '/app/tenant#invite',
  },
]

/** The first steps in a new tenant; empty once all are done. */
function stepSection(done: FirstSteps): Html {
  const open = steps.filter(({ key }) => !done[key])
  if (open.length === 0) return html``
  const items = steps.map(({ key, text, label, href }) =>
    done[key]
      ? html`<li class="done"><span class="mark">${icon('check')}</span> <span class="text">${text}<span class="unseen"> (done)</span></span></li>`
      : html`<li><span class="mark"></span> <span>${text}</span> <a href="${href}">${label}</a></li>`,
  )
  return html`<section class="card" aria-labelledby="steps">
        <h2 id="steps">First steps <span class="quiet">${steps.length - open.length} of ${steps.length} done</span></h2>
        <ol class="steps">${items}</ol>
      </section>`
}

const orderColumns = [
  { label: 'Order' },
  { label: 'Ships to', kind: 'wrap' },
  { label: 'Items', kind: 'number' },
] as const

function orderList(orders: HomeAccount['orders']): Html {
  if (orders.length === 0) {
    return emptyState(
      html`No orders yet. A program places one with <code>POST /orders</code>.`,
      html`<a href="/docs/api/orders#createOrder">Read how</a>`,
    )
  }
  const rows = orders.map(({ id, city, items }) => [
    html`<a href="/app/orders/${id}">Order ${id}</a>`,
    isolated(city),
    items,
  ])
  return html`<div class="compact">${table(orderColumns, rows)}</div>
          <p class="row"><a href="/app/orders">View all orders</a></p>`
}

function documentList(documents: HomeAccount['documents']): Html {
  if (documents.length === 0) {
    return emptyState('No documents yet. Documents in your teams’ folders appear here.')
  }
  const links = documents.map(
    ({ id, title }) =>
      html`<li class="wrap"><a href="/app/documents/${id}">${isolated(title)}</a></li>`,
  )
  return html`<ul class="plain">${links}</ul>
          <p class="row"><a href="/app/documents">View all documents</a></p>`
}
