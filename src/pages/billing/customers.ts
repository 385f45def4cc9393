import { Line } from '#src/http/schemas.ts'
import { confirmation, confirmBox, pageHead } from '#src/pages/kit/components.ts'
import { formOf, line, renderForm } from '#src/pages/kit/form.ts'
import { type Html, html, isolated, table } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'

export type ShownCustomer = { customer: string; userId: number; email: string | null }

export type CustomersView = {
  viewer: Viewer
  customers: readonly ShownCustomer[]
  /** Cursor of the next page; null on the last one. */
  nextCursor: string | null
  /** Key of the notice to show, from `?done=`. */
  done: string | undefined
}

const notices = {
  linked: 'Linked. New invoices of this customer are created in the user’s own tenant.',
  unlinked: 'Unlinked. Events of this customer have no effect until it is linked again.',
} as const
export type CustomersNotice = keyof typeof notices

const placeholder = (text: string) => ({ attributes: { placeholder: text } })

export const linkForm = formOf({
  customer: line(Line(255), 'Customer', placeholder('Id at the billing provider')),
  user: line(Line(320), 'User', placeholder('Id or verified email address')),
})

/** Billing customers and their users, for operators. */
export function customersPage({ viewer, customers, nextCursor, done }: CustomersView): Page {
  return layout(
    'Billing customers',
    html`${pageHead({ trail: { href: '/app/billing', label: 'Billing events' }, title: 'Billing customers', lead: html`The user of a customer gets its invoices, in their own tenant, and its plan. Only operators see this page. <a href="/app/billing/unlinked">Unlinked customers</a>` })}
      ${noticeText(notices, done)}
      <section class="card" aria-labelledby="link">
        <h2 id="link">Link a customer</h2>
        ${renderForm(
          linkForm,
          { viewer, action: '/app/billing/customers' },
          ({ customer, user }) => html`<div class="pair">${customer}${user}</div>
          <p class="quiet small">A customer that is linked already moves to this user. Existing invoices stay.</p>
          <button class="button">Link customer</button>`,
        )}
      </section>
      <section class="card" aria-labelledby="customers">
        <h2 id="customers">Linked customers</h2>
        ${customers.length === 0 ? html`<p class="quiet">No customers are linked.</p>` : table(columns, customers.map(customerRow))}
        ${nextCursor === null ? '' : html`<p class="row"><a href="/app/billing/customers?cursor=${encodeURIComponent(nextCursor)}" rel="next">More customers</a></p>`}
      </section>`,
    { current: '/app/billing', ...viewer },
  )
}

const columns = [
  { label: 'Customer', kind: 'wrap' },
  { label: 'User', kind: 'wrap' },
  { label: 'Unlink', kind: 'actions' },
] as const

function customerRow({ customer, userId, email }: ShownCustomer): Html[] {
  return [
    isolated(customer),
    html`${isolated(email ?? 'No email address')} <span class="quiet">user ${userId}</span>`,
    confirmation({
      label: 'Unlink',
      name: `Unlink ${customer}`,
      action: '/app/billing/customers/unlink',
      fields: html`<input type="hidden" name="customer" value="${customer}">
                ${confirmBox('Unlink this customer. Its charges create no invoices any more.')}`,
      button: 'Unlink',
    }),
  ]
}
