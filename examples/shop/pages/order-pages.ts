import {
  amountText,
  type Count,
  countText,
  filtersOf,
  formOf,
  type Html,
  html,
  isolated,
  type ListQuery,
  layout,
  line,
  listTable,
  orEmpty,
  type Page,
  pageHead,
  renderForm,
  type ShownList,
  table,
  timeText,
  toast,
  type Used,
  type Viewer,
} from 'gatehouse/routes'
import { type LineItem, ShippingAddress } from '../resources/orders.ts'

type ShownOrder = {
  id: number
  currency: string
  lineItems: readonly LineItem[]
  shippingAddress: ShippingAddress
  cardLast4: string
  createdAt: string
}

const { name, line1, line2, city, postalCode, country } = ShippingAddress.properties
const filledBy = (autocomplete: string) => ({ attributes: { autocomplete } })

export const addressForm = formOf({
  name: line(name, 'Name', filledBy('name')),
  line1: line(line1, 'Address line 1', filledBy('address-line1')),
  line2: line(orEmpty(line2), 'Address line 2 (optional)', filledBy('address-line2')),
  city: line(city, 'City', filledBy('address-level2')),
  postalCode: line(postalCode, 'Postal code', filledBy('postal-code')),
  country: line(country, 'Country (two-letter code)', {
    rule: 'Two capital letters, for instance PT',
    required: true,
    attributes: { maxlength: 2, pattern: '[A-Z]{2}', autocomplete: 'country' },
  }),
})

const listColumns = [
  { label: 'Order' },
  { label: 'Ships to', kind: 'wrap' },
  { label: 'Items', kind: 'number' },
  { label: 'Total', kind: 'number' },
  { label: 'Placed' },
] as const

export type OrderListView = {
  readonly viewer: Viewer
  readonly orders: readonly ShownOrder[]
  readonly cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  readonly count: Count | undefined
  readonly query: ListQuery
  readonly used: Used
}

/** The viewer's orders in all their tenants, newest first unless the other order is asked for. */
export function orderListPage({
  viewer,
  orders,
  cursors,
  count,
  query,
  used,
}: OrderListView): Page {
  const path = '/app/orders'
  const tenants = (viewer.tenants ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const looks = {
    tenantId: { label: 'Tenant', all: 'Every tenant', options: tenants },
    created: { label: 'Placed' },
  }
  const lead = `Your orders in all your tenants. Only you see them. ${countText(count) ?? ''}`
  const isSorted = Object.keys(used).every((name) => name === 'sort')
  const empty = isSorted
    ? html`<p>No orders yet. A program places one with <code>POST /orders</code>.</p><a href="/docs/api/orders#createOrder">Read how</a>`
    : html`<p>No such orders. <a href="${path}">Show all orders</a></p>`
  const rows = orders.map(({ id, currency, lineItems, shippingAddress, createdAt }) => [
    html`<a href="/app/orders/${id}">Order ${id}</a>`,
    isolated(shippingAddress.city),
    lineItems.length,
    amountText(totalOf(lineItems), currency),
    timeText(createdAt),
  ])
  return layout(
    'Orders',
    html`${pageHead({ title: 'Orders', lead })}
      <section class="card">
        ${filtersOf({ path, query, used, looks })}
        ${listTable(listColumns, rows, { path, filter: used, ...cursors }, empty)}
      </section>`,
    { current: path, ...viewer },
  )
}

export type OrderView = {
  viewer: Viewer
  /** True right after the address was saved. */
  changed: boolean
  order: ShownOrder
}

/** The viewer's own order, with a form to change its shipping address. */
export function orderPage({ viewer, changed, order }: OrderView): Page {
  const { id, currency, lineItems, shippingAddress, cardLast4, createdAt } = order
  return layout(
    `Order ${id}`,
    html`${pageHead({ trail: { href: '/app/orders', label: 'Orders' }, title: html`Order ${id}`, lead: html`Placed ${timeText(createdAt)}, paid with card ending in ${cardLast4}` })}
      ${changed ? toast('Address saved.') : ''}
      <section class="card" aria-labelledby="items">
        <h2 id="items">Items</h2>
        ${itemTable(lineItems, currency)}
      </section>
      <section class="card" aria-labelledby="address">
        <h2 id="address">Shipping address</h2>
        ${addressFields(id, shippingAddress, viewer)}
      </section>`,
    { current: '/app/orders', ...viewer },
  )
}

const columns = [
  { label: 'Item', kind: 'wrap' },
  { label: 'Quantity', kind: 'number' },
  { label: 'Price', kind: 'number' },
  { label: 'Total', kind: 'number' },
] as const

function itemTable(items: readonly LineItem[], currency: string): Html {
  const rows = items.map(({ sku, quantity, unitPrice }) => [
    isolated(sku),
    quantity,
    amountText(unitPrice, currency),
    amountText(quantity * unitPrice, currency),
  ])
  return html`${table(columns, rows)}
        <p class="total">Total <b>${amountText(totalOf(items), currency)}</b></p>`
}

/** In minor units. */
function totalOf(items: readonly LineItem[]): number {
  return items.reduce((sum, { quantity, unitPrice }) => sum + quantity * unitPrice, 0)
}

function addressFields(id: number, values: ShippingAddress, viewer: Viewer): Html {
  return renderForm(
    addressForm,
    { viewer, action: `/app/orders/${id}/address`, values },
    ({ name, line1, line2, city, postalCode, country }) =>
      html`${[name, line1, line2, city, postalCode, country]}<button class="button">Save address</button>`,
  )
}
