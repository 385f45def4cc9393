import { type Html, html, isolated, table } from './html.ts'
import { ownInvitationSection, type ShownOwnInvitation } from './invitations.ts'
import type { Viewer } from './layout.ts'
import { layout } from './layout.ts'
import { type ProviderChoice, signInButtons } from './sign-in.ts'

export type HomeAccount = {
  email: string
  tenant: string
  viewer: Viewer
  plan: string
  invitations: readonly ShownOwnInvitation[]
  orders: readonly { id: number; city: string; items: number }[]
  documents: readonly { id: number; title: string }[]
}

/** The start page of a visitor who is not signed in. */
export function welcomePage(providers: readonly ProviderChoice[]): string {
  return layout(
    'Welcome',
    html`<section class="card narrow">
        <h1>Welcome</h1>
        <p>Sign in to see your orders and your tenant.</p>
        ${signInButtons(providers)}
      </section>`,
  )
}

/** The start page of a signed-in user: their access, orders and documents. */
export function homePage(account: HomeAccount): string {
  return layout(
    'Home',
    html`<header class="head">
        <h1 class="wrap">${isolated(account.tenant)}</h1>
        <p class="quiet wrap">Signed in as ${isolated(account.email)}</p>
      </header>
      ${ownInvitationSection(account.invitations)}
      <section class="card" aria-labelledby="access">
        <h2 id="access">Your access</h2>
        <dl class="facts">
          <div><dt>Role</dt><dd>${account.viewer.role ?? 'None'}</dd></div>
          <div><dt>Plan</dt><dd>${account.plan}</dd></div>
        </dl>
      </section>
      <section class="card" aria-labelledby="orders">
        <h2 id="orders">Your orders</h2>
        ${orderList(account.orders)}
      </section>
      <section class="card" aria-labelledby="documents">
        <h2 id="documents">Team documents</h2>
        ${documentList(account.documents)}
      </section>`,
    { current: '/', ...account.viewer },
  )
}

const orderColumns = [
  { label: 'Order' },
  { label: 'Ships to', kind: 'wrap' },
  { label: 'Items', kind: 'number' },
] as const

function orderList(orders: HomeAccount['orders']): Html {
  if (orders.length === 0) {
    return html`<p class="quiet">No orders yet. Place one with <a href="/docs#tag/orders/POST/orders">POST /orders</a>.</p>`
  }
  const rows = orders.map(({ id, city, items }) => [
    html`<a href="/app/orders/${id}">Order ${id}</a>`,
    isolated(city),
    items,
  ])
  return table(orderColumns, rows)
}

function documentList(documents: HomeAccount['documents']): Html {
  if (documents.length === 0) {
    return html`<p class="quiet">No documents yet. Documents in your teams’ folders appear here.</p>`
  }
  const links = documents.map(
    ({ id, title }) =>
      html`<li class="wrap"><a href="/app/documents/${id}">${isolated(title)}</a></li>`,
  )
  return html`<ul class="plain">${links}</ul>
        <p class="row"><a href="/app/documents">View all documents</a></p>`
}
