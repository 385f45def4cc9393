import type { Customer, KnownHolder } from '#src/billing/customers.ts'
import { Line } from '#src/http/schemas.ts'
import { confirmation, confirmBox, pageHead } from '#src/pages/kit/components.ts'
import { formOf, line, renderForm } from '#src/pages/kit/form.ts'
import { formPage } from '#src/pages/kit/form-page.ts'
import { type Html, html, isolated, table } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'

export type CustomersView = {
  viewer: Viewer
  customers: readonly Customer[]
  /** Cursor of the next page; null on the last one. */
  nextCursor: string | null
  /** Key of the notice to show, from `?done=`. */
  done: string | undefined
}

const notices = {
  linked:
    'Linked. New invoices of this customer are created in the user’s own tenant, or in the tenant.',
  unlinked: 'Unlinked. Events of this customer have no effect until it is linked again.',
} as const
export type CustomersNotice = keyof typeof notices

const path = '/app/billing/customers'
const placeholder = (text: string) => ({ attributes: { placeholder: text } })

export const linkForm = formOf({
  customer: line(Line(255), 'Customer', placeholder('Id at the billing provider')),
  user: line(Line(320), 'User or tenant', placeholder('Id, or a user’s verified email address')),
})

/** Billing customers and who has them, for operators. */
export function customersPage({ viewer, customers, nextCursor, done }: CustomersView): Page {
  return layout(
    'Billing customers',
    html`${pageHead({ trail: { href: '/app/billing', label: 'Billing events' }, title: 'Billing customers', lead: html`The user of a customer gets its invoices, in their own tenant, and its plan; a tenant has both itself. Only operators see this page. <a href="/app/billing/unlinked">Unlinked customers</a>`, actions: html`<a class="button" href="${path}/new">Link a customer</a>` })}
      ${noticeText(notices, done)}
      <section class="card" aria-labelledby="customers">
        <h2 id="customers">Linked customers</h2>
        ${customers.length === 0 ? html`<p class="quiet">No customers are linked.</p>` : table(columns, customers.map(customerRow))}
        ${nextCursor === null ? '' : html`<p class="row"><a href="${path}?cursor=${encodeURIComponent(nextCursor)}" rel="next">More customers</a></p>`}
      </section>`,
    { current: '/app/billing', ...viewer },
  )
}

/** The form that links a customer to a user or a tenant. */
export function newCustomerPage(viewer: Viewer): Page {
  return formPage({
    viewer,
    list: { href: path, label: 'Billing customers' },
    current: '/app/billing',
    heading: 'Link a customer',
    lead: 'A customer that is linked already moves. Existing invoices stay.',
    content: renderForm(
      linkForm,
      { viewer, action: `${path}/new` },
      ({ customer, user }) => html`<div class="pair">${customer}${user}</div>
          <button class="button">Link customer</button>`,
    ),
  })
}

const columns = [
  { label: 'Customer', kind: 'wrap' },
  { label: 'User or tenant', kind: 'wrap' },
  { label: 'Unlink', kind: 'actions' },
] as const

/** Who has a customer. */
export function holderCell({ userId, email, tenantId, tenantName }: KnownHolder): Html {
  if (tenantId !== null) {
    return html`${isolated(tenantName ?? '')} <span class="quiet">tenant ${tenantId}</span>`
  }
  return userId === null
    ? html`<span class="quiet">None</span>`
    : html`${isolated(email ?? 'No email address')} <span class="quiet">user ${userId}</span>`
}

function customerRow({ customer, ...holder }: Customer): Html[] {
  return [
    isolated(customer),
    holderCell(holder),
    confirmation({
      label: 'Unlink',
      name: `Unlink ${customer}`,
      action: `${path}/unlink`,
      fields: html`<input type="hidden" name="customer" value="${customer}">
                ${confirmBox('Unlink this customer. Its charges create no invoices any more.')}`,
      button: 'Unlink',
    }),
  ]
}
