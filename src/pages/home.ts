import { type Html, html } from './html.ts'
import { layout } from './layout.ts'
import { type ProviderChoice, signInButtons } from './sign-in.ts'

export type HomeAccount = {
  email: string
  tenant: string
  role: string
  plan: string
  /** Whether they run the service. */
  operator: boolean
  orders: readonly { id: number; city: string; items: number }[]
  documents: readonly { id: number; title: string }[]
}

/** The first page for a visitor. */
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

/** The first page of somebody who is signed in: who they are and what is theirs. */
export function homePage(account: HomeAccount): string {
  const rows = account.orders.map(
    (order) => html`<tr>
            <td><a href="/app/orders/${order.id}">Order ${order.id}</a></td>
            <td>${order.city}</td>
            <td class="number">${order.items}</td>
          </tr>`,
  )
  const orders =
    rows.length === 0
      ? html`<p class="quiet">You have no orders yet.</p>`
      : html`<table>
          <thead><tr><th scope="col">Order</th><th scope="col">Ships to</th><th scope="col" class="number">Items</th></tr></thead>
          <tbody>${rows}</tbody>
        </table>`
  return layout(
    'Home',
    html`<section class="card">
        <div class="split">
          <div>
            <h1>${account.tenant}</h1>
            <p class="quiet">Signed in as ${account.email}</p>
          </div>
          <form method="post" action="/auth/logout"><button class="button plain">Sign out</button></form>
        </div>
        <dl class="facts">
          <div><dt>Role</dt><dd>${account.role}</dd></div>
          <div><dt>Plan</dt><dd>${account.plan}</dd></div>
        </dl>
      </section>
      <section class="card">
        <h2>Your orders</h2>
        ${orders}
      </section>
      <section class="card">
        <h2>Documents of your teams</h2>
        ${documentLinks(account.documents)}
      </section>`,
    { current: '/', role: account.role, operator: account.operator },
  )
}

function documentLinks(documents: HomeAccount['documents']): Html {
  if (documents.length === 0) return html`<p class="quiet">Your teams have none yet.</p>`
  const links = documents.map(
    ({ id, title }) => html`<li><a href="/app/documents/${id}">${title}</a></li>`,
  )
  return html`<ul class="plain">${links}</ul>
        <p class="row"><a href="/app/documents">All documents</a></p>`
}
